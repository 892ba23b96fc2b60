"""Crashes in which a machine also loses its power, and a world that breaks its promises."""

import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import count

import crashing
from crashing import Answers, Fate, FatefulRecord, Simulation, Site
from encrypted import dumped
from lotor.core.effects import Observe
from lotor.runtime.durable.questions import Question
from lotor.runtime.durable.record import Answer, RunRecord, SavedRun


def copied(database: sqlite3.Connection) -> str | bytes:
    """All that is in a database; SQLCipher's cannot give it as it is."""
    serialize: Callable[[], bytes] | None = getattr(database, "serialize", None)
    return "".join(dumped(database)) if serialize is None else serialize()


class PowerRecord(FatefulRecord):
    """Remembers what the disk had when something last waited for it."""

    on_disk: dict[sqlite3.Connection, str | bytes]

    def _reached(self) -> None:
        (level,) = self._database.execute("PRAGMA synchronous").fetchone()
        if level == 2:
            self.on_disk[self._database] = copied(self._database)

    def begin(self) -> SavedRun:
        saved = super().begin()
        self._reached()
        return saved

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self.fate.step()
        with RunRecord._transaction(self):
            yield
        self._reached()
        self.fate.step()

    def _write(self, statement: str, values: tuple[object, ...]) -> None:
        self.fate.step()
        RunRecord._write(self, statement, values)
        self._reached()
        self.fate.step()


class PowerCuts(Simulation):
    """Who dies also loses all that nothing has waited for; the world can be asked again."""

    records = PowerRecord

    def __init__(self, sites: Mapping[str, Site], world: Answers, fate: Fate, *, seed: int) -> None:
        super().__init__(sites, world, fate, seed=seed, repeatable=True)
        PowerRecord.on_disk = {}

    def _survive(self, site: Site, action: Callable[[], None]) -> None:
        super()._survive(site, action)
        if site.host is None:
            kept = PowerRecord.on_disk.pop(site.disk)
            site.disk.close()
            site.disk = crashing.new_disk()
            if isinstance(kept, bytes):
                site.disk.deserialize(kept)
            else:
                site.disk.executescript(kept)


class Fickle:
    """A world that does not keep its promise: it answers otherwise each time."""

    def __init__(self) -> None:
        self._numbers = count(1)

    def answer(self, asked: Question) -> Answer:
        value = next(self._numbers) / 1024
        return (value,) if isinstance(asked.effect, Observe) else value
