"""party.toml, read and written: what a party is told about itself.

Its name and role are not there, but in its certificate. docs/party.md explains every key.
"""

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final, TypeAlias, TypeVar

import msgspec

from lotor.core.errors import ConfigError
from lotor.runtime.daemon.address import Address
from lotor.runtime.daemon.config_tables import (
    CodeTable,
    ConfigTable,
    ConsentRules,
    LimitsTable,
    LocalTable,
    OwnerTable,
    PartyConfig,
    TrialTable,
)

__all__ = [
    "Address",
    "CodeTable",
    "ConsentRules",
    "LimitsTable",
    "LocalTable",
    "OwnerTable",
    "PartyConfig",
    "TrialTable",
    "read_config",
    "write_config",
]

T = TypeVar("T")
Value: TypeAlias = bool | int | float | str | Address | tuple["Value", ...]

TABLES: Final[Mapping[str, type[ConfigTable]]] = {
    "": PartyConfig,
    "limits": LimitsTable,
    "owner": OwnerTable,
    "consent": ConsentRules,
    "trial": TrialTable,
    "code": CodeTable,
    "local": LocalTable,
}
_PLAIN_WORDS: Final = {
    " | null`": "`",
    "`array`": "a list",
    "`bool`": "true or false",
    "`float`": "a number",
    "`int`": "a whole number",
    "`object`": "a table",
    "`str`": 'text in "quotes"',
}
_AT = re.compile(r"(.*) - at `\$([^`]*)`", re.DOTALL)
_FIELD = re.compile(r"Object (contains unknown|missing required) field `(.*)`", re.DOTALL)


def read_config(path: Path) -> PartyConfig:
    """The party.toml at this path; every error names the file, the key and what is allowed."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ConfigError(
            f"cannot read {path} ({error.strerror}): a kit needs a party.toml, which `lotor init` "
            "writes; docs/party.md says what is in it"
        ) from None
    return config_of(data, path)


def config_of(data: bytes, path: Path) -> PartyConfig:
    """As `read_config`, of what is in the file."""
    try:
        raw: dict[str, object] = msgspec.toml.decode(data)
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise ConfigError(f"{path} is not TOML: {error}; correct that place") from None
    try:
        # msgspec does not say which entry of a table with free names is wrong, so these go first.
        _check_entries(raw, "peers", Address)
        _check_entries(raw, "members", tuple[str, ...])
        return converted(raw, PartyConfig, "")
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from None


def _check_entries(raw: dict[str, object], table: str, kind: type[object]) -> None:
    entries = raw.get(table)
    if isinstance(entries, dict):
        for key, value in entries.items():
            converted(value, kind, f"{table}.{key}")


def converted(value: object, kind: type[T], key: str) -> T:
    """A table, or one value, of what is known of it; an error begins with the key."""
    try:
        return msgspec.convert(value, kind, dec_hook=_parsed)
    except msgspec.ValidationError as error:
        raise ConfigError(_explained(str(error), key)) from None


def _parsed(_: type, value: object) -> object:
    """Addresses are the only values that TOML has no type for."""
    return Address.parse(value)


def _explained(text: str, key: str) -> str:
    """What msgspec or a table's own check says, in plain words and with the key path first."""
    if at := _AT.fullmatch(text):
        text, key = at[1], (key + at[2]).removeprefix(".")
    if field := _FIELD.fullmatch(text):
        allowed = ", ".join(TABLES[key].__struct_fields__)
        what = "is missing" if field[1].startswith("missing") else "there is no such key"
        return f"{_joined(key, field[2])}: {what}; the keys of this table are {allowed}"
    if text.startswith("Expected"):
        for word, plain in _PLAIN_WORDS.items():
            text = text.replace(word, plain)
        return f"{key}: e{text[1:]}"
    # A table's own checks begin with the key.
    return _joined(key, text) if key in TABLES else f"{key}: {text}"


def _joined(table: str, key: str) -> str:
    return f"{table}.{key}" if table else key


def write_config(path: Path, config: PartyConfig) -> None:
    """Write a party.toml that `read_config` reads as the same; all of it or nothing.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "party.toml")
    ...     write_config(path, PartyConfig(listen=Address("::1", 7400)))
    ...     read_config(path).listen
    Address('::1', 7400)
    """
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        draft.write_text(_toml(config), encoding="utf-8")
        draft.replace(path)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise ConfigError(f"cannot write {path} ({error.strerror}): check the folder") from None


def _toml(config: PartyConfig) -> str:
    lines: list[str] = []
    tables: list[str] = []
    for key, value in msgspec.structs.asdict(config).items():
        if isinstance(value, ConfigTable):
            tables += ["", f"[{key}]", *_lines(msgspec.structs.asdict(value))]
        elif isinstance(value, dict):
            tables += ["", f"[{key}]", *_lines(value)] if value else []
        elif value is not None:
            lines.append(toml_line((key, value)))
    return "\n".join([*lines, *tables, ""])


def _lines(table: Mapping[str, Value | None]) -> list[str]:
    return [toml_line((key, value)) for key, value in table.items() if value is not None]


def toml_line(entry: tuple[str, Value]) -> str:
    """A key and its value, as TOML writes them."""
    key, value = entry
    return f"{key} = {_text(value)}"


def _text(value: Value) -> str:
    match value:
        case bool():
            return str(value).lower()
        case str() | Address():
            # JSON's quoting is TOML's too: the tables hold printable text only.
            return json.dumps(str(value), ensure_ascii=False)
        case tuple():
            return f"[{', '.join(map(_text, value))}]"
        case _:
            return repr(value)
