"""What all runs of one party share: its kit, its rules, its journal, its peers."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from lotor.core.errors import LotorError
from lotor.protocols.earlier import Earlier
from lotor.protocols.form import Assignment
from lotor.protocols.protocol import SecureProtocol
from lotor.protocols.store import Store
from lotor.runtime.daemon.announcement import RunAgreement
from lotor.runtime.daemon.clock import Clock
from lotor.runtime.daemon.config import PartyConfig
from lotor.runtime.daemon.connections import Connections
from lotor.runtime.daemon.kit import Kit
from lotor.runtime.daemon.resources import PartyResources
from lotor.runtime.daemon.state_seal import StateSeal
from lotor.runtime.durable.journal import Journal


@dataclass(slots=True, repr=False)
class RunContext:
    """`fatal` ends the daemon: it is called when nothing can be written down any more."""

    kit: Kit
    config: PartyConfig
    journal: Journal
    resources: PartyResources
    connections: Connections
    protocols: Mapping[str, type[SecureProtocol]]
    clock: Clock
    fatal: Callable[[LotorError], None]

    @property
    def seal(self) -> StateSeal:
        """Seals what this party keeps after runs."""
        return StateSeal(self.kit.key, self.kit.subject.name)

    def assignment(
        self, agreement: RunAgreement, store: Store, earlier: Earlier | None = None
    ) -> Assignment:
        """All that this party needs to be built for a run; to be built again, nothing `earlier`."""
        trial = self.config.trial
        return Assignment(
            run=agreement.run,
            seat=agreement.seat,
            order=agreement.announcement.order,
            identity=agreement.identity,
            contribution=self.resources.contribution,
            seed=None if trial is None else trial.seed,
            brings=self.resources.brings,
            data=self.resources.data,
            store=store,
            workers=self.config.limits.workers,
            earlier=earlier,
        )
