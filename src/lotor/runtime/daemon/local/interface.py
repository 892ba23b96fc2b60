"""What a party's operator sees and decides: the one set of operations behind CLI and HTTP."""

import re
from collections.abc import Callable, Iterator

import msgspec

from lotor.core.errors import InputError
from lotor.runtime.daemon import commands
from lotor.runtime.daemon.config_tables import OwnerTable
from lotor.runtime.daemon.exclusion_orders import exclude
from lotor.runtime.daemon.inbox import decisions_of, decisions_to_take
from lotor.runtime.daemon.local.run_document import RunDocument, described, is_served, ordered
from lotor.runtime.daemon.open_kit import OpenKit
from lotor.runtime.daemon.prune_runs import PruningReport, prunable, prune
from lotor.runtime.daemon.round_orders import RoundsGranted, let_begin, pause, resume
from lotor.runtime.durable.journal import FINISHED, RUNNING, WAITING, RunRow
from lotor.runtime.durable.open_decisions import OpenDecision


class LocalInput(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Base of what an operation is given."""


class Reason(LocalInput, frozen=True):
    """Why a run is refused or stopped: told to all parties."""

    reason: str = "no reason given"


class Resolution(LocalInput, frozen=True):
    """What became of a decision in doubt: exactly one of its answers, `lost` and `again`."""

    decision: str
    reward: float | None = None
    features: tuple[float, ...] | None = None
    lost: bool = False
    again: bool = False

    def __repr__(self) -> str:
        return f"<Resolution on {self.decision}>"


class RoundsWanted(LocalInput, frozen=True):
    """How many more rounds may begin."""

    count: int = 1


class Excluding(LocalInput, frozen=True):
    """The owner without whom a run is to go on."""

    party: str


class Taking(LocalInput, frozen=True):
    """How many decisions somebody wants to carry out, of one run or of any."""

    count: int = 1
    run: str = ""


class GivingBack(LocalInput, frozen=True):
    """A decision that was taken and not carried out."""

    decision: str


class Telling(LocalInput, frozen=True):
    """What a decision has paid, or that nobody will ever know it."""

    decision: str
    reward: float | None = None
    lost: bool = False

    def __repr__(self) -> str:
        return f"<Telling of {self.decision}>"


class TellingMany(LocalInput, frozen=True):
    """The outcomes of many decisions: all of them count, or none."""

    outcomes: tuple[Telling, ...]


class PruningWanted(LocalInput, frozen=True):
    """The runs to remove: these, or all that have been over for so long."""

    runs: tuple[str, ...] = ()
    older_than: str | None = None
    dry_run: bool = False


class Told(msgspec.Struct, frozen=True):
    """How many outcomes were written down, and how many had been told before, as the same."""

    new: int
    known: int


class Receipt(msgspec.Struct, frozen=True):
    """What was done about a run, as a sentence."""

    run: str
    done: str


class LocalInterface:
    """The operations on an open kit: in the daemon itself, or in any other process.

    In the daemon, `carry_out` makes it carry out at once what the journal asks for. Elsewhere, the
    daemon finds it there. `run` is always a run's id or its beginning; what cannot be done is an
    InputError that says why, and changes nothing.
    """

    def __init__(self, at: OpenKit, carry_out: Callable[[], None] | None = None) -> None:
        self._at = at
        self._carry_out = carry_out

    def runs(self) -> Iterator[RunDocument]:
        """All runs of this party, and then those that were ordered and have not begun."""
        journal, served = self._at.journal, self._served()
        for row in journal.runs():
            yield described(self._at, row, served=served)
        for run in journal.commands.new_runs():
            yield ordered(self._at, run, served=served)

    def run(self, run: str) -> RunDocument:
        """One run: how it stands, who holds it up, who takes part, what only this party sees."""
        journal, served = self._at.journal, self._served()
        new = [order for order in journal.commands.new_runs() if order.startswith(run)]
        if len(new) == 1 and not any(row.id.startswith(run) for row in journal.runs()):
            return ordered(self._at, new[0], served=served)
        return described(self._at, journal.run(run), served=served)

    def approve(self, run: str) -> Receipt:
        """Let a run start that waits for this party's approval."""
        row = self._waiting(run, "approved")
        return self._ask(row, commands.Approve(), f"run {row.id} is approved and starts")

    def refuse(self, run: str, told: Reason) -> Receipt:
        """Do not take part in a waiting run, which ends for all."""
        row = self._waiting(run, "refused")
        return self._ask(row, commands.Refuse(told.reason), f"run {row.id} is refused")

    def stop(self, run: str, told: Reason) -> Receipt:
        """End a run on all sides, or take back the order of one that has not begun."""
        journal = self._at.journal
        for order in journal.commands.new_runs():
            if order.startswith(run) and journal.commands.withdraw(order):
                return Receipt(order, f"the order of run {order} is taken back")
        row = journal.run(run)
        undelivered = row.state == FINISHED and row.id in journal.unsettled()
        if row.state not in (WAITING, RUNNING) and not undelivered:
            raise InputError(f"run {row.id} is {row.state} already")
        return self._ask(row, commands.Stop(told.reason), f"run {row.id} is stopped")

    def resolve(self, run: str, said: Resolution) -> Receipt:
        """Say what became of a decision in doubt, so that the run goes on."""
        row, owner = self._at.journal.run(run), self._at.config.owner
        if owner is None or row.state == FINISHED:
            raise InputError(
                f"no decision of run {row.id} can be in doubt at this party: it has no functions, "
                "or the run is finished"
            )
        _check_resolution(owner, said)
        if not _is_named(said.decision, row.note):
            raise InputError(
                f"decision {said.decision!r} is not in doubt in run {row.id}: `lotor runs show` "
                "names the one that is"
            )
        done = f"decision {said.decision} is resolved"
        if owner.pull is not None and self._waits_for_outcome(row, said.decision):
            if said.again:
                return self.give_back(GivingBack(said.decision))
            self.tell(Telling(said.decision, said.reward, said.lost))
            return Receipt(row.id, done)
        command = commands.Resolve(said.decision, said.reward, said.lost, said.features)
        return self._ask(row, command, done)

    def next(self, run: str, wanted: RoundsWanted) -> RoundsGranted:
        """Let more rounds begin, in a run on demand that this party has ordered."""
        found = let_begin(self._at, self._at.journal.run(run), wanted.count)
        self._hurry()
        return found

    def pause(self, run: str) -> Receipt:
        """Let no more rounds begin; the one that has begun goes on to its end."""
        return self._paced(run, pause, "is paused")

    def resume(self, run: str) -> Receipt:
        """Go on with a run that this party has paused."""
        return self._paced(run, resume, "goes on")

    def _paced(self, run: str, order: Callable[[OpenKit, RunRow], None], done: str) -> Receipt:
        row = self._at.journal.run(run)
        order(self._at, row)
        self._hurry()
        return Receipt(row.id, f"run {row.id} {done}{self._when()}")

    def exclude(self, run: str, wanted: Excluding) -> Receipt:
        """Agree that a run goes on without an owner that is lost."""
        row = self._at.journal.run(run)
        lost = exclude(self._at, row, wanted.party)
        self._hurry()
        still = ", ".join(one for one in lost.lacking if one != row.seat)
        rest = f"; {still} still must agree" if still else ": all others have agreed"
        return Receipt(row.id, f"you agree to go on without {lost.seat}{rest}{self._when()}")

    def decisions(self, run: str = "") -> list[OpenDecision]:
        """The decisions that have no outcome yet, the oldest first."""
        return decisions_of(self._at).waiting(self._whole(run))

    def take(self, said: Taking) -> list[OpenDecision]:
        """The oldest decisions that nobody has taken, for the caller alone."""
        return decisions_to_take(self._at).take(self._whole(said.run), count=said.count)

    def give_back(self, said: GivingBack) -> Receipt:
        """Let somebody else, or the party's function, carry a decision out."""
        run = decisions_of(self._at).give_back(said.decision)
        self._hurry()
        return Receipt(run, f"decision {said.decision} waits to be carried out again")

    def tell(self, said: Telling) -> Told:
        """Write down what a decision has paid, once."""
        return self.tell_many(TellingMany((said,)))

    def tell_many(self, said: TellingMany) -> Told:
        """Write down what many decisions have paid: all of them, or none."""
        outcomes = [_outcome(one) for one in said.outcomes]
        new = decisions_of(self._at).tell_all(outcomes)
        self._hurry()
        return Told(new, len(outcomes) - new)

    def prune(self, wanted: PruningWanted) -> PruningReport:
        """Remove runs that are over from the journal, for good; what they have cost stays."""
        report = prunable(self._at.journal, wanted.runs, wanted.older_than)
        if not wanted.dry_run:
            prune(self._at, report)
            self._hurry()
            if self._carry_out is not None:
                self._at.journal.erasure.complete()
        return report

    def _whole(self, run: str) -> str:
        """The id of a run that begins so; empty for all runs."""
        return self._at.journal.run(run).id if run else ""

    def _waits_for_outcome(self, row: RunRow, decision: str) -> bool:
        """Whether the run goes on meanwhile, so that an answer is told like any outcome."""
        return any(one.id == decision for one in decisions_of(self._at).waiting(row.id))

    def _served(self) -> bool:
        return self._carry_out is not None or is_served(self._at.journal)

    def _waiting(self, run: str, done: str) -> RunRow:
        row = self._at.journal.run(run)
        if row.state != WAITING:
            raise InputError(f"run {row.id} is {row.state}: only a waiting run can be {done}")
        return row

    def _ask(self, row: RunRow, command: commands.Command, done: str) -> Receipt:
        self._at.journal.commands.add(row.id, commands.to_bytes(command))
        self._hurry()
        return Receipt(row.id, f"{done}{self._when()}")

    def _when(self) -> str:
        return "" if self._served() else " as soon as this party runs again"

    def _hurry(self) -> None:
        if self._carry_out is not None:
            self._carry_out()


def _outcome(said: Telling) -> tuple[str, float | None]:
    if (said.reward is None) != said.lost:
        raise InputError(
            f"give either the reward of decision {said.decision}, or say that it is lost"
        )
    return said.decision, said.reward


def _is_named(decision: str, note: str) -> bool:
    """Whether a note is about this decision, and not about one whose id only begins like it."""
    return bool(decision) and bool(re.search(rf"(?<![\w/-]){re.escape(decision)}(?![\w/-])", note))


def _check_resolution(owner: OwnerTable, said: Resolution) -> None:
    """Refuse an answer of a kind that this party is never asked for; no error shows its value."""
    reward, features = said.reward, said.features
    if (reward is not None) + (features is not None) + said.lost + said.again != 1:
        raise InputError("give exactly one of reward, features, lost and again")
    low, high = owner.reward_range
    if reward is not None and owner.pull is None:
        raise InputError(
            "a reward is for a party that has `pull` in its party.toml; this one has not"
        )
    if reward is not None and not low <= reward <= high:
        raise InputError(
            f"the reward lies outside this party's reward_range ({low}, {high}): correct it"
        )
    if features is not None and len(features) != owner.dimensions:
        raise InputError(
            "there must be as many features as owner.dimensions in party.toml says: "
            f"{owner.dimensions or 'none'}, not {len(features)}"
        )
    if said.lost and not owner.asked_for_arms:
        raise InputError("features cannot be lost: give them, or say that they are asked again")
