"""What a run needs of the daemon that it lives in."""

from typing import Protocol as Interface

from lotor.core.errors import LotorError
from lotor.crypto.certificates import Certificate
from lotor.protocols.deployment import Offer
from lotor.runtime.daemon.answering import Answering
from lotor.runtime.daemon.logs import RunLog
from lotor.runtime.durable.frames import Frame
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
    def pulls(self) -> bool:
        """Whether this party can be asked for rewards."""

    @property
    def data(self) -> object:
        """What this party brings to its protocols beside pulls."""

    @property
    def repeatable(self) -> bool:
        """Whether a pull may be asked again by its decision's id."""

    @property
    def wait(self) -> float: ...

    def send(self, name: str, frame: Frame) -> None:
        """To the party with this name, if it is connected."""

    def present(self, member: Certificate) -> bool:
        """Whether this very party, by its key, is connected."""

    def neighbours(self) -> list[str]:
        """The names of who is connected."""

    def away(self, name: str) -> float:
        """For how many seconds it has not been connected."""

    def answering(self, host: Host, log: RunLog) -> Answering | None:
        """How pulls are answered here; None where nothing is pulled."""

    def fatal(self, error: LotorError) -> None:
        """The daemon cannot go on."""
