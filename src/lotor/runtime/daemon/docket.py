"""All runs of one party: those in its journal, and those that are announced to it."""

import logging
import time
from collections.abc import Mapping

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
from lotor.protocols.deployment import Deployment
from lotor.runtime.daemon import announcement
from lotor.runtime.daemon import status as statuses
from lotor.runtime.daemon.announcement import Table
from lotor.runtime.daemon.config import PartyConfig
from lotor.runtime.daemon.consent import Wish, objections
from lotor.runtime.daemon.frames import Open
from lotor.runtime.daemon.house import House
from lotor.runtime.daemon.kit import Kit
from lotor.runtime.daemon.live_run import LiveRun
from lotor.runtime.daemon.logs import RunLog
from lotor.runtime.durable.host import first_snapshot
from lotor.runtime.durable.journal import ENDED, REFUSED, RUNNING, STOPPED, WAITING, RunRow

MOST_OPEN = 100
MOST_ASIDE = 1000
_log = logging.getLogger("lotor.daemon")


class Docket:
    """The runs, by id. What others say about those set `aside` is of no use here."""

    def __init__(
        self, house: House, kit: Kit, config: PartyConfig, deployments: Mapping[str, Deployment]
    ) -> None:
        self.runs: dict[str, LiveRun] = {}
        self.aside: set[str] = set()
        self._house = house
        self._kit = kit
        self._config = config
        self._deployments = deployments

    def restore(self) -> None:
        """Go on with every run that has not ended."""
        journal = self._house.journal
        unsettled, rows = journal.unsettled(), journal.runs()
        journal.stores.sweep([row.id for row in rows if row.state in (RUNNING, WAITING)])
        for row in rows:
            self._restore(row, going_on=row.state == RUNNING or row.id in unsettled)

    def _restore(self, row: RunRow, *, going_on: bool) -> None:
        try:
            table = announcement.check(
                row.announcement,
                row.signature,
                deployments=self._deployments,
                trust=None,
                key=self._kit.key,
            )
            live = self.runs[row.id] = LiveRun(table, self._house, row.state, row.note)
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
        row = self._house.journal.find(run)
        identity = (
            None if row is None else announcement.claimed(row.announcement, run, self._kit.key)
        )
        if row is None or identity is None:
            return
        ended = row.state in ENDED
        text = row.note if ended else f"{identity.name} cannot go on with this run: see its log"
        state = row.state if ended else statuses.BLOCKED
        self._house.send(name, statuses.make(identity, run, state, text, 0, 0.0))

    def stop_aside(self, run: str, reason: str) -> None:
        """End a run that cannot go on here; peers hear of it when they ask."""
        row = self._house.journal.find(run)
        if run in self.aside and row is not None and row.state in (RUNNING, WAITING):
            self._house.journal.change(run, STOPPED, reason)
            for name in self._house.neighbours():
                self.explain(name, run)

    def announced(self, name: str, frame: Open) -> None:
        """A peer tells of a run, perhaps not for the first time."""
        live = self.runs.get(frame.run)
        if live is None:
            try:
                table = announcement.check(
                    frame.announcement,
                    frame.signature,
                    deployments=self._deployments,
                    trust=self._kit.fresh_trust(),
                    key=self._kit.key,
                )
            except (VersionError, CertificateError) as error:
                self._decline(name, frame, error)
                return
            if table.run != frame.run:
                raise ProtocolError(f"{name} announced one run under the name of another")
            if self._open_for(table.opener) >= MOST_OPEN:
                who = table.opener.subject.name
                text = f"{who} has {MOST_OPEN} runs open already: let some end first"
                self._decline(name, frame, ConsentError(text))
                return
            try:
                self._consider(table)
            except InputError as error:
                self._decline(name, frame, error)
            return
        if live.table.signed != frame.announcement:
            raise ProtocolError(
                f"{name} announced run {frame.run} again, with other contents: the first counts"
            )
        if not live.open and live.seat_of(name) is not None:
            live.tell()
            live.bulletin.repeat(name)

    def _open_for(self, opener: Certificate) -> int:
        """How many runs of one opener have not ended: each of them takes room here."""
        return sum(
            live.state in (RUNNING, WAITING) and live.table.opener.key_bytes == opener.key_bytes
            for live in self.runs.values()
        )

    def _decline(self, name: str, frame: Open, error: LotorError) -> None:
        """Say why this party cannot take part: who passes the run on may know no better."""
        identity = announcement.claimed(frame.announcement, frame.run, self._kit.key)
        if identity is None or len(self.aside) >= MOST_ASIDE:
            raise error
        self.aside.add(frame.run)
        RunLog(_log, frame.run).warning(
            f"declined: {error}", extra={"event": "declined", "peer": name}
        )
        status = statuses.make(identity, frame.run, REFUSED, f"{identity.name}: {error}", 0, 0.0)
        self._house.send(name, status)

    def _consider(self, table: Table) -> None:
        """A new run: start it, or let it wait for approval."""
        plan, customer = table.plan, table.opener.subject.name
        wish = Wish(
            run=table.run,
            customer=customer,
            protocol=table.deployment.name,
            policy=plan.policy,
            budget=plan.budget,
            owners=plan.owners,
            privacy=plan.privacy,
        )
        against: list[str] = []
        if self._config.consent is not None or self._config.owner is not None:
            against = objections(self._config.consent, wish, self._house.journal.spent())
        note = "; ".join(against)
        live = LiveRun(table, self._house, WAITING if against else RUNNING, note)
        # Before anything is written down: this party may lack what its seat needs.
        snapshot = None if against else first_snapshot(live.new_party())
        self.add(live, snapshot)
        if against:
            live.log.warning(
                f"{customer} asks for a run of {plan.policy} with {plan.budget} pulls, which "
                f"waits for `lotor runs approve {table.run}`: {note}",
                extra={"event": "waiting"},
            )
            live.tell()
            for peer in live.there().values():
                live.greet(peer)
        else:
            live.resume()

    def add(self, live: LiveRun, snapshot: bytes | None) -> None:
        """Write a new run down and keep it."""
        table, now = live.table, time.time()
        row = RunRow(
            id=table.run,
            announcement=table.signed,
            signature=table.signature,
            seat=table.seat,
            state=live.state,
            note=live.note,
            created=now,
            changed=now,
            version=VERSION,
            budget=table.plan.budget,
        )
        self._house.journal.add(row, snapshot, repeatable=self._house.repeatable)
        self.runs[table.run] = live
