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
        setting = self._setting
        diagonal = [setting.index.ridge * (a == b) for a, b in setting.pairs]
        return self._covered(0, [*diagonal, *[0] * setting.terms.d])

    def update(self, t: int, x: Sequence[int], reward: int) -> Residues:
        """What the server adds to its sums after round t."""
        pairs = [x[a] * x[b] for a, b in self._setting.pairs]
        return self._covered(t, [*pairs, *(reward * number for number in x)])

    def after(self, t: int) -> tuple[Numbers, Numbers, int]:
        """The pads of V, of g and of the count, once the updates up to that of round t are in."""
        return unpacked(self._pad(t), self._setting)

    def _covered(self, t: int, numbers: list[int]) -> Residues:
        covered = np.array([*numbers, 1], object) + self._pad(t)
        if t > 0:
            covered = covered - self._pad(t - 1)
        return self._setting.modulus.residues(covered)

    def _pad(self, t: int) -> Numbers:
        return self._source.numbers(_PADS, t, self._setting.sums)


def unpacked(numbers: Numbers, setting: HelbaSharedSetting) -> tuple[Numbers, Numbers, int]:
    """A matrix, a vector and a count from their numbers in a row."""
    d = setting.terms.d
    matrix = np.empty((d, d), object)
    for (a, b), number in zip(setting.pairs, numbers, strict=False):
        matrix[a, b] = matrix[b, a] = number
    return matrix, numbers[-1 - d : -1], int(numbers[-1])
