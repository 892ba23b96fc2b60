"""The owners' common mask: it keeps the order of scores and leaves no common factor.

masked_i = floor(alpha·(v_i·2^64 + u_i) / 2^64), with v_i the fixed-point score and u_i the arm's
tie draw. alpha >= 2^64, so that two different (v, u) stay different and in order; the low bits of
u_i break the divisibility by alpha that would otherwise give it away (the gcd of a list alpha·v_i).
"""

from collections.abc import Sequence

from lotor.core.fixed_point import SCORE_BITS
from lotor.crypto.prf import ROUNDS_AHEAD, Prf

_ALPHA_LOW, _ALPHA_HIGH = 1 << 64, 1 << 96
LARGEST_TIE = _ALPHA_HIGH
"""What is left of a score of 0 is below this."""

# v < 2^63 and alpha < 2^96, so that a masked score is below 2^159.
WIDTH = (SCORE_BITS + 96 + 7) // 8


class ScoreMask:
    """alpha at each (t, l), fresh for each, from the owners' key."""

    def __init__(self, key: bytes) -> None:
        self._prf = Prf(key, ahead=ROUNDS_AHEAD)

    def alpha(self, t: int, l: int) -> int:
        draw = int.from_bytes(self._prf.blocks(0, t, l), "big")
        return _ALPHA_LOW + ((_ALPHA_HIGH - _ALPHA_LOW) * draw >> 128)

    def apply(self, scores: Sequence[int], ties: Sequence[int], t: int, l: int) -> list[bytes]:
        """Masked scores as big-endian bytes of one width, which compare like the numbers."""
        alpha = self.alpha(t, l)
        # alpha·v is whole, so that only alpha·u needs the division by 2^64.
        return [
            (alpha * v + (alpha * u >> 64)).to_bytes(WIDTH, "big")
            for v, u in zip(scores, ties, strict=True)
        ]
