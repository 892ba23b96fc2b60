"""The sign of a number, as a composition of odd polynomials of degree 3 or 7.

Each stage takes what is left of the gap around zero and widens it; the last one is flat near ±1.
With y = x², degree 7 is computed as ±x·(y + a)·(y·(y + b) + e) and degree 3 as ±x·(y + a): the
leading coefficients are 1 because every stage's input is scaled to make them so, which costs
nothing but a public `factor` on the first input.

>>> import numpy as np
>>> comparison = sign_polynomial((7, 7, 7, 7), gap=2.0**-9)
>>> comparison.levels, comparison.error(2.0**-9) < 0.04
(12, True)
>>> np.round(comparison.plain(np.array([-0.5, 0.25])), 1)
array([-0.5,  0.5])
"""

from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np

from lotor.core.errors import InputError
from lotor.crypto.ckks.formulas import Array, Number, require_levels
from lotor.crypto.ckks.minimax import OddPolynomial, odd_minimax

STAGE_LEVELS: Final = {3: 2, 7: 3}
"""The degrees that a stage may have, and the levels it takes."""

# Closer to a sign than any ciphertext can hold.
_FLAT: Final = 1e-9


@dataclass(frozen=True, slots=True)
class Stage:
    """One polynomial with leading coefficient ±1: (a) of degree 3, (a, b, e) of degree 7."""

    sign: int
    roots: tuple[float, ...]

    def evaluate(self, x: Number) -> Number:
        y = x * x
        left = x * (y + self.roots[0])
        if len(self.roots) == 1:
            return left * self.sign
        _, b, e = self.roots
        return left * (y * (y + b) + e) * self.sign


@dataclass(frozen=True, slots=True)
class SignPolynomial:
    """Approximates `height` times the sign of x for `gap` <= |x| <= 1.

    `evaluate` expects its input multiplied by `factor` already, by whoever encrypted it.
    """

    degrees: tuple[int, ...]
    gap: float
    height: float
    factor: float
    stages: tuple[Stage, ...]
    polynomials: tuple[OddPolynomial, ...]

    @property
    def levels(self) -> int:
        """How many levels it takes."""
        return sum(STAGE_LEVELS[degree] for degree in self.degrees)

    @property
    def slope(self) -> float:
        """How much it widens a difference near zero, and noise with it."""
        return self.height * float(np.prod([p.coefficients[0] for p in self.polynomials]))

    def evaluate(self, x: Number) -> Number:
        """On ciphertexts or arrays, of values already multiplied by `factor`."""
        require_levels(x, self.levels)
        for stage in self.stages:
            x = stage.evaluate(x)
        return x

    def plain(self, x: Array) -> Array:
        """What `evaluate` computes, in clear; it multiplies by `factor` first."""
        return self.evaluate(np.asarray(x, dtype=np.float64) * self.factor)

    def error(self, gap: float) -> float:
        """The largest distance to the sign, relative to `height`, for gap <= |x| <= 1."""
        if not 0 < gap <= 1:
            raise InputError(f"gap={gap}: the smallest |x| lies between 0 and 1")
        low, high = gap, 1.0
        for polynomial in self.polynomials:
            low, high = polynomial.image(low, high)
        return max(1 - low, high - 1)

    def resolution(self, error: float) -> float:
        """The smallest gap, to a thousandth of it, that is decided up to this error."""
        if self.error(1.0) > error:
            raise InputError(
                f"error={error}: this composition comes no closer to a sign than "
                f"{self.error(1.0):.2g}: take more stages"
            )
        low, high = 2.0**-60, 1.0
        while high > low * 1.001:
            middle = float(np.sqrt(low * high))
            low, high = (low, middle) if self.error(middle) <= error else (middle, high)
        return high


@cache
def sign_polynomial(
    degrees: tuple[int, ...] = (7, 7, 7, 7), gap: float = 2.0**-9, height: float = 0.5
) -> SignPolynomial:
    """The best composition of these degrees for |x| between `gap` and 1, kept in memory."""
    if not degrees or any(degree not in STAGE_LEVELS for degree in degrees):
        raise InputError(f"degrees={degrees}: each stage has degree {sorted(STAGE_LEVELS)}")
    if not 0 < gap < 1 or not height > 0:
        raise InputError(f"gap={gap}, height={height}: take 0 < gap < 1 and a positive height")
    polynomials: list[OddPolynomial] = []
    low, high = gap, 1.0
    for degree in degrees:
        if high - low < _FLAT:
            raise InputError(
                f"degrees={degrees}: after {len(polynomials)} stages nothing is left to improve "
                f"for a gap of {gap:g}; take fewer stages, or a smaller gap"
            )
        best = odd_minimax(degree, low / high)
        polynomials.append(best.stretched(high))
        low, high = 1 - best.error, 1 + best.error
    stages: list[Stage] = []
    scale = height
    for polynomial in reversed(polynomials):
        stage, scale = _factored(polynomial.coefficients, scale)
        stages.insert(0, stage)
    return SignPolynomial(degrees, gap, height, scale, tuple(stages), tuple(polynomials))


def _factored(coefficients: tuple[float, ...], height: float) -> tuple[Stage, float]:
    """The stage that maps scale·x to height·p(x), and that scale."""
    degree = 2 * len(coefficients) - 1
    scale = float(abs(coefficients[-1]) * height) ** (1 / degree)
    sign = 1 if coefficients[-1] > 0 else -1
    monic = [sign * c * height / scale ** (2 * k + 1) for k, c in enumerate(coefficients)]
    if degree == 3:
        return Stage(sign, (monic[0],)), scale
    roots = np.roots(monic[::-1])
    real = roots.real[np.abs(roots.imag) < 1e-9 * (1 + np.abs(roots))]
    # Any real root will do; the one with the smallest other factor loses the least precision.
    splits = [(-root, monic[2] + root, monic[1] + root * (monic[2] + root)) for root in real]
    a, b, e = min(splits, key=lambda split: abs(split[1]) + abs(split[2]))
    return Stage(sign, (float(a), float(b), float(e))), scale
