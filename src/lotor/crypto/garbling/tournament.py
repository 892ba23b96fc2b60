"""Where the largest number is, as a one-hot vector: the first of equal ones wins.

A tournament in which the left contestant wins ties. The halves of those who are left play each
other, so that wires lie side by side; the first places are drawn so that this keeps their order.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lotor.crypto.garbling.comparison import decided
from lotor.crypto.garbling.gates import Gates, Wires


def argmax(gates: Gates, x: Wires) -> Wires:
    """(bits, places, ...) to (places, ...): 1 at the first of the largest numbers, else 0."""
    return one_hot(gates, play(gates, x))


def maximum(gates: Gates, x: Wires) -> tuple[Wires, Wires]:
    """Where the largest number is, and the number itself, (bits, 1, ...)."""
    played = play(gates, x)
    return one_hot(gates, played), played.winner(gates)


class Tournament(NamedTuple):
    """For each round whether the right contestants win, and who meets in the last one."""

    right_wins: list[Wires]
    left: Wires
    differ: Wires

    def winner(self, gates: Gates) -> Wires:
        """The largest number."""
        if not self.right_wins:
            return self.left
        (change,) = gates.both((self.right_wins[-1], self.differ))
        change ^= self.left
        return change


def play(gates: Gates, x: Wires) -> Tournament:
    """All rounds of the tournament; whoever has nobody to play goes on."""
    x = x.take(draw(x.shape[1]).places, axis=1)
    right_wins: list[Wires] = []
    if x.shape[1] == 1:
        return Tournament(right_wins, x, np.zeros_like(x))
    while True:
        matches = x.shape[1] // 2
        left, right, byes = x[:, :matches], x[:, matches : 2 * matches], x[:, 2 * matches :]
        differ = left ^ right
        right_wins.append(decided(gates, right, gates.inverted(differ)))
        if x.shape[1] == 2:
            return Tournament(right_wins, left, differ)
        (change,) = gates.both((right_wins[-1], differ))
        change ^= left
        x = np.concatenate([change, byes], axis=1) if byes.shape[1] else change


def one_hot(gates: Gates, played: Tournament) -> Wires:
    """From the last round back to the first: on which side of each match the winner was.

    One AND gate for each match but the last.
    """
    hot = gates.inverted(np.zeros_like(played.left[:1, :1]))
    for wins in reversed(played.right_wins):
        matches = wins.shape[1]
        winners, byes = hot[:, :matches], hot[:, matches:]
        right = wins if hot.shape[1] == 1 else gates.both((winners, wins))[0]
        hot = np.concatenate([winners ^ right, right, byes], axis=1)
    leaves: Wires = hot[0]
    return leaves.take(draw(len(leaves)).back, axis=0)


class StartingPlaces(NamedTuple):
    """Which number starts at each place of the tournament, and where each number is."""

    places: NDArray[np.intp]
    back: NDArray[np.intp]


@lru_cache(maxsize=64)
def draw(count: int) -> StartingPlaces:
    """Places for which left contestants always come before right ones.

    >>> draw(5).places.tolist()  # 0 meets 1, and 2 meets 3; their winners meet; 4 waits
    [0, 2, 1, 3, 4]
    """
    groups = [[place] for place in range(count)]
    while len(groups) > 1:
        matches = len(groups) // 2
        united = [groups[i] + groups[matches + i] for i in range(matches)]
        groups = united + groups[2 * matches :]
    # groups[0] lists the starting places in the order of ties.
    back = np.array(groups[0], dtype=np.intp)
    return StartingPlaces(np.argsort(back), back)
