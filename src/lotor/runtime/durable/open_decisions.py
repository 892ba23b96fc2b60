"""A party's decisions that wait for their outcomes, for its people and programs.

Any process that has opened the journal may use it; the daemon notices what it writes.
"""

import csv
import sqlite3
import time
from collections.abc import Iterable, Sequence
from math import isfinite
from typing import Final

import msgspec

from lotor.core.effects import HIDDEN
from lotor.core.errors import InputError
from lotor.core.fixed_point import RewardScale
from lotor.runtime.durable.transaction import transaction

RUNNING: Final = "running"
# What is only carried out here is to be carried out also when this party's part is over.
_OPEN: Final = """
SELECT decisions.id, run, round, arm, since, taken, paid_here
FROM decisions JOIN runs ON runs.id = run
WHERE told IS NULL AND counted IS NULL AND round > 0 AND CASE WHEN paid_here THEN state = 'running'
ELSE taken IS NULL AND state IN ('running', 'finished') END
"""


class OpenDecision(msgspec.Struct, frozen=True):
    """A decision that is to be carried out, or was, and has no outcome yet.

    `arm` is None where this party must not know it. `since` and `taken` are seconds since 1970;
    `taken` is None until somebody says that the decision is being carried out. Where it is not
    `paid_here`, that is all, and another party is told the outcome.
    """

    id: str
    run: str
    round: int
    arm: int | None
    since: float
    taken: float | None
    paid_here: bool


class _Found(msgspec.Struct, frozen=True):
    """What the journal knows of a decision and its run."""

    id: str
    run: str
    state: str
    told: int
    counted: int
    reward: float | None
    paid_here: int

    def __repr__(self) -> str:
        return f"<decision {self.id}>"

    def check_open(self) -> None:
        """Refuse what comes when nothing about the decision can change any more."""
        if self.state != RUNNING or (self.counted and not self.told):
            why = "has settled without it" if self.state == RUNNING else f"is {self.state}"
            raise InputError(
                f"it is too late for decision {self.id}: run {self.run} {why}, and nothing was "
                "changed"
            )


