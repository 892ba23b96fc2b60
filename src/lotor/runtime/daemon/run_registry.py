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
from lotor.runtime.daemon.consent import RunRequest, objections
from lotor.runtime.daemon.frames import Open
from lotor.runtime.daemon.live_run import LiveRun
from lotor.runtime.daemon.logs import RunLog
from lotor.runtime.daemon.run_context import RunContext
from lotor.runtime.durable.host import first_snapshot
from lotor.runtime.durable.journal import ENDED, REFUSED, RUNNING, STOPPED, WAITING, RunRow

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
        unsettled, rows = journal.unsettled(), journal.runs()
        journal.stores.sweep([row.id for row in rows if row.state in (RUNNING, WAITING)])
        for row in rows:
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
        except JournalWriteError:
            raise
        except LotorError as error:
            # Another version may be able to: leave it as it is.
            self.runs.pop(row.id, None)
            self.aside.add(row.id)
            log = RunLog(_log, row.id)
            log.error(f"cannot go on: {error}", extra={"event": "cannot-resume"})

    def explain(self, name: str, run: str) -> None:
        """Tell a peer why a run that is set aside does not go on here."""
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
        if run in self.aside and row is not None and row.state in (RUNNING, WAITING):
            self._journal.change(run, STOPPED, reason)
            for name in self._connections.names():
                self.explain(name, run)

    def announced(self, name: str, frame: Open) -> None:
        """A peer tells of a run, perhaps not for the first time."""
        live = self.runs.get(frame.run)
        if live is None:
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
                self._consider(agreement)
            except InputError as error:
                self._decline(name, frame, error)
            return
        if live.agreement.signed != frame.announcement:
            raise ProtocolError(
                f"{name} announced run {frame.run} again, with other contents: the first counts"
            )
        if not live.open and live.peers.seat_of(name) is not None:
            live.tell()
            live.statuses.repeat(name)

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

    def _consider(self, agreement: RunAgreement) -> None:
        """A new run: start it, or let it wait for approval."""
        plan, opener = agreement.plan, agreement.opener.subject.name
        request = RunRequest(
            run=agreement.run,
            opener=opener,
            protocol=agreement.announcement.protocol,
            policy=plan.policy,
            budget=plan.budget,
            owners=plan.owners,
            privacy=plan.privacy,
            code=foreign_code(agreement.announcement),
        )
        against: list[str] = []
        if self._context.config.consent is not None or self._context.config.owner is not None:
            against = objections(self._context.config.consent, request, self._journal.spent())
        note = "; ".join(against)
        live = LiveRun(agreement, self._context, WAITING if against else RUNNING, note)
        # Before anything is written down: this party may lack what its seat needs.
        snapshot = None if against else first_snapshot(live.new_party())
        self.add(live, snapshot)
        if against:
            live.log.warning(
                f"{opener} asks for a run of {agreement.announcement.protocol} in the form "
                f"{agreement.form.name}, of {plan.policy} with {plan.budget} pulls, which "
                f"waits for `lotor runs approve {agreement.run}`: {note}",
                extra={"event": "waiting"},
            )
            # The announcement goes first: those peers may have heard of the run from nobody else.
            for peer in live.peers.present().values():
                live.greet(peer)
            live.tell()
        else:
            live.resume()

    def approve(self, live: LiveRun) -> None:
        """Start a run that waited for approval."""
        try:
            snapshot = first_snapshot(live.new_party())
        except InputError as error:
            live.end(REFUSED, f"{live.seat}: {error}")
            return
        repeatable = self._context.resources.repeatable
        self._journal.begin(live.run, snapshot, repeatable=repeatable)
        live.state, live.note = RUNNING, ""
        live.resume()

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
        self._journal.add(row, snapshot, repeatable=self._context.resources.repeatable)
        self.runs[agreement.run] = live
