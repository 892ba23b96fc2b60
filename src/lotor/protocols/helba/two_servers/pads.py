"""What covers all that a user sends to the server: pads that it has in common with the pad server.

Each user has a key of its own. The server has numbers plus pads, and the pad server minus the pads:
two shares.
"""

from collections.abc import Sequence

import numpy as np

from lotor.crypto.residues import Numbers, Residues, ResidueSource
from lotor.protocols.helba.two_servers.setting import HelbaTwoServersSetting
from lotor.protocols.helba.two_servers.totals import TOTAL_MODULUS

_UPDATES, _TOTAL, _CONTEXTS = range(3)


class OwnPads:
    """The pads of one user, each for one number for ever."""

    def __init__(self, key: bytes, setting: HelbaTwoServersSetting) -> None:
        self._setting = setting
        self._key = key
        self._sums = ResidueSource(key, setting.modulus)

    def __repr__(self) -> str:
        return "<OwnPads>"

    def update(self, t: int) -> Numbers:
        """For V, g and the count, after round t."""
        return self._sums.numbers(_UPDATES, t, self._setting.sums)

    def contexts(self, t: int) -> list[Numbers]:
        """For the features of round t, (arms, features) for each scalar product."""
        setting, arms = self._setting, self._setting.terms.arms
        found = []
        for part, (modulus, width) in enumerate(
            zip(setting.score_moduli, setting.widths, strict=True)
        ):
            source = ResidueSource(self._key, modulus)
            found.append(source.numbers(_CONTEXTS + part, t, arms * width).reshape(arms, width))
        return found

    def total(self) -> Numbers:
        """For the sum of rewards, and for how many there are."""
        return ResidueSource(self._key, TOTAL_MODULUS).numbers(_TOTAL, 0, 2)


def padded_contexts(
    setting: HelbaTwoServersSetting,
    features: Sequence[Sequence[Sequence[int]]],
    pads: Sequence[Numbers],
) -> list[Residues]:
    """The features of all arms plus the pads, (arms, features, primes) for each scalar product."""
    return [
        modulus.residues(np.array([each[part] for each in features], object) + pad)
        for part, (modulus, pad) in enumerate(zip(setting.score_moduli, pads, strict=True))
    ]
