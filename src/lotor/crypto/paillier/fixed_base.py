"""Powers of one element that is raised many times."""

import numpy as np
from gmpy2 import mpz, powmod

from lotor.core.errors import InputError
from lotor.crypto.paillier.powers import Plan, choose_plan

# One bit of an exponent in powmod, in units of one modular product.
POWER = 0.95
# Larger tables of one base gain little: each doubling saves less than a tenth of the products.
TABLE_BYTES = 64_000_000


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
        self._prepare(base, modulus, bits, Plan("tables", window, digits))

    @classmethod
    def for_uses(cls, base: mpz, modulus: mpz, bits: int, uses: int) -> "FixedBase":
        """The way that costs least for so many uses: tables, buckets, or plain powmod."""
        plan: Plan | None = choose_plan(1, bits + 1, uses, modulus, TABLE_BYTES)
        if plan and uses * bits * POWER <= plan.setup + uses * plan.each:
            plan = None
        powers = cls.__new__(cls)
        powers._prepare(base, modulus, bits, plan)
        return powers

    def _prepare(self, base: mpz, modulus: mpz, bits: int, plan: Plan | None) -> None:
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

    def _digits(self, number: int, plan: Plan) -> list[int]:
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