class OpenDecisions:
    """The decisions of all runs of one party. Rewards lie in the range of `scale`."""

    def __init__(self, database: sqlite3.Connection, scale: RewardScale) -> None:
        self._database = database
        self._scale = scale

    def waiting(self, run: str = "", *, taken: bool | None = None) -> list[OpenDecision]:
        """The decisions of runs whose ids begin so, the oldest first.

        `taken` tells whether to list those that somebody has taken, or those that nobody has.
        """
        asked = {None: "", True: " AND taken IS NOT NULL", False: " AND taken IS NULL"}[taken]
        rows = self._database.execute(
            f"{_OPEN}{asked} AND substr(run, 1, ?) = ? ORDER BY since, round",
            (len(run), run),
        )
        return [_open_decision(*row) for row in rows]

    def take(self, run: str = "", *, count: int = 1) -> list[OpenDecision]:
        """The oldest decisions that nobody has taken, which are then this caller's alone."""
        if count < 0:
            raise InputError(f"{count} decisions cannot be taken: give a number from 0 up")
        now = time.time()
        with transaction(self._database):
            found = self.waiting(run, taken=False)[:count]
            self._database.executemany(
                "UPDATE decisions SET taken = ? WHERE run = ? AND id = ?",
                [(now, one.run, one.id) for one in found],
            )
        return [msgspec.structs.replace(one, taken=now) for one in found]

    def take_one(self, decision: str) -> bool:
        """Take a decision that the caller knows by its id; False if somebody else was faster."""
        with transaction(self._database):
            run = self._find(decision).run
            taken = self._database.execute(
                "UPDATE decisions SET taken = ? "
                "WHERE run = ? AND id = ? AND told IS NULL AND taken IS NULL",
                (time.time(), run, decision),
            )
        return taken.rowcount == 1

    def give_back(self, decision: str) -> str:
        """A decision that was taken has not been carried out: somebody else may take it."""
        with transaction(self._database):
            found = self._find(decision)
            if found.told:
                raise InputError(
                    f"decision {decision} has its outcome, so it was carried out: nothing was "
                    "changed"
                )
            if found.paid_here:
                found.check_open()
            self._database.execute(
                "UPDATE decisions SET taken = NULL WHERE run = ? AND id = ?", (found.run, decision)
            )
        return found.run

    def tell(self, decision: str, reward: float | None) -> bool:
        """Hand in the outcome of a decision, once; None is for one that nobody will ever know.

        False if it has been told already, as the same: then nothing changes.
        """
        return self.tell_all([(decision, reward)]) == 1

    def tell_all(self, outcomes: Iterable[tuple[str, float | None]]) -> int:
        """Hand in many outcomes: all of them or, where one is refused, none; how many were new."""
        with transaction(self._database):
            return sum(self._tell(decision, reward) for decision, reward in outcomes)

    def _tell(self, decision: str, reward: float | None) -> bool:
        if reward is not None and not (
            isfinite(reward) and self._scale.low <= reward <= self._scale.high
        ):
            raise InputError(
                f"the outcome of decision {decision} lies outside this party's reward_range "
                f"({self._scale.low}, {self._scale.high}): correct it, nothing was written"
            )
        found = self._find(decision)
        if not found.paid_here:
            raise InputError(
                f"decision {decision} is only carried out here: its outcome is told at the party "
                "that receives the rewards"
            )
        found.check_open()
        if found.told and found.reward != reward:
            raise InputError(
                f"decision {decision} has another outcome already, and the first one counts: "
                "nothing was changed"
            )
        if not found.told:
            self._write(found.run, decision, reward)
        return not found.told

    def _find(self, decision: str) -> "_Found":
        """A decision that this party has made, in a run that may be over."""
        row = self._database.execute(
            "SELECT decisions.id, run, state, told IS NOT NULL, counted IS NOT NULL, reward, "
            "paid_here FROM decisions JOIN runs ON runs.id = run "
            "WHERE decisions.id = ? AND round > 0",
            (decision,),
        ).fetchone()
        if row is None:
            raise InputError(
                f"there is no decision {decision!r} here: `lotor decisions list` shows those that "
                "wait for an outcome"
            )
        return _Found(*row)

    def _write(self, run: str, decision: str, reward: float | None) -> None:
        self._database.execute(
            "UPDATE decisions SET told = ?, reward = ? WHERE run = ? AND id = ?",
            (time.time(), reward, run, decision),
        )
        if reward is None:  # what a lost outcome counts is up to the party that waits for it
            return
        # A party that waits for this very answer finds it here, as if it had been asked just now.
        self._database.execute(
            "UPDATE pulls SET answered = 1, reward = ?, synced = 2 * synced "
            "WHERE run = ? AND decision = ? AND NOT answered",
            (reward, run, decision),
        )


def _open_decision(
    name: str, run: str, t: int, arm: int, since: float, taken: float | None, paid_here: int
) -> OpenDecision:
    known = None if arm == HIDDEN else arm
    return OpenDecision(name, run, t, known, since, taken, bool(paid_here))


def read_outcomes(lines: Sequence[str], name: str) -> list[tuple[str, float | None]]:
    """Decisions and outcomes from the lines of a CSV file; an empty outcome is a lost one.

    >>> read_outcomes(["decision,reward", "aa/0/1,0.5", "aa/1/2,"], "outcomes.csv")
    [('aa/0/1', 0.5), ('aa/1/2', None)]
    """
    header = _cells(lines[0]) if lines else []
    if sorted(header) != ["decision", "reward"]:
        raise InputError(
            f"{name} does not begin with the line `decision,reward`: write it above the outcomes"
        )
    found = []
    for number, line in enumerate(lines[1:], 2):
        row = _cells(line)
        if any(row):
            try:
                cells = dict(zip(header, row, strict=True))
                found.append((cells["decision"], _reward(cells["reward"])))
            except ValueError:
                raise InputError(
                    f"line {number} of {name} is not a decision, a comma and a number (or nothing, "
                    "if nobody will ever know the outcome): correct it, nothing was written"
                ) from None
    return found


def _cells(line: str) -> list[str]:
    """The cells of one line; a line that is no CSV is one cell."""
    try:
        return [cell.strip() for cell in next(csv.reader([line]), [])]
    except csv.Error:
        return [line]


def _reward(text: str) -> float | None:
    return float(text) if text else None
