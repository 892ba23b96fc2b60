"""When the rounds of one run begin: what its opener grants, and who has paused it.

The opener of a run on demand signs how many rounds may have begun. Everybody passes that on, and
writes it down before a round begins by it, so that no grant is lost or counts twice.
"""

import time
from collections.abc import Callable, Iterable

import msgspec

from lotor.core.errors import IntegrityError, ProtocolError
from lotor.runtime.daemon.announcement import EVERYBODY, RunAgreement
from lotor.runtime.daemon.frames import Grant, Status
from lotor.runtime.daemon.round_gate import RoundGate
from lotor.runtime.daemon.run_context import RunContext
from lotor.runtime.daemon.run_peers import RunPeers
from lotor.runtime.daemon.status import PAUSED
from lotor.runtime.daemon.told_state import moment

PURPOSE = "rounds"
SHOWN_SECONDS = 60.0
"""Of rounds that follow each other faster, nobody is told when the next one begins."""


class RunPacing:
    """The rounds of one run, at one party; `opened` is called when its party may go on."""

    def __init__(
        self,
        agreement: RunAgreement,
        context: RunContext,
        peers: RunPeers,
        opened: Callable[[], None],
    ) -> None:
        self.pace = agreement.announcement.pace
        self._agreement = agreement
        self._journal = context.journal
        self._connections = context.connections
        self._peers = peers
        self._opened = opened
        self._record = context.journal.pacing(agreement.run)
        saved = self._record.read()
        self._signature = saved.signature
        plan = agreement.plan
        self._most = max(plan.budget - plan.first_rounds, 0)
        self.gate = RoundGate(
            self.pace,
            plan.before + plan.first_rounds,
            saved,
            context.clock,
            begins=self._begins,
            opened=opened,
        )

    @property
    def opens(self) -> bool:
        """Whether this party ordered the run, and grants its rounds."""
        return self._agreement.seat == self._agreement.form.opener

    @property
    def paused(self) -> bool:
        """Whether this party's operator has paused the run."""
        return self.gate.paused is not None

    def _begins(self, t: int, when: float) -> None:
        with self._journal.transaction():
            self._record.begin(t, when)

    def grant(self, count: int) -> None:
        """So many more rounds may begin; part of the caller's transaction. Then call `tell`."""
        if not (self.opens and self.pace.on_demand):
            return
        agreement, rounds = self._agreement, min(self.gate.granted + count, self._most)
        if rounds > self.gate.granted:
            signature = agreement.identity.sign(
                _signed_part(rounds), run=agreement.run, purpose=PURPOSE, recipient=EVERYBODY
            )
            self._keep(rounds, signature)

    def _keep(self, rounds: int, signature: bytes) -> None:
        self._record.grant(rounds, signature)
        self.gate.granted, self._signature = rounds, signature

    def tell(self, *, but: str = "") -> None:
        """Tell all peers how many rounds are granted, and let one of them begin here."""
        for name in self._peers.present().values():
            if name != but:
                self.greet(name)
        self._opened()

    def greet(self, name: str) -> None:
        """Tell it to a peer."""
        if self._signature:
            grant = Grant(self._agreement.run, self.gate.granted, self._signature)
            self._connections.send(name, grant)

    def hear(self, grant: Grant, sender: str) -> None:
        """Take what a peer passes on, if its opener has signed it and it says something new."""
        agreement = self._agreement
        if not self.pace.on_demand or grant.rounds > self._most:
            raise ProtocolError(
                f"{sender} sent a grant of {grant.rounds} rounds for run {agreement.run}, which "
                f"{f'has {self._most} to grant' if self.pace.on_demand else 'is not on demand'}: "
                "it is out of step, or runs another program"
            )
        if grant.rounds <= self.gate.granted:
            return
        try:
            agreement.identity.verify(
                _signed_part(grant.rounds),
                grant.signature,
                sender=agreement.form.opener,
                run=agreement.run,
                purpose=PURPOSE,
                recipient=EVERYBODY,
            )
        except IntegrityError as error:
            raise ProtocolError(
                f"{sender} sent a grant of rounds that the {agreement.form.opener} of run "
                f"{agreement.run} has not signed: {error}"
            ) from None
        with self._journal.transaction():
            self._keep(grant.rounds, grant.signature)
        self.tell(but=sender)

    def pause(self) -> None:
        """Begin no more rounds; the one that has begun goes on to its end."""
        if not self.paused:
            since = time.time()
            with self._journal.transaction():
                self._record.pause(since)
                self._note_reach()
            self.gate.paused = since

    def resume(self) -> None:
        if self.paused:
            with self._journal.transaction():
                self._record.pause(None)
            self.gate.paused = None
            self._opened()

    def heard(self, status: Status) -> None:
        """Another party may have paused the run, or let it go on."""
        pausing = self.gate.pausing
        if status.state == PAUSED and status.seat not in pausing:
            pausing.add(status.seat)
            with self._journal.transaction():
                self._note_reach()
        elif status.state != PAUSED and status.seat in pausing:
            pausing.remove(status.seat)
            self._opened()

    def left(self, seat: str) -> None:
        """A party has left the run for good: whether it has paused it does not matter any more."""
        if seat in self.gate.pausing:
            self.gate.pausing.remove(seat)
            self._opened()

    def _note_reach(self) -> None:
        self._record.reach(self.gate.begun, self.gate.passed)

    def note(self, held: int, opens: float, others: Iterable[Status]) -> str:
        """What this party's operator should know: its own round that is held, or the others'."""
        if self.gate.paused is not None:
            return (
                f"paused by you since {moment(self.gate.paused)}: "
                f"`lotor runs resume {self._agreement.run}` goes on"
            )
        if self.gate.pausing or self.pace.free:
            return ""
        waiting = [(held, opens), *((one.held, one.opens) for one in others)]
        # A party that does not take part in every round may wait for a later one.
        t, when = min((one for one in waiting if one[0]), default=(0, 0.0))
        if self.pace.on_demand:
            return self._waits_for_grant() if t > self.gate.allowed else ""
        if self.pace.every < SHOWN_SECONDS or when <= time.time():
            return ""
        return f"the next round begins at {moment(when)}"

    def _waits_for_grant(self) -> str:
        if self.opens:
            return f"waits for `lotor runs next {self._agreement.run}`"
        return f"waits until the {self._agreement.form.opener} lets the next round begin"


def _signed_part(rounds: int) -> bytes:
    return msgspec.msgpack.encode(rounds)
