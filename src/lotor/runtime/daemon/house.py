"""What a run needs of the daemon that it lives in."""

from typing import Protocol as Interface

from lotor.core.errors import LotorError
from lotor.crypto.certificates import Certificate
from lotor.protocols.deployment import Offer
from lotor.runtime.daemon.answering import Answering
from lotor.runtime.daemon.logs import RunLog
from lotor.runtime.durable.frames import RunFrame
from lotor.runtime.durable.host import Host
from lotor.runtime.durable.journal import Journal


class House(Interface):
    """What a run needs of its daemon."""

    @property
    def journal(self) -> Journal: ...

    @property
    def offer(self) -> Offer: ...

    @property
    def trial_seed(self) -> int | None: ...

    @property
    def brings(self) -> frozenset[str]:
        """What this party has of "pull", "act", "features" and "model"."""

    @property
    def data(self) -> object:
        """The model that this party brings to its protocols."""

    @property
    def repeatable(self) -> bool:
        """Whether this party may be asked again by a decision's id."""

    @property
    def wait(self) -> float: ...

    @property
    def workers(self) -> int:
        """With how many processes a party here may compute."""

    def send(self, name: str, frame: RunFrame) -> None:
        """To the party with this name, if it is connected."""

    def present(self, member: Certificate) -> bool:
        """Whether this very party, by its key, is connected."""

    def neighbours(self) -> list[str]:
        """The names of who is connected."""

    def away(self, name: str) -> float:
        """For how many seconds it has not been connected."""

    def answering(self, host: Host, log: RunLog) -> Answering | None:
        """How questions are answered here; None where nothing can be asked."""

    def fatal(self, error: LotorError) -> None:
        """The daemon cannot go on."""
