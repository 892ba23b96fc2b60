"""Writes a first party.toml, in which every key that can matter to its party is explained.

Settings that nobody has made stand there as comments, with their defaults or with examples.
"""

import textwrap
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final, cast

import msgspec

from lotor.core.errors import ConfigError
from lotor.protocols.form import Role
from lotor.runtime.daemon.config import TABLES, PartyConfig, Value, config_of, toml_line
from lotor.runtime.daemon.config_tables import ConfigTable
from lotor.runtime.daemon.initial.meanings import KEY_MEANINGS, TABLE_MEANINGS, sentence
from lotor.runtime.daemon.initial.place import PartyPlace
from lotor.runtime.daemon.key_files import replace_file, write_new

WIDTH: Final = 96
_SHOWN_MEMBERS: Final = 3


def write_first_config(
    path: Path, place: PartyPlace, config: PartyConfig, *, replace: bool = False
) -> None:
    """Write a party.toml, all of it or nothing; one that exists only stays unless `replace`."""
    data = first_config(place, config).encode()
    if config_of(data, path) != config:
        raise ConfigError(f"{path} would not say what was asked for: report this")
    if replace:
        replace_file(path, data, private=True)
    elif path.exists():
        raise ConfigError(
            f"{path} exists already and is not overwritten: change it with an editor, or use "
            "--force to begin anew"
        )
    else:
        write_new(path, data)


def first_config(place: PartyPlace, config: PartyConfig) -> str:
    """The text of a party.toml."""
    top = ["state", "listen"] if place.listens else ["state"]
    lines = [
        *_wrapped(
            f"{place.name or 'this party'}: the {place.role.name} in {place.protocol} runs of the "
            f"form {place.form.name}. docs/party.md explains all keys. Lines that begin with # and "
            "no space are settings that are not made: take away the # to make one."
        ),
        *_keys("", config, top),
        *_peers(place, config),
        *(_table("owner", config.owner, place.owner_keys) if place.owner_keys else ()),
        *(_members(place, config) if place.opens else _table("consent", config.consent)),
        *_table("limits", config.limits),
        *(_table("code", config.code) if config.code is not None else ()),
        *_table("local", config.local),
    ]
    return "\n".join([*lines, ""])


def _comment(text: str) -> list[str]:
    """A comment, as a sentence."""
    return _wrapped(sentence(text))


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(
        text, WIDTH, initial_indent="# ", subsequent_indent="# ", break_on_hyphens=False
    )


def _heading(table: str, *, there: bool) -> list[str]:
    return ["", f"{'' if there else '#'}[{table}]", *_comment(TABLE_MEANINGS[table])]


def _table(
    name: str, table: ConfigTable | None, keys: Iterable[str] | None = None
) -> Iterator[str]:
    """A table with these keys, or with all of them."""
    yield from _heading(name, there=table is not None)
    yield from _keys(name, table, TABLES[name].__struct_fields__ if keys is None else keys)


def _keys(name: str, table: ConfigTable | None, keys: Iterable[str]) -> Iterator[str]:
    fields = {field.name: field for field in msgspec.structs.fields(TABLES[name])}
    for key in keys:
        text, example = KEY_MEANINGS[name][key]
        value: Value | None = getattr(table, key, None)
        default = fields[key].default
        yield from ("", *_comment(text))
        if value is not None and value != default:
            yield toml_line((key, value))
        else:
            usual = example if default is None or default is msgspec.NODEFAULT else default
            yield f"#{toml_line((key, cast('Value', usual)))}"


def _peers(place: PartyPlace, config: PartyConfig) -> Iterator[str]:
    dialled = place.dials(max(1, len(config.peers)))
    if not dialled:
        return
    yield from _heading("peers", there=True)
    seats = " and the ".join(dialled)
    first = not place.dials(0)
    yield from _comment(
        f"Not the first {place.role.name}, but any other dials the {seats}"
        if first
        else f"Here: the {seats}"
    )
    yield from (toml_line((name, address)) for name, address in config.peers.items())
    for seat in dialled[len(config.peers) :]:
        yield f"#{toml_line((seat, f'{seat}.example.org:7400'))}"


def _members(place: PartyPlace, config: PartyConfig) -> Iterator[str]:
    yield from _heading("members", there=True)
    for role in place.others:
        names: Mapping[str, tuple[str, ...]] = config.members
        line = toml_line((role.name, names.get(role.name, _examples(role))))
        yield line if role.name in names else f"#{line}"


def _examples(role: Role) -> tuple[Value, ...]:
    count = len(role.seats) or _SHOWN_MEMBERS
    if count == 1:
        return (role.name,)
    return tuple(f"{role.name}-{number}" for number in range(1, count + 1))
