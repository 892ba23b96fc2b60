"""Looks for secrets, in every form in which they could be written down by mistake."""

import base64
import sqlite3
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

import msgspec

SQLITE = b"SQLite format 3\0"


@dataclass(frozen=True)
class Secret:
    """`homes` are beginnings of the names of places where it belongs."""

    name: str
    forms: frozenset[bytes] = field(repr=False)
    homes: tuple[str, ...] = ()

    def at_home(self, place: str) -> bool:
        return place.startswith(self.homes)

    def is_in(self, data: bytes) -> bool:
        return any(form in data for form in self.forms)


def forms_of(value: bytes) -> frozenset[bytes]:
    """Raw, as hexadecimal digits, in base64 at any offset, as Python or JSON shows bytes."""
    shown = repr(value)[2:-1]
    # Among other bytes, a quotation mark may have to be escaped.
    escaped = shown.replace("\\'", "'").replace("'", "\\'")
    texts = [
        value.hex(),
        value.hex().upper(),
        value.hex(" "),
        shown,
        escaped,
        shown.replace("\\", "\\\\"),
        ", ".join(map(str, value)),
        ",".join(map(str, value)),
    ]
    return frozenset({value, *(text.encode() for text in texts), *_base64(value)})


def _base64(value: bytes) -> Iterator[bytes]:
    for offset in range(3):
        padded = bytes(offset) + value
        # The characters that depend on the value alone, whatever stands beside it.
        whole = slice(-(-offset * 8 // 6), len(padded) * 8 // 6)
        yield base64.b64encode(padded)[whole]
        yield base64.urlsafe_b64encode(padded)[whole]


def forms_of_number(value: int) -> frozenset[bytes]:
    """A large number: its bytes, and its digits."""
    size = (value.bit_length() + 7) // 8
    digits = {str(value).encode(), f"{value:x}".encode()}
    return forms_of(value.to_bytes(size, "big")) | forms_of(value.to_bytes(size, "little")) | digits


def forms_of_small_numbers(values: Sequence[int]) -> frozenset[bytes]:
    """Numbers whose few bytes are anywhere by chance: the digits of each, and all in a row."""
    rows = (
        b"".join(map(msgspec.msgpack.encode, values)),
        struct.pack(f">{len(values)}q", *values),
        struct.pack(f"<{len(values)}q", *values),
    )
    digits = frozenset(str(abs(value)).encode() for value in values)
    return digits.union(*map(forms_of, rows))


def forms_of_reward(value: float) -> frozenset[bytes]:
    """A number with many digits, of which six would be enough to betray it."""
    texts = (f"{value:.6f}", str(value)[:8])
    return frozenset({struct.pack(">d", value), struct.pack("<d", value)}) | {
        text.encode() for text in texts
    }


def leaks(places: Mapping[str, bytes], secrets: Iterable[Secret]) -> list[str]:
    """Which secret is where it does not belong; never the secret itself."""
    return [
        f"{secret.name} in {place}"
        for secret in secrets
        for place, data in places.items()
        if not secret.at_home(place) and secret.is_in(data)
    ]


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, and what the rows of databases hold."""
    found = {}
    for path in sorted(folder.rglob("*")):
        try:
            data = path.read_bytes() if path.is_file() else None
        except FileNotFoundError:  # a party has tidied up meanwhile
            continue
        if data is not None:
            name = str(path.relative_to(folder))
            found[name] = data
            if data.startswith(SQLITE):
                found[f"{name}, its rows"] = _rows(path)
    return found


def _is_moment(value: object) -> bool:
    """A time, whose digits may be those of a reward by chance: 1700000000.25 has a 0.25 in it."""
    return isinstance(value, float) and value > 1e9


def _rows(path: Path) -> bytes:
    """All values; in the file itself, a long one may be cut into pieces."""
    database = sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True, timeout=30)
    try:
        tables = database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
        values = [
            value
            for (table,) in tables
            for row in database.execute(f'SELECT * FROM "{table}"')  # noqa: S608
            for value in row
            if not _is_moment(value)
        ]
    finally:
        database.close()
    return b"\n".join(
        value if isinstance(value, bytes) else str(value).encode() for value in values
    )
