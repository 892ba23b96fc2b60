"""A throw-away federation of HELBA: a user who has all contexts and rewards, a server, and keys.

The user's functions read a table beside its kit's party.toml; the pull notes which arm it was asked
for, since a decision's name does not tell it.
"""

import json
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from lotor.core.effects import Decision
from lotor.core.errors import InputError
from lotor.environments import LinearContexts
from lotor.runtime.daemon.config import OwnerTable
from lotor.runtime.daemon.loopback import Loopback

MEMBERS = {name: name for name in ("server", "key-authority", "user")}
ARMS, TABLE, MODULE = "arms.db", "table.json", "visits.py"
FUNCTIONS = '''"""What this user offers in each round, and what each arm would pay."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

_here = Path(__file__).parent
_rounds = json.loads((_here / "table.json").read_text())


def features(decision):
    return _rounds[decision.round - 1]["contexts"]


def pull(decision):
    with closing(sqlite3.connect(_here / "arms.db", isolation_level=None, timeout=60)) as arms:
        asked = (decision.run, decision.round, decision.arm)
        arms.execute("INSERT OR IGNORE INTO arms VALUES (?, ?, ?)", asked)
        question = "SELECT arm FROM arms WHERE run = ? AND round = ?"
        (arm,) = arms.execute(question, asked[:2]).fetchone()
    if arm != decision.arm:
        raise RuntimeError("another arm was pulled for this decision")
    return _rounds[decision.round - 1]["rewards"][arm]
'''


@dataclass(slots=True)
class ContextsLoopback(Loopback):
    """user, server and key-authority; rewards are those of `arms` with this seed."""

    rewards: Mapping[str, Sequence[float]] = field(default_factory=dict)
    seed: int = 0
    arms: LinearContexts | None = None

    @classmethod
    def of(cls, folder: Path, arms: LinearContexts, *, seed: int) -> "ContextsLoopback":
        return cls(folder, seed=seed, arms=arms)

    @property
    def _contexts(self) -> LinearContexts:
        if self.arms is None:
            raise InputError("this federation has no contexts: make it by ContextsLoopback.of")
        return self.arms

    @property
    def owners(self) -> list[str]:
        return []

    @property
    def opener(self) -> str:
        return "user"

    @property
    def listeners(self) -> list[str]:
        return ["server"]

    @property
    def pullers(self) -> list[str]:
        return ["user"]

    @property
    def drawers(self) -> list[str]:
        return []

    @property
    def members(self) -> dict[str, str]:
        return dict(MEMBERS)

    def round_and_arm(self, decision: str) -> tuple[int, int]:
        run, t = decision.split("/")
        with closing(sqlite3.connect(self.kits["user"] / ARMS)) as arms:
            question = "SELECT arm FROM arms WHERE run = ? AND round = ?"
            row = arms.execute(question, (run, int(t))).fetchone()
        return int(t), -1 if row is None else int(row[0])

    def _write_data(self) -> None:
        kit, arms = self.kits["user"], self._contexts
        pull = arms.start(self.seed)
        rounds = [
            {
                "contexts": arms.context(t).tolist(),
                "rewards": [pull(Decision.of_step("", t, arm)) for arm in range(arms.k)],
            }
            for t in range(1, arms.rounds + 1)
        ]
        (kit / TABLE).write_text(json.dumps(rounds))
        (kit / MODULE).write_text(FUNCTIONS)
        with closing(sqlite3.connect(kit / ARMS, isolation_level=None)) as database:
            database.execute(
                "CREATE TABLE arms (run TEXT, round INTEGER, arm INTEGER NOT NULL, "
                "PRIMARY KEY (run, round)) STRICT"
            )

    def _owner_tables(self) -> dict[str, OwnerTable]:
        arms = self._contexts
        table = OwnerTable(
            pull="visits:pull",
            features="visits:features",
            arms=arms.k,
            dimensions=arms.k * arms.d,
            reward_range=arms.reward_range,
            repeatable=True,
            tick=self.tick,
        )
        return {"user": table}
