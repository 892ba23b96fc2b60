"""What the terms of the dealt form add: how its turns are counted, and what keeps to its limits."""

from hashlib import sha256

from lotor.core.errors import ProtocolError
from lotor.policies import Policy
from lotor.protocols.revealing import COUNTS
from lotor.protocols.samba.terms import SambaTerms
from lotor.protocols.two_server.schedule import ServerSeats

SEATS = ServerSeats("controller", "comp", "dealer")

# What is dealt for one turn must fit in a frame of 16 MiB: a test computes it.
MOST_ARMS = 1 << 14


class SambaDealtTerms(SambaTerms, frozen=True):
    """A turn is one iteration of one round: a step of the two servers, with pads of its own."""

    @property
    def digest(self) -> bytes:
        """Equal at two parties only if their terms are equal."""
        return sha256(b"lotor/samba-dealt terms" + self.to_bytes()).digest()

    def turn(self, t: int, l: int) -> int:
        """The number of round t's iteration l, from 1 on."""
        return (t - self.first) * self.iterations + l

    @property
    def end(self) -> int:
        """The place of the totals, behind all turns and what the customer is told besides."""
        return self.argmaxes + 1 + (self.reveal == COUNTS)

    @property
    def told(self) -> int:
        """The place of what the customer is told besides, behind the turns of all rounds."""
        return self.turns + 1

    def check(self, run: str, policy: Policy) -> None:
        super().check(run, policy)
        if self.k > MOST_ARMS:
            raise ProtocolError(
                f"customer ordered a run of {self.k} arms, and what is dealt for more than "
                f"{MOST_ARMS} does not fit in a message: order it with fewer arms"
            )
