"""All runs of one party: those in its journal, and those that are announced to it."""

import logging
import time

from lotor.core.errors import (
    CertificateError,
    ConsentError,
    InputError,
    JournalWriteError,
    LotorError,
    ProtocolError,
    VersionError,
)
from lotor.core.version import VERSION
from lotor.crypto.certificates import Certificate
from lotor.runtime.daemon import announcement
from lotor.runtime.daemon import status as statuses
from lotor.runtime.daemon.announcement import RunAgreement, foreign_code
from lotor.runtime.daemon.consent import (
    RunRequest,
    form_objections,
    keep_objections,
    objections,
)
from lotor.runtime.daemon.continuing import earlier_of
from lotor.runtime.daemon.frames import Open
from lotor.runtime.daemon.live_run import LiveRun
from lotor.runtime.daemon.logs import RunLog
from lotor.runtime.daemon.run_context import RunContext
from lotor.runtime.durable.database import errors
from lotor.runtime.durable.host import first_snapshot
from lotor.runtime.durable.journal import (
    ENDED,
    FAILED,
    REFUSED,
    RUNNING,
    STOPPED,
    WAITING,
    RunRow,
)
from lotor.runtime.durable.ledger import Charge

MOST_OPEN = 100
MOST_ASIDE = 1000
_log = logging.getLogger("lotor.daemon")


