"""HELBA's demonstration: users whose server cannot read what it learns from.

A user's functions read a table beside its kit's party.toml; the pull notes which arm it was asked
for, since a decision's name does not tell it.
"""

import json
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path

from lotor.core.effects import Decision
from lotor.core.errors import InputError
from lotor.environments import LinearContexts
from lotor.protocols.cast import Cast, CastMember

ARMS = "arms.db"
# The paper's toy problem, with contexts whose indices are soon well apart.
TOY_SEED = 5
HOSPITALS = ("lyon", "porto", "graz", "turku", "malmo", "gdansk", "bilbao", "basel")
USER_MODULE = '''"""What this user offers in each round, and what each arm would pay."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

_here = Path(__file__).parent
_rounds = json.loads((_here / "table.json").read_text())


def features(decision):
    return _rounds[str(decision.round)]["contexts"]


def pull(decision):
    with closing(sqlite3.connect(_here / "arms.db", isolation_level=None, timeout=60)) as arms:
        asked = (decision.run, decision.round, decision.arm)
        arms.execute("INSERT OR IGNORE INTO arms VALUES (?, ?, ?)", asked)
        question = "SELECT arm FROM arms WHERE run = ? AND round = ?"
        (arm,) = arms.execute(question, asked[:2]).fetchone()
    if arm != decision.arm:
        raise RuntimeError("another arm was pulled for this decision")
    return _rounds[str(decision.round)]["rewards"][arm]
'''


def toy(*, budget: int, seed: int, policy: str, how: str) -> Cast:
    """The paper's problem: a user with two arms in each round, a server and a key authority."""
    story = (
        f"A user was offered 2 arms in each of {budget} rounds. A server chose by "
        f"{policy.partition(':')[0]} and learned from the rewards, {how}. A key authority made the "
        "keys and left."
    )
    # The run itself refuses a budget of 0.
    return one_user(LinearContexts.toy(max(budget, 1), seed=TOY_SEED), seed=seed, story=story)


def several_users(*, budget: int, seed: int, policy: str, size: int | None) -> Cast:
    """The same problem, whose rounds belong to hospitals in turn; two servers and a customer."""
    count = 3 if size is None else size
    if not 1 <= count <= len(HOSPITALS):
        raise InputError(f"the demonstration has 1 to {len(HOSPITALS)} hospitals, not {count}")
    names = HOSPITALS[:count]
    arms = LinearContexts.toy(max(budget, 1), seed=TOY_SEED)
    rounds = _rounds(arms, seed)
    members = {name: CastMember(name) for name in ("server", "pad-server")}
    for turn, name in enumerate(names):
        own = {t: one for t, one in rounds.items() if (t - 1) % len(names) == turn}
        members[name] = _user(arms, own, draws=True)
    members["customer"] = CastMember("customer")
    story = (
        f"{len(names)} hospitals ({', '.join(names)}) took turns in {budget} rounds, each with 2 "
        f"arms. Two servers chose by {policy.partition(':')[0]} and learned from all rewards, on "
        "shares: neither read anything, and each hospital learned its own arms and nothing of the "
        "others."
    )
    return Cast(
        story=story,
        members=members,
        environment=arms,
        pullers=tuple(names),
        arm=_pulled,
    )


def one_user(arms: LinearContexts, *, seed: int, story: str = "") -> Cast:
    """user, server and key-authority; rewards are those of `arms` with this seed."""
    return Cast(
        story=story,
        members={
            "server": CastMember("server"),
            "key-authority": CastMember("key-authority", draws=True),
            "user": _user(arms, _rounds(arms, seed)),
        },
        environment=arms,
        pullers=("user",),
        arm=_pulled,
    )


def _rounds(arms: LinearContexts, seed: int) -> dict[int, Mapping[str, object]]:
    """What each round offers, and what each arm would pay in it."""
    pull = arms.start(seed)
    return {
        t: {
            "contexts": arms.context(t).tolist(),
            "rewards": [pull(Decision.of_step("", t, arm)) for arm in range(arms.k)],
        }
        for t in range(1, arms.rounds + 1)
    }


def _user(
    arms: LinearContexts, rounds: Mapping[int, Mapping[str, object]], *, draws: bool = False
) -> CastMember:
    """A user to whom these rounds belong."""
    table = {
        "pull": "visits:pull",
        "features": "visits:features",
        "arms": arms.k,
        "dimensions": arms.k * arms.d,
        "reward_range": arms.reward_range,
        "repeatable": True,
    }
    files: dict[str, str | Callable[[Path], None]] = {
        "table.json": json.dumps(rounds),
        "visits.py": USER_MODULE,
        ARMS: _no_arms,
    }
    return CastMember("user", table=table, files=files, draws=draws)


def _no_arms(path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute(
            "CREATE TABLE arms (run TEXT, round INTEGER, arm INTEGER NOT NULL, "
            "PRIMARY KEY (run, round)) STRICT"
        )


def _pulled(folder: Path, decision: str) -> int:
    """The arm that a user pulled for a decision, -1 if none."""
    run, t = decision.split("/")
    question = "SELECT arm FROM arms WHERE run = ? AND round = ?"
    for file in folder.glob(f"*/{ARMS}"):
        with closing(sqlite3.connect(file)) as arms:
            row = arms.execute(question, (run, int(t))).fetchone()
        if row is not None:
            return int(row[0])
    return -1
