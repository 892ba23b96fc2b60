"""Keys and ciphertexts as versioned bytes and JSON, of one width for a given kind and key size.

Bytes: magic, version, kind, bits of n, fingerprint of n, then the numbers, big-endian and padded.
JSON: one object with the same content, the numbers as padded lower-case hexadecimal.
"""

from dataclasses import dataclass, field
from struct import Struct

import msgspec
from gmpy2 import mpz

from lotor.core.errors import FormatError
from lotor.core.unreadable import UNREADABLE

FINGERPRINT_BYTES = 16
_VERSION = 1
_MAGIC = b"LPai"
_HEADER = Struct(f">4sBBH{FINGERPRINT_BYTES}s")


@dataclass(frozen=True, slots=True)
class RecordKind:
    """What a record holds; each number is as wide as `halves` halves of n."""

    code: int
    name: str
    numbers: tuple[str, ...]
    halves: int

    def width(self, bits: int) -> int:
        """The bytes that each number takes under a key of that many bits."""
        return (bits // 2 * self.halves + 7) // 8


PUBLIC_KEY = RecordKind(1, "paillier-public-key", ("n",), 2)
PRIVATE_KEY = RecordKind(2, "paillier-private-key", ("p", "q"), 1)
CIPHERTEXT = RecordKind(3, "paillier-ciphertext", ("value",), 4)
_NAMES = {kind.code: kind.name for kind in (PUBLIC_KEY, PRIVATE_KEY, CIPHERTEXT)}


@dataclass(frozen=True, slots=True)
class Record:
    """The content of one serialised object, with its form checked and its numbers not yet."""

    kind: RecordKind
    bits: int
    fingerprint: str
    numbers: tuple[mpz, ...] = field(repr=False)

    def to_bytes(self) -> bytes:
        fingerprint = bytes.fromhex(self.fingerprint)
        header = _HEADER.pack(_MAGIC, _VERSION, self.kind.code, self.bits, fingerprint)
        return header + b"".join(self._padded())

    def to_json(self) -> str:
        texts = (number.hex() for number in self._padded())
        document = {
            "kind": self.kind.name,
            "version": _VERSION,
            "bits": self.bits,
            "fingerprint": self.fingerprint,
            **dict(zip(self.kind.numbers, texts, strict=True)),
        }
        return msgspec.json.encode(document).decode()

    def _padded(self) -> list[bytes]:
        width = self.kind.width(self.bits)
        return [number.to_bytes(width, "big") for number in self.numbers]


def record_from_bytes(kind: RecordKind, data: bytes) -> Record:
    if len(data) < _HEADER.size or not data.startswith(_MAGIC):
        raise FormatError(
            f"these {len(data)} bytes do not begin like a {kind.name}: they are truncated or "
            "something else; pass what to_bytes returned"
        )
    _, version, code, bits, fingerprint = _HEADER.unpack_from(data)
    _check_head(kind, version, _NAMES.get(code), bits)
    width = kind.width(bits)
    size = _HEADER.size + width * len(kind.numbers)
    if len(data) != size:
        raise FormatError(
            f"a {kind.name} of {bits} bits takes {size} bytes and these are {len(data)}: "
            "they were truncated or extended; transfer them again"
        )
    starts = range(_HEADER.size, size, width)
    numbers = tuple(mpz.from_bytes(data[start : start + width], "big") for start in starts)
    return Record(kind, bits, fingerprint.hex(), numbers)


def record_from_json(kind: RecordKind, text: str) -> Record:
    try:
        document = msgspec.json.decode(text, type=dict[str, str | int])
    except UNREADABLE:
        raise FormatError(
            f"this is not the JSON object of a {kind.name}: it is truncated or something else; "
            "pass what to_json returned"
        ) from None
    bits = document.get("bits")
    _check_head(kind, document.get("version"), document.get("kind"), bits)
    expected = {"kind", "version", "bits", "fingerprint", *kind.numbers}
    if document.keys() != expected:
        raise FormatError(
            f"the JSON of a {kind.name} has the fields {', '.join(sorted(expected))} and this one "
            "lacks some or has others: it was edited; export it again"
        )
    width = kind.width(int(document["bits"]))
    numbers = (mpz.from_bytes(_from_hex(document, name, width), "big") for name in kind.numbers)
    fingerprint = _from_hex(document, "fingerprint", FINGERPRINT_BYTES).hex()
    return Record(kind, int(document["bits"]), fingerprint, tuple(numbers))


def _check_head(
    kind: RecordKind, version: str | int | None, name: str | int | None, bits: str | int | None
) -> None:
    if version != _VERSION:
        raise FormatError(
            f"this {kind.name} is not of format version {_VERSION}, the one that this release "
            "reads: it was altered or a newer release wrote it; upgrade lotor"
        )
    if name != kind.name:
        found = name if name in _NAMES.values() else "something unknown"
        raise FormatError(
            f"expected a {kind.name} and got {found}: pass the object of the right kind"
        )
    if not isinstance(bits, int) or bits % 2 or not 0 < bits < 1 << 16:
        raise FormatError(
            f"this {kind.name} names an impossible key size: it was altered; transfer it again"
        )


def _from_hex(document: dict[str, str | int], name: str, width: int) -> bytes:
    text = document[name]
    try:
        number = bytes.fromhex(str(text))
    except ValueError:
        number = b""
    # Only the one spelling that to_json writes: fromhex alone also takes spaces and capitals.
    if len(number) != width or number.hex() != text:
        raise FormatError(
            f"the field {name} must be {2 * width} lower-case hexadecimal digits: it was "
            "truncated, extended or altered; transfer it again"
        )
    return number
