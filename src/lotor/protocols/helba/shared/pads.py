"""What covers the numbers that a user sends: pads of sums, which all users know.

The update of round t is covered by pad(t) - pad(t - 1), so that the sum of all updates up to it is
covered by pad(t) alone, whichever users sent them.
"""

from collections.abc import Sequence

import numpy as np

from lotor.crypto.residues import Numbers, Residues, ResidueSource
from lotor.protocols.helba.shared.setting import HelbaSharedSetting

_PADS = 0


class UserPads:
    """Pads of V (symmetric, so only one of two equal entries is covered), of g, and of a count."""

    def __init__(self, key: bytes, setting: HelbaSharedSetting) -> None:
        self._setting = setting
        self._source = ResidueSource(key, setting.modulus)

    def __repr__(self) -> str:
        return "<UserPads>"

    def first(self) -> Residues:
        """The update before round 1, which brings the ridge."""
        return self._covered(0, first_numbers(self._setting))

    def update(self, t: int, x: Sequence[int], reward: int) -> Residues:
        """What the server adds to its sums after round t."""
        return self._covered(t, update_numbers(self._setting, x, reward))

    def after(self, t: int) -> tuple[Numbers, Numbers, int]:
        """The pads of V, of g and of the count, once the updates up to that of round t are in."""
        return unpacked(self._pad(t), self._setting)

    def _covered(self, t: int, numbers: Numbers) -> Residues:
        covered = numbers + self._pad(t)
        if t > 0:
            covered = covered - self._pad(t - 1)
        return self._setting.modulus.residues(covered)

    def _pad(self, t: int) -> Numbers:
        return self._source.numbers(_PADS, t, self._setting.sums)


def first_numbers(setting: HelbaSharedSetting) -> Numbers:
    """V before round 1, which is the ridge; g, which is 0; and that this counts as one update."""
    diagonal = [setting.index.ridge * (a == b) for a, b in setting.pairs]
    return np.array([*diagonal, *[0] * setting.terms.d, 1], object)


def update_numbers(setting: HelbaSharedSetting, x: Sequence[int], reward: int) -> Numbers:
    """x x^T, r x and a count of 1."""
    squares = [x[a] * x[b] for a, b in setting.pairs]
    return np.array([*squares, *(reward * number for number in x), 1], object)


def unpacked(numbers: Numbers, setting: HelbaSharedSetting) -> tuple[Numbers, Numbers, int]:
    """A matrix, a vector and a count from their numbers in a row."""
    d = setting.terms.d
    matrix = np.empty((d, d), object)
    for (a, b), number in zip(setting.pairs, numbers, strict=False):
        matrix[a, b] = matrix[b, a] = number
    return matrix, numbers[-1 - d : -1], int(numbers[-1])
