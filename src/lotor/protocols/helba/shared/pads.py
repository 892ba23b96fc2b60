"""What covers a user's numbers: pads of sums, which all users know, and shares chosen ahead.

The update of round t is covered by pad(t) - pad(t - 1), so that the sum of all updates up to it is
covered by pad(t) alone, whichever users sent them.
"""

from collections.abc import Sequence

import numpy as np

from lotor.crypto.garbling import bits_of_integers, residue_width
from lotor.crypto.residues import Numbers, Residues, ResidueSource
from lotor.protocols.garbled.garbler import Bits
from lotor.protocols.garbled.schedule import CircuitBatch
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


class ChosenShares:
    """The user's shares of all scores, as it chooses them ahead: uniform, from a key of its own.

    Within a round it tells the server how far the shares that came out of products are from these.
    """

    def __init__(self, key: bytes, setting: HelbaSharedSetting) -> None:
        self._arms = setting.terms.arms
        moduli = [call.modulus for call in setting.score_products(1)]
        self._sources = [(ResidueSource(key, modulus), modulus) for modulus in moduli]

    def __repr__(self) -> str:
        return "<ChosenShares>"

    def choices(self, batch: CircuitBatch) -> tuple[Bits, ...]:
        """Their bits in all turns of a batch, (bits, arms, turns) for each of the inputs."""
        found = []
        for label, (_, modulus) in enumerate(self._sources):
            width = residue_width(int(modulus.product))
            each = [
                bits_of_integers([int(n) for n in self._numbers(label, turn)], width)
                for turn in batch.turns
            ]
            found.append(np.stack(each, axis=-1))
        return tuple(found)

    def differences(self, turn: int, shares: Sequence[Residues]) -> list[Residues]:
        """How far shares are from those that were chosen, (arms, primes) for each of the inputs."""
        return [
            modulus.subtract(share, modulus.residues(self._numbers(label, turn)))
            for label, ((_, modulus), share) in enumerate(zip(self._sources, shares, strict=True))
        ]

    def _numbers(self, label: int, turn: int) -> Numbers:
        source, _ = self._sources[label]
        return source.numbers(label, turn, self._arms)
