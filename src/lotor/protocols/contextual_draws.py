"""The draws that decide a contextual run besides the scores: exploration, and which of equals wins.

Each of two servers draws its part under a key of its own; only both parts together say whether a
round explores and which arm it explores, so no party alone knows either.
"""

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from lotor.core.errors import InputError
from lotor.crypto.prf import ROUNDS_AHEAD, Prf
from lotor.protocols.party import Run

SERVERS = ("ppcb server 0", "ppcb server 1")
"""The purposes of the servers' keys."""

COINS = 1 << 64
"""How many values a coin has."""

_COIN, _TURN, _ORDER = range(3)


def threshold(epsilon: float) -> int:
    """How many of the 2^64 values of a coin mean exploring, for a probability of epsilon.

    >>> threshold(0.5) == 2**63, threshold(0), threshold(1) == 2**64
    (True, 0, True)
    """
    if not 0 <= epsilon <= 1:
        raise InputError(f"epsilon is a probability: give a number from 0 to 1, not {epsilon}")
    exploring = round(Fraction(epsilon) * COINS)
    if exploring == 0 and epsilon > 0:
        raise InputError(
            f"epsilon is {epsilon}, which 64 bits cannot tell from 0: give 0 or at least 1e-19"
        )
    return exploring


class ServerDraws:
    """One server's part of all draws: functions of its key and the round, never of an order."""

    def __init__(self, key: bytes, k: int) -> None:
        self._k = k
        self._rounds = Prf(key, ahead=ROUNDS_AHEAD)
        self._arms = Prf(key, range(k))

    def __repr__(self) -> str:
        return f"<ServerDraws for {self._k} arms>"

    def coin(self, t: int) -> int:
        """A uniform number below 2^64."""
        (word,) = self._rounds.integers(_COIN, t, 0)
        return word

    def turn(self, t: int) -> int:
        """A uniform arm; the sum of both servers' arms, modulo k, is the one explored."""
        (word,) = self._rounds.integers(_TURN, t, 0)
        return word * self._k >> 64

    def order(self, t: int) -> NDArray[np.intp]:
        """The rank of each arm, from 0 to k - 1, in a random order of them."""
        words = self._arms.words(_ORDER, t, 0)
        return np.argsort(np.argsort(words, kind="stable"), kind="stable")


class ContextualDraws:
    """Both servers' parts together, which only a simulation in the clear may have."""

    def __init__(self, servers: tuple[ServerDraws, ServerDraws], k: int, exploring: int) -> None:
        self._first, self._second = servers
        self._k = k
        self._exploring = exploring

    @classmethod
    def simulated(cls, run: Run, epsilon: float) -> "ContextualDraws":
        """The draws of a simulation, from its seed: the same for plain and secure."""
        first, second = (ServerDraws(run.draw_key(purpose), run.k) for purpose in SERVERS)
        return cls((first, second), run.k, threshold(epsilon))

    def __repr__(self) -> str:
        return f"<ContextualDraws for {self._k} arms>"

    def explores(self, t: int) -> bool:
        """Whether round t takes a uniform arm instead of the one of the best score."""
        return (self._first.coin(t) ^ self._second.coin(t)) < self._exploring

    def arm(self, t: int) -> int:
        """The arm that round t takes if it explores."""
        return (self._first.turn(t) + self._second.turn(t)) % self._k

    def ranks(self, t: int) -> NDArray[np.intp]:
        """The ranks of round t: of equal scores, the arm with the larger rank wins."""
        return self._first.order(t)