class RunRegistry:
    """The runs, by id. Frames about the runs that are set `aside` are not read."""

    def __init__(self, context: RunContext) -> None:
        self.runs: dict[str, LiveRun] = {}
        self.aside: set[str] = set()
        self._context = context
        self._journal = context.journal
        self._connections = context.connections

    def restore(self) -> None:
        """Go on with every run that has not ended."""
        journal = self._journal
        journal.sweep()
        unsettled = journal.unsettled()
        for row in journal.runs():
            self._restore(row, going_on=row.state == RUNNING or row.id in unsettled)

    def _restore(self, row: RunRow, *, going_on: bool) -> None:
        try:
            agreement = announcement.check(
                row.announcement,
                row.signature,
                protocols=self._context.protocols,
                trust=None,
                key=self._context.kit.key,
            )
            if row.state in (RUNNING, WAITING):
                announcement.check_resumable(agreement, self._context.protocols)
            live = self.runs[row.id] = LiveRun(agreement, self._context, row.state, row.note)
            if going_on:
                live.resume()
        except errors(JournalWriteError):
            raise
        except Exception as error:
            # Another version may be able to: leave it as it is.
            self.runs.pop(row.id, None)
            self.aside.add(row.id)
            log = RunLog(_log, row.id)
            why = _foreseen(error, "going on")
            log.error(f"cannot go on: {why}", extra={"event": "cannot-resume"})

    def is_aside(self, run: str) -> bool:
        """Whether frames about a run are not read: it cannot go on here, or has been pruned."""
        if run in self.aside:
            return True
        return run not in self.runs and self._journal.pruning.state(run) is not None

    def explain(self, name: str, frame: Open) -> None:
        """Tell a peer that announces a run that is set aside why it does not go on here."""
        state = self._journal.pruning.state(frame.run)
        if state is None:
            self._explain(name, frame.run)
            return
        identity = announcement.claimed(frame.announcement, frame.run, self._context.kit.key)
        if identity is None:
            return
        # One that has finished here may still have to deliver its result elsewhere: it must not end
        # there because of this.
        said = state if state in ENDED else statuses.BLOCKED
        text = f"{identity.name} has pruned this run, which is {state} there"
        self._connections.send(name, statuses.make(identity, frame.run, said, text, 0, 0.0))

    def _explain(self, name: str, run: str) -> None:
        row = self._journal.find(run)
        if row is None:
            return
        identity = announcement.claimed(row.announcement, run, self._context.kit.key)
        if identity is None:
            return
        ended = row.state in ENDED
        text = row.note if ended else f"{identity.name} cannot go on with this run: see its log"
        state = row.state if ended else statuses.BLOCKED
        self._connections.send(name, statuses.make(identity, run, state, text, 0, 0.0))

    def stop_aside(self, run: str, reason: str) -> None:
        """End a run that cannot go on here; peers hear of it when they ask."""
        row = self._journal.find(run)
        if run not in self.aside or row is None:
            return
        if row.state in (RUNNING, WAITING) or run in self._journal.unsettled():
            self._journal.end(run, STOPPED, reason)
            self._journal.stores.of(run).remove()
            for name in self._connections.names():
                self._explain(name, run)

    def prune(self, run: str) -> None:
        """Remove a run that is over from the journal; its peers hear of that when they ask."""
        if self._journal.pruning.obstacle(run) is not None:
            return  # it is gone already, or a peer has brought it back meanwhile
        self._journal.pruning.prune([run])
        self._journal.stores.of(run).remove()
        self.aside.discard(run)
        if (live := self.runs.pop(run, None)) is not None:
            live.close()
        RunLog(_log, run).info("pruned", extra={"event": "pruned"})

    def announced(self, name: str, frame: Open) -> None:
        """A peer tells of a run, perhaps not for the first time."""
        live = self.runs.get(frame.run)
        if live is None:
            self._announced_first(name, frame)
            return
        if live.agreement.signed != frame.announcement:
            raise ProtocolError(
                f"{name} announced run {frame.run} again, with other contents: the first counts"
            )
        if not live.open and live.peers.seat_of(name) is not None:
            live.tell()
            if not live.peers.is_gone(live.peers.seat_of(name)):
                live.statuses.repeat(name)
            live.losses.greet(name)

    def _announced_first(self, name: str, frame: Open) -> None:
        try:
            agreement = announcement.check(
                frame.announcement,
                frame.signature,
                protocols=self._context.protocols,
                trust=self._context.kit.fresh_trust(),
                key=self._context.kit.key,
            )
        except (VersionError, CertificateError, InputError) as error:
            self._decline(name, frame, error)
            return
        if agreement.run != frame.run:
            raise ProtocolError(f"{name} announced one run under the name of another")
        if self._open_for(agreement.opener) >= MOST_OPEN:
            who = agreement.opener.subject.name
            text = f"{who} has {MOST_OPEN} runs open already: let some end first"
            self._decline(name, frame, ConsentError(text))
            return
        try:
            live, snapshot = self._prepare(agreement)
        except JournalWriteError:
            raise
        except LotorError as error:
            self._journal.stores.of(frame.run).remove()
            self._decline(name, frame, error)
            return
        self._consider(live, snapshot)

    def _open_for(self, opener: Certificate) -> int:
        """How many runs of one opener have not ended: each of them takes room here."""
        return sum(
            live.state in (RUNNING, WAITING) and live.agreement.opener.key_bytes == opener.key_bytes
            for live in self.runs.values()
        )

    def _decline(self, name: str, frame: Open, error: LotorError) -> None:
        """Say why this party cannot take part: the peer that passes the run on is not to blame."""
        identity = announcement.claimed(frame.announcement, frame.run, self._context.kit.key)
        if identity is None or len(self.aside) >= MOST_ASIDE:
            raise error
        self.aside.add(frame.run)
        RunLog(_log, frame.run).warning(
            f"declined: {error}", extra={"event": "declined", "peer": name}
        )
        status = statuses.make(identity, frame.run, REFUSED, f"{identity.name}: {error}", 0, 0.0)
        self._connections.send(name, status)

    def _prepare(self, agreement: RunAgreement) -> tuple[LiveRun, bytes | None]:
        """A new run, with its first snapshot unless it waits for approval.

        Nothing is written down yet: this party may lack what its seat needs.
        """
        earlier_of(self._context, agreement)  # nobody is asked to approve what cannot be
        against = self._objections(agreement)
        state, note = (WAITING, "; ".join(against)) if against else (RUNNING, "")
        try:
            live = LiveRun(agreement, self._context, state, note)
        except Exception as error:
            raise _foreseen(error, "taking part") from None
        return live, None if against else _first_snapshot(live)

    def _consider(self, live: LiveRun, snapshot: bytes | None) -> None:
        """Start a new run, or let it wait for approval."""
        agreement = live.agreement
        with self._journal.transaction():
            # Again, now that no other run can be charged between the decision and the charge.
            if live.state == RUNNING and (against := self._objections(agreement)):
                live.state, live.note, snapshot = WAITING, "; ".join(against), None
            self.add(live, snapshot)
        if live.state == WAITING:
            plan, opener = agreement.plan, agreement.opener.subject.name
            live.log.warning(
                f"{opener} asks for a run of {agreement.announcement.protocol} in the form "
                f"{agreement.form.name}, of {plan.policy} with {plan.budget} pulls, which "
                f"waits for `lotor runs approve {agreement.run}`: {live.note}",
                extra={"event": "waiting"},
            )
            # The announcement goes first: those peers may have heard of the run from nobody else.
            for peer in live.peers.present().values():
                live.greet(peer)
            live.tell()
        else:
            self.begin(live)

    def _objections(self, agreement: RunAgreement) -> list[str]:
        """Why a run does not start unasked, after all that earlier ones have spent."""
        config, plan, told = self._context.config, agreement.plan, agreement.announcement
        request = RunRequest(
            run=agreement.run,
            opener=agreement.opener.subject.name,
            protocol=told.protocol,
            policy=plan.policy,
            budget=plan.budget,
            owners=plan.owners,
            privacy=plan.privacy,
            delta=plan.delta,
            code=foreign_code(told),
            form=told.form,
            better=self._context.protocols[told.protocol].better_forms(told.form),
            reveals=plan.reveals,
            keeps=agreement.keeps,
        )
        if config.takes_part_unasked:
            return [*form_objections(None, request), *keep_objections(False, request)]
        return objections(config.consent, request, self._journal.ledger.spent())

    def approve(self, live: LiveRun) -> None:
        """Start a run that waited for approval."""
        try:
            snapshot = _first_snapshot(live)
        except JournalWriteError:
            raise
        except LotorError as error:
            live.end(REFUSED, f"{live.seat}: {error}")
            return
        repeatable = self._context.resources.repeatable
        charge = _charge(live.agreement)
        self._journal.begin(live.run, snapshot, repeatable=repeatable, charge=charge)
        live.state, live.note = RUNNING, ""
        self.begin(live)

    def begin(self, live: LiveRun) -> None:
        """Let a run go that is written down; it ends if its party cannot even begin."""
        try:
            live.resume()
        except errors(JournalWriteError):
            raise
        except Exception as error:
            live.end(FAILED, f"{live.seat}: {_foreseen(error, 'the start')}")

    def add(self, live: LiveRun, snapshot: bytes | None) -> None:
        """Write a new run down and keep it."""
        agreement, now = live.agreement, time.time()
        row = RunRow(
            id=agreement.run,
            announcement=agreement.signed,
            signature=agreement.signature,
            seat=agreement.seat,
            state=live.state,
            note=live.note,
            created=now,
            changed=now,
            version=VERSION,
            budget=agreement.plan.budget,
        )
        repeatable = self._context.resources.repeatable
        self._journal.add(
            row,
            snapshot,
            repeatable=repeatable,
            charge=_charge(agreement),
            continues=agreement.plan.continues,
        )
        self.runs[agreement.run] = live


def _first_snapshot(live: LiveRun) -> bytes:
    try:
        return first_snapshot(live.new_party())
    except Exception as error:
        raise _foreseen(error, "taking part") from None


def _foreseen(error: Exception, doing: str) -> LotorError:
    """The error, or one in its place: a fault in somebody's protocol or policy."""
    if isinstance(error, LotorError):
        return error
    # The text of an error that nobody has foreseen might show what is secret.
    return ProtocolError(f"{doing} failed with {type(error).__name__}: report this")


def _charge(agreement: RunAgreement) -> Charge:
    """What a run costs this party when it starts."""
    plan, opener = agreement.plan, agreement.opener
    return Charge(
        customer=opener.subject.name,
        certificate=opener.fingerprint,
        protocol=agreement.announcement.protocol,
        form=agreement.form.name,
        policy=plan.policy,
        pulls=plan.budget,
        epsilon=plan.privacy,
        delta=plan.delta,
    )
