"""Circuits as formulas: the same code computes on ciphertexts and, as their twin, on arrays.

>>> import numpy as np
>>> x = np.array([1.0, 2.0])
>>> dot([(x, x), (x, x + 1.0)], [1, -1])
array([-1., -2.])
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, TypeAlias, TypeVar, Union

import numpy as np
from numpy.typing import NDArray

from lotor.crypto.ckks.ciphertext import Ciphertext
from lotor.crypto.ckks.context import Values
from lotor.crypto.ckks.evaluator import Evaluator, halvings

Array: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Encrypted:
    """A ciphertext in the hands of an evaluator: +, - and * with others and with public values.

    Products take a level, except those with the plain numbers 1, -1 and 2.
    """

    evaluator: Evaluator
    ciphertext: Ciphertext

    # numpy must leave the operation to this class instead of going through the array.
    __array_ufunc__: ClassVar[None] = None

    @property
    def level(self) -> int:
        return self.ciphertext.level

    @property
    def levels_left(self) -> int:
        return self.ciphertext.levels_left

    def _like(self, ciphertext: Ciphertext) -> "Encrypted":
        return Encrypted(self.evaluator, ciphertext)

    def __add__(self, other: Union["Encrypted", Values]) -> "Encrypted":
        if isinstance(other, Encrypted):
            return self._like(self.evaluator.add(self.ciphertext, other.ciphertext))
        return self._like(self.evaluator.add_plain(self.ciphertext, other))

    def __sub__(self, other: Union["Encrypted", Values]) -> "Encrypted":
        if isinstance(other, Encrypted):
            return self._like(self.evaluator.subtract(self.ciphertext, other.ciphertext))
        return self + np.negative(other)

    def __neg__(self) -> "Encrypted":
        return self._like(self.evaluator.negate(self.ciphertext))

    def __rsub__(self, other: Values) -> "Encrypted":
        return -self + other

    def __mul__(self, other: Union["Encrypted", Values]) -> "Encrypted":
        if isinstance(other, Encrypted):
            return self._like(self.evaluator.multiply(self.ciphertext, other.ciphertext))
        if isinstance(other, int | float) and other in (1, -1):
            return self if other == 1 else -self
        if isinstance(other, int | float) and other == 2:
            return self + self
        return self._like(self.evaluator.multiply_plain(self.ciphertext, other))

    __radd__ = __add__
    __rmul__ = __mul__

    def rotate(self, step: int) -> "Encrypted":
        """Slot i of the result is slot i + step, around the end."""
        return self._like(self.evaluator.rotate(self.ciphertext, step))

    def sum_slots(self, count: int, stride: int = 1) -> "Encrypted":
        """Slot i of the result is the sum of `count` slots, each `stride` further."""
        return self._like(self.evaluator.sum_slots(self.ciphertext, count, stride))


Number = TypeVar("Number", Encrypted, Array)
"""What a formula computes on."""


def dot(pairs: Sequence[tuple[Number, Number]], signs: Sequence[int] | None = None) -> Number:
    """The sum of products, each with its sign, at the price of one relinearisation."""
    first = pairs[0][0]
    if isinstance(first, Encrypted):
        inner = [(a.ciphertext, b.ciphertext) for a, b in pairs]
        return first._like(first.evaluator.dot(inner, signs))
    factors = [1] * len(pairs) if signs is None else signs
    products = [sign * a * b for sign, (a, b) in zip(factors, pairs, strict=True)]
    return np.asarray(np.sum(products, axis=0))


def rotate(x: Number, step: int) -> Number:
    """Slot i of the result is slot i + step, around the end."""
    return x.rotate(step) if isinstance(x, Encrypted) else np.roll(x, -step)


def sum_slots(x: Number, count: int, stride: int = 1) -> Number:
    """Slot i of the result is the sum of `count` slots, each `stride` further, around the end."""
    for step in halvings(count, stride):
        x = x + rotate(x, step)
    return x


def require_levels(x: Number, levels: int) -> None:
    """Refuse a ciphertext that has fewer levels left, before anything is computed."""
    if isinstance(x, Encrypted):
        x.evaluator.require(x.ciphertext, levels)
