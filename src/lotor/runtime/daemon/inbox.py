"""A party's inbox from a program beside its daemon: decisions come out, outcomes go in."""

import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Final

from lotor.core.errors import InputError
from lotor.core.fixed_point import RewardScale
from lotor.runtime.daemon.config_tables import OwnerTable
from lotor.runtime.daemon.open_kit import OpenKit, open_kit
from lotor.runtime.durable.journal import RUNNING, WAITING
from lotor.runtime.durable.open_decisions import OpenDecision, OpenDecisions

LOOK_SECONDS: Final = 0.2


class Inbox:
    """The decisions of a party with `inbox = true`, in one run or (without `run`) in all of them.

    `lotor serve` must run for the same kit, in another process. Iterating takes one decision after
    the other, and waits for the next one; with `run` it ends when that run does:

        with lotor.Inbox("lyon", run) as inbox:
            for decision in inbox:
                inbox.tell(decision.id, treat(decision.arm))

    Outcomes may be told at any time later, in any order, and by another process.
    """

    def __init__(self, kit: str | Path, run: str = "") -> None:
        self._open = ExitStack()
        at = self._at = self._open.enter_context(open_kit(Path(kit)))
        try:
            self._journal = at.journal
            self._decisions = decisions_of(at)
            self.run = at.journal.run(run).id if run else ""
        except BaseException:
            self._open.close()
            raise

    def __enter__(self) -> "Inbox":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        self._open.close()

    def waiting(self) -> list[OpenDecision]:
        """All decisions that have no outcome yet, the oldest first, taken or not."""
        return self._decisions.waiting(self.run)

    def take(self, count: int = 1) -> list[OpenDecision]:
        """Up to so many decisions that nobody has taken, without waiting for any."""
        return decisions_to_take(self._at).take(self.run, count=count)

    def give_back(self, decision: str) -> None:
        """A decision that was taken is not carried out here: somebody else may take it."""
        self._decisions.give_back(decision)

    def tell(self, decision: str, reward: float | None) -> bool:
        """Hand in an outcome, once; None if nobody will ever know it.

        False if the same was told before.
        """
        return self._decisions.tell(decision, reward)

    def tell_all(self, outcomes: Iterable[tuple[str, float | None]]) -> int:
        """Hand in many: all of them or, where one is refused, none; how many were new."""
        return self._decisions.tell_all(outcomes)

    def __iter__(self) -> Iterator[OpenDecision]:
        while True:
            over = self._is_over()
            if found := self.take():
                yield from found
            elif over:
                return
            else:
                time.sleep(LOOK_SECONDS)

    def _is_over(self) -> bool:
        """Whether no decision will come any more; looked up before the last look at decisions."""
        return bool(self.run) and self._journal.run(self.run).state not in (RUNNING, WAITING)


def decisions_of(at: OpenKit) -> OpenDecisions:
    """The decisions of a party whose people or functions tell outcomes."""
    owner = at.config.owner
    if owner is None or not _is_paid(owner):
        raise InputError(
            f"{at.kit.subject.name} carries out no decisions and is told no outcomes: that is done "
            "by a party with `inbox = true`, `pull` or `act` under [owner] in its party.toml"
        )
    return OpenDecisions(at.journal.database, RewardScale(*owner.reward_range))


def decisions_to_take(at: OpenKit) -> OpenDecisions:
    """The decisions of a party, for whoever wants to carry some of them out."""
    found, owner = decisions_of(at), at.config.owner
    if owner is not None and not owner.inbox:
        raise InputError(
            f"{at.kit.subject.name} carries its decisions out by the functions in its party.toml, "
            "so nobody else may take them: that takes `inbox = true` under [owner]"
        )
    return found


def _is_paid(owner: OwnerTable) -> bool:
    return owner.inbox or owner.pull is not None or owner.act is not None
