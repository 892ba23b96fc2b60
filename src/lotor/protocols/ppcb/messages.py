"""PPCB's own messages, with the lines of Algorithm 1 that they carry out.

What the servers exchange with each other and with the dealer is in two_server/messages.py.
"""

from lotor.protocols.two_server.messages import PlacedMessage, PlacedShares

WIRE = "ppcb/4/"


class Next(PlacedMessage, frozen=True, tag=WIRE + "next"):
    """Second server to a feature party: contexts were used, and as many more may be shared."""


class Features(PlacedShares, frozen=True, tag=WIRE + "features"):
    """Line 6, a feature party to the second server: its share of [x_t,p]."""


class OneHot(PlacedShares, frozen=True, tag=WIRE + "one-hot"):
    """Line 16, each server to p': its share of the chosen arm as a one-hot vector."""


class Acted(PlacedMessage, frozen=True, tag=WIRE + "acted"):
    """p' to the first server: the arm of this step was pulled."""


class Due(PlacedMessage, frozen=True, tag=WIRE + "due"):
    """First server to p'': the arm of this step was pulled, and its reward is due."""


class Reward(PlacedShares, frozen=True, tag=WIRE + "reward"):
    """Line 19, p'' to the second server: its share of [r_t]."""


class AllPulled(PlacedMessage, frozen=True, tag=WIRE + "all-pulled"):
    """First server to p'': the last arm of a run that only predicts was pulled."""
