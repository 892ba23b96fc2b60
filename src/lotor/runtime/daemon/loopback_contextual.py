"""A throw-away federation whose owners each have some features of a context.

The world between the actor, who carries arms out, and the receiver, who is paid for them, is a
small database beside the kits: the actor's function notes the arm of a decision, the receiver's
waits for it and looks up what it pays. Both may be asked again.
"""

import json
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from lotor.core.errors import InputError
from lotor.runtime.daemon.config import OwnerTable
from lotor.runtime.daemon.loopback import Loopback

SERVERS = ("server-0", "server-1")
OTHERS = ("dealer", "actor", "receiver")
WORLD, TABLE = "world.db", "table.json"

FEATURES = '''"""This owner's features of each context, one row a round."""

import json
from pathlib import Path

_rows = json.loads(Path(__file__).with_name("table.json").read_text())


def features(decision):
    return _rows[decision.round - 1]
'''
ACT = '''"""Carries an arm out: the world takes note of it, once for each decision."""

import sqlite3
from functools import cache
from pathlib import Path


@cache
def _world():
    path = Path(__file__).parents[1] / "world.db"
    world = sqlite3.connect(path, isolation_level=None, timeout=60)
    world.execute("PRAGMA synchronous = OFF")
    return world


def act(decision):
    _world().execute("INSERT OR IGNORE INTO acts VALUES (?, ?)", (decision.id, decision.arm))
    (arm,) = _world().execute("SELECT arm FROM acts WHERE id = ?", (decision.id,)).fetchone()
    if arm != decision.arm:
        raise RuntimeError("another arm was carried out for this decision")
'''
PULL = '''"""Waits until an arm was carried out for a decision, and says what it pays."""

import asyncio
import json
import sqlite3
from functools import cache
from pathlib import Path

_rows = json.loads(Path(__file__).with_name("table.json").read_text())


@cache
def _world():
    path = Path(__file__).parents[1] / "world.db"
    return sqlite3.connect(path, isolation_level=None, timeout=60)


async def pull(decision):
    question = "SELECT arm FROM acts WHERE id = ?"
    while (found := _world().execute(question, (decision.id,)).fetchone()) is None:
        await asyncio.sleep(0.0005)
    return _rows[decision.round - 1][found[0]]
'''
MODULES = {"actor": ("ward.py", ACT), "receiver": ("register.py", PULL)}


@dataclass(slots=True)
class ContextualLoopback(Loopback):
    """Two servers, a dealer, an actor, a receiver, and owner-1 to owner-n.

    `contexts` has a row for each round, of which each owner has as many columns as `dimensions`
    says, from the left; `payoffs` has the reward of each arm in each round.
    """

    rewards: Mapping[str, Sequence[float]] = field(default_factory=dict)
    seed: int = 0
    contexts: Sequence[Sequence[float]] = field(default=(), repr=False)
    payoffs: Sequence[Sequence[float]] = field(default=(), repr=False)
    dimensions: Sequence[int] = ()

    @classmethod
    def of(
        cls,
        folder: Path,
        contexts: Sequence[Sequence[float]],
        payoffs: Sequence[Sequence[float]],
        *,
        dimensions: Sequence[int],
        seed: int,
    ) -> "ContextualLoopback":
        """Owners with so many features each; draws are those of a simulation with this seed."""
        if any(len(row) != sum(dimensions) for row in contexts):
            raise InputError(
                f"dimensions {list(dimensions)} do not add up to those of the contexts"
            )
        return cls(
            folder, seed=seed, contexts=contexts, payoffs=payoffs, dimensions=tuple(dimensions)
        )

    @property
    def owners(self) -> list[str]:
        return [f"owner-{number}" for number, _ in enumerate(self.dimensions, 1)]

    @property
    def opener(self) -> str:
        return "receiver"

    @property
    def listeners(self) -> list[str]:
        return list(SERVERS)

    @property
    def pullers(self) -> list[str]:
        return ["actor"]

    @property
    def drawers(self) -> list[str]:
        return list(SERVERS)

    @property
    def members(self) -> dict[str, str]:
        return {
            **dict.fromkeys(SERVERS, "server"),
            **{name: name for name in OTHERS},
            **dict.fromkeys(self.owners, "owner"),
        }

    def round_and_arm(self, decision: str) -> tuple[int, int]:
        with closing(sqlite3.connect(self.folder / WORLD)) as world:
            row = world.execute("SELECT arm FROM acts WHERE id = ?", (decision,)).fetchone()
        return int(decision.rsplit("/", 1)[1]), -1 if row is None else int(row[0])

    def _write_data(self) -> None:
        with closing(sqlite3.connect(self.folder / WORLD, isolation_level=None)) as world:
            world.execute("PRAGMA journal_mode = WAL")
            world.execute("CREATE TABLE acts (id TEXT PRIMARY KEY, arm INTEGER NOT NULL) STRICT")
        for name, (file, module) in MODULES.items():
            (self.kits[name] / file).write_text(module)
        (self.kits["receiver"] / TABLE).write_text(json.dumps([list(row) for row in self.payoffs]))
        low = 0
        for name, count in zip(self.owners, self.dimensions, strict=True):
            rows = [list(row[low : low + count]) for row in self.contexts]
            (self.kits[name] / TABLE).write_text(json.dumps(rows))
            (self.kits[name] / "clinic.py").write_text(FEATURES)
            low += count

    def _owner_tables(self) -> dict[str, OwnerTable]:
        arms = len(self.payoffs[0])
        return {
            "receiver": OwnerTable(pull="register:pull", repeatable=True, tick=self.tick),
            "actor": OwnerTable(act="ward:act", arms=arms, repeatable=True, tick=self.tick),
        } | {
            name: OwnerTable(
                features="clinic:features", dimensions=count, repeatable=True, tick=self.tick
            )
            for name, count in zip(self.owners, self.dimensions, strict=True)
        }
