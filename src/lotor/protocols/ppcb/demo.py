"""PPCB's demonstration: firms that each know something about a traveller.

The world between the actor, who carries arms out, and the receiver, who is paid for them, is a
small database beside the kits: the actor's function notes the arm of a decision, the receiver's
waits for it and looks up what it pays. Both may be asked again.
"""

import json
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path

from lotor.core.errors import InputError
from lotor.environments import ContextualArms
from lotor.environments.sources.base import SEED
from lotor.protocols.cast import Cast, CastMember
from lotor.protocols.ppcb.terms import FIRST, SECOND

# The firms of the paper's introduction, and how many features of a traveller each has.
FIRMS = {"airline": 4, "hotel": 3, "reviews": 3}
ITINERARIES = 5
WORLD = "world.db"

FEATURES_MODULE = '''"""This party's features of each context, one row a round."""

import json
from pathlib import Path

_rows = json.loads(Path(__file__).with_name("table.json").read_text())


def features(decision):
    return _rows[decision.round - 1]
'''
ACT_MODULE = '''"""Carries an arm out: the world takes note of it, once for each decision."""

import sqlite3
from functools import cache
from pathlib import Path


@cache
def _world():
    path = Path(__file__).parents[1] / "world.db"
    # A party that is restarted within its process calls from another thread, one at a time.
    world = sqlite3.connect(path, isolation_level=None, timeout=60, check_same_thread=False)
    world.execute("PRAGMA synchronous = OFF")
    return world


def act(decision):
    _world().execute("INSERT OR IGNORE INTO acts VALUES (?, ?)", (decision.id, decision.arm))
    (arm,) = _world().execute("SELECT arm FROM acts WHERE id = ?", (decision.id,)).fetchone()
    if arm != decision.arm:
        raise RuntimeError("another arm was carried out for this decision")
'''
PULL_MODULE = '''"""Waits until an arm was carried out for a decision, and says what it pays."""

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


def travel(*, budget: int, policy: str, helpers: Sequence[str] = ()) -> Cast:
    """Three firms, two servers, an actor who recommends and a receiver who is paid.

    `helpers` are other parties of the form, by their roles.
    """
    # The run itself refuses a budget of 0.
    arms = ContextualArms.lookalike(max(budget, 1), ITINERARIES, sum(FIRMS.values()), SEED)
    story = (
        f"Three firms ({', '.join(FIRMS)}) each know something about {budget} travellers. Two "
        f"servers chose by {policy} one of {ITINERARIES} itineraries for each, on shares of what "
        "the firms know; only the actor saw which, and only the receiver what it paid."
    )
    return feature_parties(arms, FIRMS, story, helpers)


def feature_parties(
    arms: ContextualArms,
    features: Mapping[str, int],
    story: str = "",
    helpers: Sequence[str] = (),
) -> Cast:
    """Parties with so many features each of the contexts of `arms`."""
    if sum(features.values()) != arms.d:
        raise InputError(f"{dict(features)} do not add up to the {arms.d} features of a context")
    payoffs = json.dumps(arms.rewards.tolist())
    members = {
        FIRST: CastMember("server", draws=True),
        SECOND: CastMember("server", draws=True),
        **{name: CastMember(name) for name in helpers},
        "actor": CastMember(
            "actor",
            table={"act": "ward:act", "arms": arms.k, "repeatable": True},
            files={"ward.py": ACT_MODULE},
        ),
        "receiver": CastMember(
            "receiver",
            table={"pull": "register:pull", "repeatable": True},
            files={"register.py": PULL_MODULE, "table.json": payoffs},
        ),
    }
    low = 0
    for name, count in features.items():
        rows = arms.contexts[:, low : low + count].tolist()
        members[name] = CastMember(
            "owner",
            table={"features": "clinic:features", "dimensions": count, "repeatable": True},
            files={"clinic.py": FEATURES_MODULE, "table.json": json.dumps(rows)},
        )
        low += count
    return Cast(
        story=story,
        members=members,
        environment=arms,
        pullers=("actor",),
        arm=_carried_out,
        files={WORLD: _new_world},
    )


def _new_world(path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as world:
        world.execute("PRAGMA journal_mode = WAL")
        world.execute("CREATE TABLE acts (id TEXT PRIMARY KEY, arm INTEGER NOT NULL) STRICT")


def _carried_out(folder: Path, decision: str) -> int:
    """The arm that was carried out for a decision, -1 if none was."""
    with closing(sqlite3.connect(folder / WORLD)) as world:
        row = world.execute("SELECT arm FROM acts WHERE id = ?", (decision,)).fetchone()
    return -1 if row is None else int(row[0])
