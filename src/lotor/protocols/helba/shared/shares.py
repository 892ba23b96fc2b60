"""Shares of scores: the evaluator chooses its own ahead, and the garbler has what is missing."""

from collections.abc import Sequence

import numpy as np

from lotor.crypto.garbling import bits_of_integers, residue_width, summand_bits
from lotor.crypto.residues import Numbers, Residues, ResidueSource
from lotor.protocols.garbled.garbler import Bits
from lotor.protocols.garbled.schedule import CircuitBatch
from lotor.protocols.helba.shared.setting import WORD_BYTES, HelbaSharedSetting
from lotor.protocols.helba.shared.wire import from_words


class ChosenShares:
    """The evaluator's shares of all scores, chosen ahead: uniform, from a key of its own.

    Within a round it tells the garbler how far the shares that came out of products are from these.
    """

    def __init__(self, key: bytes, setting: HelbaSharedSetting) -> None:
        self._arms = setting.terms.arms
        self._sources = [(ResidueSource(key, modulus), modulus) for modulus in setting.score_moduli]

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


def garbler_bits(
    setting: HelbaSharedSetting, shares: Sequence[Residues], covered: bytes, evaluator: str
) -> list[Bits]:
    """The garbler's inputs: its shares plus what the evaluator's are from chosen ones.

    The first ones also have the offset of scores.
    """
    bits: list[Bits] = []
    offsets = setting.windows.offset, 0
    for modulus, share, offset in zip(setting.score_moduli, shares, offsets, strict=False):
        size = WORD_BYTES * share.size
        here, covered = covered[:size], covered[size:]
        both = modulus.add(share, from_words(here, modulus, evaluator))
        numbers = (modulus.whole(both) + offset) % modulus.product
        bits += summand_bits([int(number) for number in numbers], int(modulus.product))
    return bits
