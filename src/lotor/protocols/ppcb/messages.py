"""PPCB's messages, with the lines of Algorithm 1 that they carry out.

`place` is where in a run a message belongs, in a fixed width. Shares are elements of Z/2^64 or
bits, little-endian, all of a width fixed for the run.
"""

from lotor.core.effects import Message

WIRE = "ppcb/1/"


class Covered(Message, frozen=True):
    """Carries a key or shares, and shows neither."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"


class Agreed(Message, frozen=True, tag=WIRE + "agreed"):
    """Every party to each server, and each server to the other: which terms it keeps."""

    digest: bytes


class PadKey(Covered, frozen=True, tag=WIRE + "pad-key"):
    """Dealer to a server: the key of its pads."""

    digest: bytes
    key: bytes


class BlindKey(Covered, frozen=True, tag=WIRE + "blind-key"):
    """First server to the second: the key of what both put on the shares that p' is sent.

    It cancels out there. Without it the dealer, who knows what else is on them, could tell
    together with p' which steps explored.
    """

    digest: bytes
    key: bytes


class InputKey(Covered, frozen=True, tag=WIRE + "input-key"):
    """A feature party, or the receiver, to the first server: the key of its shares.

    The first server's shares are functions of it, so that only the second is sent any.
    """

    digest: bytes
    key: bytes


class More(Message, frozen=True, tag=WIRE + "more"):
    """Second server to the dealer: deal the batch from this step on; it says nothing else."""

    place: bytes


class Corrections(Covered, frozen=True, tag=WIRE + "corrections"):
    """Dealer to the second server: its shares of what is dealt up to a choice.

    First for learning from the step before.
    """

    place: bytes
    shares: bytes


class Next(Message, frozen=True, tag=WIRE + "next"):
    """Second server to a feature party: contexts were used, and as many more may be shared."""

    place: bytes


class Features(Covered, frozen=True, tag=WIRE + "features"):
    """Line 6, a feature party to the second server: its share of [x_t,p]."""

    place: bytes
    shares: bytes


class Opened(Covered, frozen=True, tag=WIRE + "opened"):
    """One round: each server to the other, its shares of what is opened under a mask."""

    place: bytes
    shares: bytes


class OneHot(Covered, frozen=True, tag=WIRE + "one-hot"):
    """Line 16, each server to p': its share of the chosen arm as a one-hot vector."""

    place: bytes
    shares: bytes


class Acted(Message, frozen=True, tag=WIRE + "acted"):
    """p' to the first server: the arm of this step was pulled."""

    place: bytes


class Due(Message, frozen=True, tag=WIRE + "due"):
    """First server to p'': the same."""

    place: bytes


class Reward(Covered, frozen=True, tag=WIRE + "reward"):
    """Line 19, p'' to the second server: its share of [r_t]."""

    place: bytes
    shares: bytes
