"""A journal whose process was killed in the middle of any write is the one before or after it."""

import random
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from itertools import count
from pathlib import Path

import pytest

import lotor
from crashing import CrashError, Fate, Simulation, Site, World, samba_sites
from encrypted import KEY, dumped
from lotor.runtime.durable import host as host_module
from lotor.runtime.durable.database import connect

pytestmark = pytest.mark.filterwarnings("ignore::lotor.crypto.paillier.InsecureKeyWarning")

MEANS = [0.2, 0.5, 0.8]
BUDGET = 24
HEADER, FRAME_HEADER = 32, 24


class Disk:
    """One site's journal in files, with everything since the start in the log written ahead."""

    numbers = count()

    def __init__(self, site: Site, folder: Path, key: bytes | None) -> None:
        self.site = site
        self.key = key
        self.folder = folder
        self.path = self._new_path()
        with closing(connect(self.path, key)) as database:
            database.executescript("".join(dumped(site.disk)))
        site.disk.close()
        self._open()
        self.size = self.log_size()

    def _new_path(self) -> Path:
        return self.folder / f"{self.site.name}-{next(self.numbers)}.db"

    def _open(self) -> None:
        self.site.disk = opened(self.path, self.key)

    @property
    def log(self) -> Path:
        return self.path.with_name(self.path.name + "-wal")

    def log_size(self) -> int:
        return self.log.stat().st_size if self.log.exists() else 0

    def rows(self) -> list[str]:
        return list(dumped(self.site.disk))

    def lose(self, log: bytes) -> None:
        """Go on with another log: that of a process which was killed."""
        old, self.path = self.path, self._new_path()
        copied(old, self.path, log)
        self.site.disk.close()
        self._open()
        self.size = self.log_size()


def opened(path: Path, key: bytes | None) -> sqlite3.Connection:
    """As the journal does, but never tidied up, so that the log keeps all commits."""
    database = connect(path, key)
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("PRAGMA synchronous = FULL")
    database.execute("PRAGMA wal_autocheckpoint = 0")
    return database


def copied(path: Path, to: Path, log: bytes) -> None:
    to.write_bytes(path.read_bytes())
    to.with_name(to.name + "-wal").write_bytes(log)


def page_size(path: Path, key: bytes | None) -> int:
    with closing(connect(path, key)) as database:
        (size,) = database.execute("PRAGMA page_size").fetchone()
    return int(size)


class Witness(Fate):
    """Notes all that each journal ever held, with the length of its log."""

    def __init__(self, disks: Mapping[str, Disk]) -> None:
        super().__init__()
        self.disks = disks
        self.seen: dict[str, list[tuple[int, list[str]]]] = {
            name: [(0, disk.rows())] for name, disk in disks.items()
        }

    def step(self) -> None:
        super().step()
        for name, disk in self.disks.items():
            if (size := disk.log_size()) != disk.size:
                disk.size = size
                self.seen[name].append((size, disk.rows()))


class Butcher(Fate):
    """Kills in the middle of a commit: some part of what it wrote is there, and no more."""

    def __init__(self, disks: Mapping[str, Disk], seed: int, often: float) -> None:
        super().__init__()
        self.disks = disks
        self.cuts = 0
        self._dice = random.Random(seed)
        self._often = often

    def step(self) -> None:
        super().step()
        for disk in self.disks.values():
            before, size = disk.size, disk.log_size()
            if size == before:
                continue
            disk.size = size
            if self._dice.random() < self._often:
                log = bytearray(disk.log.read_bytes()[: self._dice.randrange(before, size)])
                if self._dice.random() < 0.5 and len(log) > before:
                    log[-1] ^= 1 << self._dice.randrange(8)
                disk.lose(bytes(log))
                self.cuts += 1
                raise CrashError


@pytest.fixture(params=[None, KEY], ids=["plain", "encrypted"])
def disks(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[dict[str, Disk]]:
    monkeypatch.setattr(host_module, "CHECKPOINT_ROUNDS", 4)
    sites = samba_sites(lotor.UCB(), len(MEANS), BUDGET, seed=6, owners=2)
    disks = {name: Disk(site, tmp_path, request.param) for name, site in sites.items()}
    yield disks
    for site in sites.values():
        site.disk.close()


def finished(disks: Mapping[str, Disk], fate: Fate, seed: int = 0) -> tuple[object, World]:
    world = World(MEANS, seed=6)
    sites = {name: disk.site for name, disk in disks.items()}
    Simulation(sites, world, fate, seed=seed).run()
    customer = sites["customer"].host
    assert customer is not None
    return customer.output, world


def assert_right(total: object, world: World) -> None:
    samba = lotor.Samba(lotor.UCB(), form="paper", insecure_key_bits=128)
    plain = lotor.run(samba.plain(), lotor.BernoulliArms(MEANS), budget=BUDGET, seed=6)
    assert total == plain.reward
    assert [world.arms[t] for t in range(1, BUDGET + 1)] == plain.arms
    assert world.double_pulls == 0


def after(disk: Disk, log: bytes, folder: Path) -> list[str]:
    """What a process finds that opens the journal with this much of its log."""
    copy = folder / "cut.db"
    copied(disk.path, copy, log)
    copy.with_name("cut.db-shm").unlink(missing_ok=True)
    with closing(opened(copy, disk.key)) as database:
        assert database.execute("PRAGMA quick_check").fetchall() == [("ok",)]
        return list(dumped(database))


def test_every_prefix_of_the_log_is_a_prefix_of_the_commits(
    disks: dict[str, Disk], tmp_path: Path
) -> None:
    witness, dice = Witness(disks), random.Random(1)
    assert_right(*finished(disks, witness))
    for name, disk in disks.items():
        log, seen = disk.log.read_bytes(), witness.seen[name]
        assert len(seen) >= 3
        frame = FRAME_HEADER + page_size(disk.path, disk.key)

        def expected(length: int, seen: list[tuple[int, list[str]]] = seen) -> list[str]:
            return [rows for size, rows in seen if size <= length][-1]

        for end in range(HEADER, len(log) + 1, frame):
            assert after(disk, log[:end], tmp_path) == expected(end)
        for end in [0, 1, HEADER - 1, *(dice.randrange(len(log)) for _ in range(20))]:
            assert after(disk, log[:end], tmp_path) == expected(end)
        for _ in range(20):
            end = dice.randrange(HEADER + frame, len(log) + 1, 1)
            end -= (end - HEADER) % frame
            flipped = bytearray(log[:end])
            # Not in the part of the frame's header that says nothing.
            flipped[end - dice.randrange(1, frame - FRAME_HEADER)] ^= 1 << dice.randrange(8)
            assert after(disk, bytes(flipped), tmp_path) == expected(end - 1)


@pytest.mark.parametrize("seed", range(4))
def test_killed_in_the_middle_of_many_writes(disks: dict[str, Disk], seed: int) -> None:
    butcher = Butcher(disks, seed, often=0.15)
    assert_right(*finished(disks, butcher, seed))
    assert butcher.cuts > 5
