"""Products of powers of fixed elements: the work that a private bandit does again and again.

Exponents are cut into signed digits of `window` bits, and each digit costs one modular product.
`Tables` keeps all powers that a digit can ask for. `Buckets` keeps only one element per digit
place, multiplies the elements with equal digits together first and raises each such product once
(Yao, On the evaluation of powers, 1976; Brickell, Gordon, McCurley and Wilson, Fast exponentiation
with precomputation, 1992): no tables to build, somewhat more work for each use. `choose_plan` says
which of them and which window costs least.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from gmpy2 import invert, mpz, powmod
from numpy.typing import NDArray

from lotor.core.errors import InputError

# In units of one modular product of numbers at hand, measured from 2048 to 3072 bits: a product
# with an entry of a large table, which comes from far-off memory, and an inversion.
_FAR_PRODUCT = 1.13
_INVERSION = 7
# One bit of an exponent in powmod, in the same unit.
POWER = 0.95
# What an mpz takes beside its digits: its object, its place in a list, the allocator's rounding.
_ENTRY_OVERHEAD = 80
TABLE_BYTES = 350_000_000
# Larger tables of one base gain little: each doubling saves less than a tenth of the products.
_ONE_BASE_BYTES = 64_000_000
_LARGEST_WINDOW = 12

Method = Literal["buckets", "tables"]


@dataclass(frozen=True, slots=True)
class PowerPlan:
    """How to raise some elements to signed exponents; setup and each use cost so many products."""

    method: Method
    window: int
    digits: int
    setup: float = 0
    each: float = 0

    @property
    def extra(self) -> int:
        """The products of each use beside one for every digit."""
        return 1 if self.method == "tables" else 1 << self.window

    def build(self, bases: Iterable[mpz], modulus: mpz) -> "Tables | Buckets":
        make = Tables if self.method == "tables" else Buckets
        return make(bases, modulus, self.digits, self.window)


def choose_plan(
    count: int, bits: int, uses: int, modulus: mpz, table_bytes: int = TABLE_BYTES
) -> PowerPlan:
    """The plan with the least setup + uses·each, among the tables that fit in `table_bytes`.

    With D = ceil(bits / window) digits for each of the `count` elements,
    tables take count·D·2^(window-1) products to build and count·D far ones for each use;
    buckets take count·(bits + 3·D) products to build and count·D + 2^window for each use.
    So buckets win for few uses, and for many elements, where 2^window is little beside count·D.
    """
    entry = modulus.bit_length() // 8 + _ENTRY_OVERHEAD
    plans = []
    for window in range(2, _LARGEST_WINDOW + 1):
        digits = -(-bits // window)
        rows, half = count * digits, 1 << (window - 1)
        if rows * half * entry <= table_bytes:
            each = rows * _FAR_PRODUCT + _INVERSION
            plans.append(PowerPlan("tables", window, digits, rows * half, each))
        setup = count * bits + 3 * rows
        plans.append(PowerPlan("buckets", window, digits, setup, rows + 2 * half))
    return min(plans, key=lambda plan: plan.setup + uses * plan.each)


class Tables:
    """All powers that a digit can ask for: each digit costs one product."""

    def __init__(self, bases: Iterable[mpz], modulus: mpz, digits: int, window: int) -> None:
        self._modulus = modulus
        self._rows: list[list[mpz]] = []
        half = 1 << (window - 1)
        for base in bases:
            element = base
            for _ in range(digits):
                self._rows.append(_row(element, half, modulus))
                element = self._rows[-1][half] ** 2 % modulus

    def product(self, digits: Sequence[int]) -> mpz:
        """The product of the elements' powers; elements beyond the given digits take no part."""
        modulus = self._modulus
        over, under = mpz(1), mpz(1)
        # Negative powers gather in one denominator: half the table, and one inversion in the end.
        for row, digit in zip(self._rows, digits, strict=False):
            if digit > 0:
                over = over * row[digit] % modulus
            elif digit:
                under = under * row[-digit] % modulus
        return over if under == 1 else over * invert(under, modulus) % modulus


def _row(element: mpz, half: int, modulus: mpz) -> list[mpz]:
    row = [mpz(1), element]
    for _ in range(half - 1):
        row.append(row[-1] * element % modulus)
    return row


class Buckets:
    """One element and its inverse per digit place: elements with equal digits are raised once."""

    def __init__(self, bases: Iterable[mpz], modulus: mpz, digits: int, window: int) -> None:
        self._modulus = modulus
        self._half = 1 << (window - 1)
        self._elements = list(_chains(bases, modulus, digits, window))
        self._inverses = invert_all(self._elements, modulus)

    def product(self, digits: Sequence[int]) -> mpz:
        """The product of the elements' powers; elements beyond the given digits take no part."""
        modulus = self._modulus
        buckets: list[mpz | None] = [None] * (self._half + 1)
        for element, inverse, digit in zip(self._elements, self._inverses, digits, strict=False):
            if digit:
                factor, place = (element, digit) if digit > 0 else (inverse, -digit)
                held = buckets[place]
                buckets[place] = factor if held is None else held * factor % modulus
        # The bucket of digit v is needed to the power v: it is in `suffix` for v steps.
        total, suffix = mpz(1), mpz(1)
        for bucket in buckets[:0:-1]:
            if bucket is not None:
                suffix = suffix * bucket % modulus
            if suffix != 1:
                total = total * suffix % modulus
        return total


