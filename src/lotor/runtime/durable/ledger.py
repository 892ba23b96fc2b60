"""What a party's runs have cost it, over all of them: pulls, and privacy.

A run is charged in the transaction in which it starts here, so that no crash can start it unpaid or
charge it twice. Its entry stays when all else about the run is gone.
"""

import sqlite3
import time
from collections.abc import Iterable, Sequence
from math import copysign, fsum, inf
from typing import Final

import msgspec

SCHEMA = """
CREATE TABLE IF NOT EXISTS ledger (
    number INTEGER PRIMARY KEY,
    run TEXT NOT NULL,
    customer TEXT NOT NULL,
    certificate TEXT NOT NULL,
    protocol TEXT NOT NULL,
    form TEXT NOT NULL,
    policy TEXT NOT NULL,
    granted INTEGER NOT NULL,
    used INTEGER,
    epsilon REAL,
    delta REAL NOT NULL,
    approved INTEGER NOT NULL,
    started REAL NOT NULL,
    ended REAL
) STRICT;
CREATE INDEX IF NOT EXISTS ledger_runs ON ledger (run);
"""
SINCE: Final = "ledger"
"""The key of the moment since when a journal has kept a ledger."""

_MOST_GRANTED = 1 << 62


class Charge(msgspec.Struct, frozen=True, kw_only=True):
    """What a run costs that starts: its pulls, and what its arms may tell.

    `certificate` is the fingerprint of its customer's, since a name may get another key. `epsilon`
    is None if the protocol keeps no account, and math.inf if there is no bound.
    """

    customer: str = ""
    certificate: str = ""
    protocol: str = ""
    form: str = ""
    policy: str = ""
    pulls: int
    epsilon: float | None = None
    delta: float = 0.0


class LedgerEntry(msgspec.Struct, frozen=True, array_like=True):
    """One run. `used` and `ended` are None as long as it may go on."""

    run: str
    customer: str
    certificate: str
    protocol: str
    form: str
    policy: str
    granted: int
    used: int | None
    epsilon: float | None
    delta: float
    approved: bool
    started: float
    ended: float | None

    @property
    def charged(self) -> int:
        """The pulls that count: all that were granted, until it is known how many were used."""
        return self.granted if self.used is None else self.used


class BudgetSum(msgspec.Struct, frozen=True, kw_only=True):
    """What several runs cost together: `pulls` count against a total budget.

    What runs tell adds up, epsilons and deltas alike (basic composition), also if a later run, and
    its own epsilon, was chosen by what earlier ones have told (Dwork and Roth, 2014, appendix B;
    Rogers, Roth, Ullman and Vadhan, 2016).
    """

    runs: int = 0
    granted: int = 0
    pulls: int = 0
    epsilon: float = 0.0
    delta: float = 0.0

    @classmethod
    def of(cls, entries: Iterable[LedgerEntry]) -> "BudgetSum":
        return cls.added([(one.granted, one.charged, one.epsilon, one.delta) for one in entries])

    @classmethod
    def added(cls, amounts: Sequence[tuple[int, int, float | None, float]]) -> "BudgetSum":
        """The sum of granted and charged pulls, epsilons and deltas."""
        return cls(
            runs=len(amounts),
            granted=sum(granted for granted, _, _, _ in amounts),
            pulls=sum(charged for _, charged, _, _ in amounts),
            epsilon=_sum(epsilon or 0.0 for _, _, epsilon, _ in amounts),
            delta=_sum(delta for _, _, _, delta in amounts),
        )


def at_worst(amount: float, most: float) -> float:
    """An amount as it counts: one that is not a number, negative or too large is the most.

    >>> at_worst(2.5, inf), at_worst(-2.5, inf), at_worst(float("nan"), 1.0)
    (2.5, inf, 1.0)
    """
    return min(amount, most) if amount >= 0.0 and copysign(1.0, amount) > 0.0 else most


def _sum(amounts: Iterable[float]) -> float:
    """Rounded once, so that many small amounts count beside a large one."""
    try:
        return fsum(amounts)
    except OverflowError:
        return inf


class Ledger:
    """All entries, in the order in which the runs started; changed in the caller's transaction."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database

    @property
    def since(self) -> float:
        """When it began: runs of another journal are not in it."""
        (since,) = self._database.execute(
            "SELECT value FROM meta WHERE key = ?", (SINCE,)
        ).fetchone()
        return float(since)

    def charge(self, run: str, charge: Charge, *, approved: bool) -> None:
        """A run starts, by itself or because a person approved it."""
        epsilon = None if charge.epsilon is None else at_worst(charge.epsilon, inf)
        self._database.execute(
            "INSERT INTO ledger (run, customer, certificate, protocol, form, policy, granted, "
            "epsilon, delta, approved, started) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                run,
                charge.customer,
                charge.certificate,
                charge.protocol,
                charge.form,
                charge.policy,
                min(max(charge.pulls, 0), _MOST_GRANTED),
                epsilon,
                at_worst(charge.delta, 1.0),
                approved,
                time.time(),
            ),
        )

    def settle(self, run: str, used: int | None) -> None:
        """A run has ended after so many pulls (None: after all of them); privacy stays charged.

        A pull that was under way counts; more than was granted is never charged.
        What its arms have told is known only to those who saw them, and they may say that it was
        nothing.
        """
        self._database.execute(
            "UPDATE ledger SET used = min(granted, coalesce(?, granted)), ended = ? "
            "WHERE run = ? AND ended IS NULL",
            (used, time.time(), run),
        )

    def under_way(self, run: str) -> int:
        """The pulls of a run that may have been carried out, though nobody has answered.

        Where pulls can be asked again, none is written down before its answer: there is one at a
        time, and it counts whether or not there is one now. Otherwise, whoever stops each run in
        the middle of a pull would get all of them for nothing.
        """
        (asked,) = self._database.execute(
            "SELECT count(*) FROM pulls WHERE run = ? AND NOT answered AND decision IS NOT NULL",
            (run,),
        ).fetchone()
        (repeatable,) = self._database.execute(
            "SELECT count(*) FROM progress WHERE run = ? AND repeatable", (run,)
        ).fetchone()
        return int(asked + repeatable)

    def entries(self) -> list[LedgerEntry]:
        rows = self._database.execute(
            "SELECT run, customer, certificate, protocol, form, policy, granted, used, epsilon, "
            "delta, approved, started, ended FROM ledger ORDER BY number"
        )
        return [msgspec.convert(row, LedgerEntry, strict=False) for row in rows]

    def spent(self) -> BudgetSum:
        """What all runs cost together, those that are running now among them."""
        rows = self._database.execute(
            "SELECT granted, coalesce(used, granted), epsilon, delta FROM ledger"
        )
        return BudgetSum.added(rows.fetchall())
