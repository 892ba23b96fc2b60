"""Parties of one run that are lost for good: who agrees to go on without them, and who has left.

Each operator agrees for its own party. Everybody keeps all agreements and passes them on; the party
that waits for the lost one goes on once all others agree and the time of the terms is over.
"""

from collections.abc import Mapping

from lotor.core.effects import Exclusion
from lotor.core.errors import ProtocolError
from lotor.protocols.exclusion import agree, check_agreement, check_exclusion, excludable
from lotor.runtime.daemon.announcement import RunAgreement
from lotor.runtime.daemon.frames import ExclusionAgreed, PartiesExcluded
from lotor.runtime.daemon.run_context import RunContext
from lotor.runtime.daemon.run_peers import Absence, RunPeers
from lotor.runtime.daemon.status import LAST_MOMENT
from lotor.runtime.durable.losses import AgreedTo, Excluded


class RunLosses:
    """The agreements and exclusions of one run, at one party."""

    def __init__(self, agreement: RunAgreement, context: RunContext, peers: RunPeers) -> None:
        self._agreement = agreement
        self._plan = agreement.plan
        self._journal = context.journal
        self._connections = context.connections
        self._peers = peers
        self._record = context.journal.losses(agreement.run)
        self._agreed = {(one.party, one.signer): one for one in self._record.agreements()}
        self._exclusions = [one.exclusion for one in self._record.exclusions()]
        peers.leave(self.gone)

    @property
    def gone(self) -> set[str]:
        """The seats that have left the run."""
        return {seat for one in self._exclusions for seat in one.away}

    @property
    def _there(self) -> set[str]:
        return set(self._agreement.members) - self.gone

    def agree(self, party: str, since: float) -> None:
        """This party's operator agrees to go on without a party that is away since then."""
        own = self._agreement
        if self._plan.exclude_after is not None and party in self._plan.excludable:
            signature = agree(own.identity, own.run, party, since)
            self._keep(AgreedTo(party, own.seat, since, signature))

    def hear(self, said: ExclusionAgreed | PartiesExcluded, sender: str) -> Exclusion | None:
        """Take what a peer passes on, if it is signed; what is new of who has left."""
        named = {said.party} if isinstance(said, ExclusionAgreed) else said.exclusion.away.keys()
        if self._plan.exclude_after is None or not named <= set(self._plan.excludable):
            raise ProtocolError(
                f"{sender} sent an exclusion of {', '.join(sorted(named))} in run {said.run}, "
                "whose terms do not allow it: it is out of step, or runs another program"
            )
        if isinstance(said, PartiesExcluded):
            return self._hear_exclusion(said.exclusion)
        self._hear_agreement(said, sender)
        return None

    def _hear_agreement(self, said: ExclusionAgreed, sender: str) -> None:
        known = self._agreed.get((said.party, said.seat))
        if said.party in self.gone or (known is not None and known.since >= said.since):
            return
        identity = self._agreement.identity
        if not 0 <= said.since < LAST_MOMENT:
            raise ProtocolError(f"{sender} sent an agreement about a time that cannot be")
        signed = said.party, said.since, said.signature
        check_agreement(identity, said.run, said.seat, *signed)
        self._keep(AgreedTo(said.party, said.seat, said.since, said.signature), but=sender)

    def _hear_exclusion(self, exclusion: Exclusion) -> Exclusion | None:
        own = self._agreement
        # The one that everybody talks to says where in the run it is; all others are told by it.
        if own.seat in own.form.hubs or exclusion.away.keys() <= self.gone:
            return None
        check_exclusion(own.identity, own.run, exclusion, sorted(self._there))
        with self._journal.transaction():
            self._record.add(Excluded(exclusion))
        self.excluded(exclusion)
        return exclusion

    def _keep(self, agreed: AgreedTo, *, but: str = "") -> None:
        with self._journal.transaction():
            self._record.agree(agreed)
        self._agreed[agreed.party, agreed.signer] = agreed
        for name in self._peers.present().values():
            if name != but:
                self._connections.send(name, self._frame(agreed))

    def excluded(self, exclusion: Exclusion) -> None:
        """It is written down: let everybody know."""
        self._exclusions.append(exclusion)
        self._peers.leave(self.gone)
        for name in self._peers.present().values():
            self._connections.send(name, PartiesExcluded(self._agreement.run, exclusion))

    def greet(self, name: str) -> None:
        """Tell a peer all that is known, also one that has left itself."""
        for agreed in self._agreed.values():
            if agreed.party not in self.gone:
                self._connections.send(name, self._frame(agreed))
        for exclusion in self._exclusions:
            self._connections.send(name, PartiesExcluded(self._agreement.run, exclusion))

    def due(self, missed: str | None, missing: Mapping[str, Absence]) -> Exclusion | None:
        """Who must be excluded now for this party to go on, which waits for the one it `missed`."""
        after, candidates = self._plan.exclude_after, set(self._plan.excludable) - self.gone
        if missed is None or after is None:
            return None
        since = {
            seat: absence.since
            for seat, absence in missing.items()
            if seat in candidates and absence.seconds >= after
        }
        agreed = {
            party: {
                one.signer: one.signature
                for one in self._agreed.values()
                if (one.party, one.since) == (party, moment)
            }
            for party, moment in since.items()
        }
        leaving = excludable(since, agreed, self._there)
        if missed not in leaving or leaving == candidates:
            return None
        staying = self._there - leaving
        return Exclusion(
            {party: since[party] for party in sorted(leaving)},
            {
                party: {signer: agreed[party][signer] for signer in sorted(staying)}
                for party in sorted(leaving)
            },
        )

    def _frame(self, agreed: AgreedTo) -> ExclusionAgreed:
        run = self._agreement.run
        return ExclusionAgreed(run, agreed.signer, agreed.party, agreed.since, agreed.signature)
