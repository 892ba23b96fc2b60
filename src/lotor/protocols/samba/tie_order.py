"""The order of arms in which the first of equal scores wins, for servers that know the tie key."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lotor.core.draws import TIES
from lotor.crypto.prf import ROUNDS_AHEAD, Prf


class TieOrder:
    """Puts the arms in the order of their tie draws, the largest first.

    Of equal scores the first one then has the largest draw, as in plain. It costs no bits, is
    uniform, and tells the servers nothing about scores.
    """

    def __init__(self, key: bytes, numbers: Sequence[int]) -> None:
        """`numbers` are those of the arms; where some have left the run, fewer than there were."""
        self._draws = Prf(key, numbers, ahead=ROUNDS_AHEAD)

    def __repr__(self) -> str:
        return "<TieOrder>"

    def at(self, t: int, l: int) -> NDArray[np.intp]:
        """The places of the arms in their order; of equal draws the first is first, as in plain."""
        return np.argsort(~self._draws.words(TIES, t, l), kind="stable")
