"""Opening a party's kit, its party.toml and its journal, to serve it or to look into it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from lotor.runtime.daemon.config import PartyConfig, read_config
from lotor.runtime.daemon.kit import Kit
from lotor.runtime.daemon.party_functions import allow_code
from lotor.runtime.durable.journal import Journal


@dataclass(frozen=True, slots=True)
class OpenKit:
    """A party's kit, its party.toml and its journal, open."""

    kit: Kit
    config: PartyConfig
    journal: Journal


@contextmanager
def open_kit(path: Path) -> Iterator[OpenKit]:
    """Open a kit; several processes may, but one of them drives the party."""
    kit = Kit(path)
    config = read_config(kit.party_toml)
    if config.code is not None:
        allow_code(config.code, kit.path)
    kit.unlock()
    journal = Journal(kit.path / config.state, str(kit.subject), kit.journal_key)
    try:
        yield OpenKit(kit, config, journal)
    finally:
        journal.close()