def _chains(bases: Iterable[mpz], modulus: mpz, digits: int, window: int) -> Iterator[mpz]:
    step = mpz(1) << window
    for base in bases:
        element = base
        yield element
        for _ in range(digits - 1):
            element = powmod(element, step, modulus)
            yield element


def invert_all(elements: Sequence[mpz], modulus: mpz) -> list[mpz]:
    """The inverses of all elements by one inversion and three products each (Montgomery's way)."""
    before = [mpz(1)]
    for element in elements:
        before.append(before[-1] * element % modulus)
    rest = invert(before.pop(), modulus)
    inverses = []
    for element in reversed(elements):
        inverses.append(rest * before.pop() % modulus)
        rest = rest * element % modulus
    return inverses[::-1]


def signed_digits(numbers: NDArray[np.int64], bits: int, window: int) -> NDArray[np.int16]:
    """Each number as digits from -2^(window-1) to 2^(window-1), lowest first, on a new axis.

    The numbers must lie in [-2^(bits-1), 2^(bits-1)). Adding half of the digit's range at each
    lower place and taking it away from the digits afterwards does what carrying would.
    """
    places = -(-bits // window)
    half = 1 << (window - 1)
    shifted = numbers + sum(half << (window * place) for place in range(places - 1))
    digits = np.empty((*numbers.shape, places), dtype=np.int16)
    for place in range(places - 1):
        digits[..., place] = ((shifted >> (window * place)) & (2 * half - 1)) - half
    digits[..., -1] = shifted >> (window * (places - 1))
    return digits


class FixedBase:
    """Tables of a base's powers: an exponent of `bits` bits costs one product per `window` bits.

    They take ceil((bits + 1) / window)·2^(window-1) products to build; `for_uses` picks the window,
    or a way without tables, from the number of uses.

    >>> FixedBase(mpz(3), mpz(1000), bits=16).power((20).to_bytes(2, "little"))
    mpz(401)
    """

    def __init__(self, base: mpz, modulus: mpz, bits: int, window: int = 8) -> None:
        if not 2 <= window <= 12 or bits < 1:
            raise InputError(
                f"window={window}, bits={bits}: a table of powers needs a window from 2 to 12 and "
                "at least one bit; leave the window out for the usual one"
            )
        # Signed digits need one bit more than the exponents, which are not negative.
        digits = -(-(bits + 1) // window)
        self._prepare(base, modulus, bits, PowerPlan("tables", window, digits))

    @classmethod
    def for_uses(cls, base: mpz, modulus: mpz, bits: int, uses: int) -> "FixedBase":
        """The way that costs least for so many uses: tables, buckets, or plain powmod."""
        plan: PowerPlan | None = choose_plan(1, bits + 1, uses, modulus, _ONE_BASE_BYTES)
        if plan and uses * bits * POWER <= plan.setup + uses * plan.each:
            plan = None
        powers = cls.__new__(cls)
        powers._prepare(base, modulus, bits, plan)
        return powers

    def _prepare(self, base: mpz, modulus: mpz, bits: int, plan: PowerPlan | None) -> None:
        self._base, self._modulus, self._plan = base, modulus, plan
        self._bits = bits
        if plan is not None:
            self._engine = plan.build([base], modulus)
            window, places = plan.window, range(plan.digits - 1)
            self._half = 1 << (window - 1)
            self._carry = sum(self._half << (window * place) for place in places)
            self._weights = 1 << np.arange(window)

    def power(self, exponent: bytes) -> mpz:
        """base^exponent, the exponent little-endian and not negative."""
        number = int.from_bytes(exponent, "little")
        if number.bit_length() > self._bits:
            raise InputError(
                f"the exponent has more than the {self._bits} bits that this base was prepared "
                "for: shorten it, or prepare the base for longer ones"
            )
        if self._plan is None:
            return powmod(self._base, number, self._modulus)
        return self._engine.product(self._digits(number, self._plan))

    def _digits(self, number: int, plan: PowerPlan) -> list[int]:
        width = plan.digits * plan.window
        shifted = (number + self._carry).to_bytes((width + 7) // 8, "little")
        bits = np.unpackbits(np.frombuffer(shifted, np.uint8), count=width, bitorder="little")
        digits = bits.reshape(plan.digits, plan.window) @ self._weights
        digits[:-1] -= self._half
        result: list[int] = digits.tolist()
        return result

    @property
    def products(self) -> float:
        """What one use takes, in modular products."""
        if self._plan is None:
            return self._bits * POWER
        return self._plan.digits + self._plan.extra

    @property
    def method(self) -> str:
        """How powers are computed: tables, buckets or powmod, with the window."""
        return f"{self._plan.method}({self._plan.window})" if self._plan else "powmod"
