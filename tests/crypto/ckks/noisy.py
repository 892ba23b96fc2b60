"""The noise of a formula, drawn by its law: what a result may be off by, slot by slot.

A formula is computed on many draws at once, in clear, with the noise that each step adds. The
draws are seeded, so that a bound is the same in each run.
"""

from collections.abc import Sequence
from typing import Any, Union

import numpy as np

from crypto.ckks.small import FRESH_SD, noise, noise_sd
from lotor.crypto.ckks import Encrypted, Parameters
from lotor.crypto.ckks.evaluator import halvings
from lotor.crypto.ckks.formulas import Array

DRAWS = 64
# A standard deviation of so many draws is off by less than a third: five times its own deviation.
UNSURE = 4 / 3


class Noisy:
    """Stands in for an encrypted number, and for its ciphertext."""

    scale = 1.0
    # numpy must leave the operation to this class instead of going through the array.
    __array_ufunc__ = None

    def __init__(self, evaluator: "Drawing", draws: Array, level: int) -> None:
        self.evaluator = evaluator
        self.draws = draws
        self.level = level

    @property
    def ciphertext(self) -> "Noisy":
        return self

    def _operand(self, other: Union["Noisy", Array, float]) -> tuple[Any, int]:
        if isinstance(other, np.ndarray) and other.dtype == object:
            other = unwrapped(other)
        return (other.draws, other.level) if isinstance(other, Noisy) else (other, self.level)

    def __add__(self, other: Union["Noisy", Array, float]) -> "Noisy":
        draws, level = self._operand(other)
        total = Noisy(self.evaluator, self.draws + draws, max(level, self.level))
        # One of two levels is brought to the other by a product with 1.
        return total if level == self.level else self.evaluator.rounded(total)

    def __neg__(self) -> "Noisy":
        return Noisy(self.evaluator, -self.draws, self.level)

    def __sub__(self, other: Union["Noisy", Array, float]) -> "Noisy":
        return self + -other

    def __rsub__(self, other: Array | float) -> "Noisy":
        return -self + other

    def __mul__(self, other: Union["Noisy", Array, float]) -> "Noisy":
        draws, level = self._operand(other)
        product = Noisy(self.evaluator, self.draws * draws, max(level, self.level))
        if isinstance(other, int | float) and other in (1, -1, 2):
            return product
        product.level += 1
        return self.evaluator.rounded(product)

    __radd__ = __add__
    __rmul__ = __mul__

    def rotate(self, step: int) -> "Noisy":
        turned = np.roll(self.draws, -step, axis=-1)
        return self.evaluator.switched(Noisy(self.evaluator, turned, self.level))

    def sum_slots(self, count: int, stride: int) -> "Noisy":
        total = self
        for step in halvings(count, stride):
            total = total + total.rotate(step)
        return total

    def __array_function__(self, function: object, _: object, args: Any, __: object) -> "Noisy":
        """Arrays are rotated by numpy's function, and so is this."""
        assert function is np.roll
        return self.rotate(-args[1])

    def bound(self) -> Array:
        """What each slot is off by at most, see `noise`."""
        spread = np.std(self.draws, axis=0, ddof=1)
        # The draws are real: as large as real and imaginary part together.
        tail = noise(self.evaluator.parameters) / noise_sd(self.evaluator.parameters)
        return np.asarray(tail * UNSURE * spread)


class Drawing:
    """Stands in for the evaluator."""

    def __init__(self, parameters: Parameters) -> None:
        self.parameters = parameters
        self._rng = np.random.default_rng(1)

    def fresh(self, values: Array, level: int = 0) -> Noisy:
        return self.rounded(Noisy(self, np.tile(values, (DRAWS, 1)), level))

    def rounded(self, number: Noisy) -> Noisy:
        drawn = self._rng.normal(0, noise_sd(self.parameters), number.draws.shape)
        return Noisy(self, number.draws + drawn, number.level)

    def switched(self, number: Noisy) -> Noisy:
        """A rotation's change of keys: the rest for each prime counts times a fresh error."""
        *primes, special = (float(prime) for prime in self.parameters.primes)
        degree, scale = self.parameters.degree, min(self.parameters.scales)
        error = FRESH_SD * np.sqrt(degree * np.sum(np.square(primes))) / special / scale
        # SEAL's rests lie between 0 and the prime. Around their mean they spread with a variance of
        # 1/12; the mean itself is large in slots whose root of unity is close to 1.
        exponents = [pow(3, slot, 2 * degree) for slot in range(self.parameters.slots)]
        distance = 2 * np.sin(np.pi * np.array(exponents) / degree / 2)
        drawn = self._rng.normal(0, error, number.draws.shape) * np.sqrt(
            degree / 12 + distance**-2.0
        )
        return self.rounded(Noisy(self, number.draws + drawn, number.level))

    def add(self, a: Noisy, b: Noisy) -> Noisy:
        return a + b

    def add_plain(self, a: Noisy, values: float) -> Noisy:
        return a + values

    def multiply(self, a: Noisy, b: Noisy) -> Noisy:
        return a * b

    def weighted_sum(
        self, terms: Sequence[tuple[float, Noisy]], constant: float = 0.0, *, level: int, scale: Any
    ) -> Noisy:
        total = sum(factor * item.draws for factor, item in terms) + constant
        return self.rounded(Noisy(self, np.asarray(total), level))

    def require(self, number: Noisy, levels: int) -> None:
        assert number.level + levels <= self.parameters.levels


def noisy(parameters: Parameters, *values: Array, level: int = 0) -> list[Any]:
    """Values as if each were encrypted with the public key."""
    drawing = Drawing(parameters)
    return [drawing.fresh(each, level) for each in values]


def unwrapped(number: Any) -> Noisy:
    """What numpy put into an array, or a formula into an encrypted number."""
    while not isinstance(number, Noisy):
        number = number.ciphertext if isinstance(number, Encrypted) else number.item()
    return number


def part_of_bound(found: Array, expected: Array, number: Any) -> float:
    """The largest distance as a part of what it may be: above 1 only if something is wrong."""
    return float(np.max(np.abs(found - expected) / unwrapped(number).bound()))
