"""The paper's fixed point, literally: what Algorithm 1 learns where two parties compute it.

Shares are made and cut as in Appendices B and C, in one process. Decisions are drawn as by every
contextual policy here, so that runs differ from plain ones by their arithmetic alone.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lotor.core.fixed_point import Floats
from lotor.policies.contextual import ContextualPolicy

Wraps: TypeAlias = Literal["ignored", "counted"]
Integers: TypeAlias = NDArray[np.int64]

PUBLISHED_BITS, PUBLISHED_ITERATIONS = 20, 7

# The exponential is (1 + y / 2^8)^(2^8).
_SQUARES = 8
_FACTOR, _SHIFT, _LEAST = 3, 0.5, 0.003


@dataclass(frozen=True, slots=True)
class PaperArithmetic(ContextualPolicy):
    """Linear epsilon-greedy in integers modulo 2^64.

    - `bits`: how many are behind the point;
    - `iterations`: of Newton and Raphson, for the reciprocal;
    - `wraps`: whether η_xr of Algorithm 3 is computed or is 0, as in the paper;
    - `seed`: of the shares.
    """

    epsilon: float = 0.1
    bits: int = PUBLISHED_BITS
    iterations: int = PUBLISHED_ITERATIONS
    wraps: Wraps = "ignored"
    seed: int = 0

    def start(self, arms: int, d: int) -> "PaperModel":
        return PaperModel(self, arms, d)


class PaperModel:
    """What was learnt: A⁻¹ (line 1) and b (line 2) of each arm."""

    def __init__(self, policy: PaperArithmetic, arms: int, d: int) -> None:
        self._bits, self._iterations = policy.bits, policy.iterations
        self._counted = policy.wraps == "counted"
        self._random = np.random.PCG64(np.random.SeedSequence(policy.seed))
        self._one = 1 << policy.bits
        self._inverses: Integers = np.tile(self._one * np.eye(d, dtype=np.int64), (arms, 1, 1))
        self._sums: Integers = np.zeros((arms, d), np.int64)

    def scores(self, x: Floats) -> Floats:
        """Lines 10 and 11, of every arm: w = A⁻¹ b anew, and w·x."""
        weights = self.cut((self._inverses @ self._sums[:, :, np.newaxis])[:, :, 0])
        return self.cut(weights @ self._encoded(x)) / self._one

    def update(self, arm: int, x: Floats, reward: float) -> None:
        """Lines 21 and 22; those of other arms add 0."""
        context, inverse = self._encoded(x), self._inverses[arm]
        u = self.cut(inverse @ context)
        denominator = self.cut(u[np.newaxis] @ context) + self._one
        products = self.cut(u[:, np.newaxis] * u)
        inverse -= self.cut(products * self.reciprocal(denominator))
        self._sums[arm] += self.cut(context * round(reward * self._one))

    def reciprocal(self, x: Integers) -> Integers:
        """1/x, where x is between 1 and 10."""
        base = self._one + self.cut(round(_SHIFT * self._one) - x, _SQUARES)
        for _ in range(_SQUARES):
            base = self.cut(base * base)
        guess = _FACTOR * base + round(_LEAST * self._one)
        for _ in range(self._iterations):
            guess = 2 * guess - self.cut(self.cut(guess * guess) * x)
        return guess

    def _encoded(self, x: Floats) -> Integers:
        return np.rint(x * self._one).astype(np.int64)

    def cut(self, z: Integers, bits: int | None = None) -> Integers:
        """Appendix C: each party divides its share by 2^bits.

        The sum is z / 2^bits, rounded up or down, unbiased. If the shares of z wrap around 2^64,
        which happens with probability |z| / 2^64, it is 2^(64 - bits) off, unless that is counted.
        """
        by = self._bits if bits is None else bits
        share = self._random.random_raw(z.shape).view(np.int64)
        if self._counted:
            return (z + (share & ((1 << by) - 1))) >> by
        return (share >> by) - ((share - z) >> by)
