"""Parameter sets: the ring, the primes, the levels, and how secure they are.

A ciphertext starts at level 0 and goes one level down with each product; the last level is
`levels`. Its modulus is the product of the first prime and one prime per level that is left. The
special prime takes part in key switching only, and counts for security like the others.
"""

import math
import warnings
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Final

from lotor.core.errors import InputError
from lotor.crypto.seal.rings import (
    FINGERPRINT_BYTES,
    FRESH_DEVIATION,
    LARGEST_MODULUS,
    largest_primes,
)

SECURITY_LEVELS: Final = (128, 192, 256)

_SMALLEST_BITS, _LARGEST_BITS = 20, 60
# Below, a product of a large ring has no digit right.
_COARSEST_BITS: Final = 30


class InsecureParametersWarning(UserWarning):
    """A parameter set that protects nothing is in use."""


@dataclass(frozen=True, slots=True)
class Parameters:
    """One parameter set.

    `scale_bits` is the size of the primes of the levels and of the scale at the last level: about
    `scale_bits` - log2(degree) + 2 bits of a result are right. `first_bits` leaves room above it
    at the last level: there a value stays below 2^(first_bits - scale_bits - 1).

    A set that does not reach `security` is refused; for tests and teaching `insecure` says why it
    may be used all the same, which warns.

    >>> Parameters(levels=14, scale_bits=48).degree
    32768
    """

    levels: int
    scale_bits: int
    security: int = 128
    degree: int = 0  # 0: the smallest that is secure
    first_bits: int = 0  # 0: twelve more than the scale, as far as there are
    special_bits: int = _LARGEST_BITS
    insecure: str = field(default="", compare=False, kw_only=True)
    primes: tuple[int, ...] = field(init=False, repr=False, compare=False)
    scales: tuple[float, ...] = field(init=False, repr=False, compare=False)
    fingerprint: str = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not self.first_bits:
            # As large as the special prime it would make rotations noisy for nothing.
            object.__setattr__(self, "first_bits", min(self.scale_bits + 12, _LARGEST_BITS))
        self._check_sizes()
        self._settle_degree()
        self._check_security()
        object.__setattr__(self, "primes", largest_primes(self.degree, self.prime_bits))
        object.__setattr__(self, "scales", self._scales())
        digest = sha256(self.text.encode()).digest()
        object.__setattr__(self, "fingerprint", digest[:FINGERPRINT_BYTES].hex())

    def _check_sizes(self) -> None:
        if self.security not in SECURITY_LEVELS:
            raise InputError(f"security={self.security}: choose 128, 192 or 256")
        if self.levels < 1:
            raise InputError(f"levels={self.levels}: take at least 1, or no product is possible")
        for bits in (self.scale_bits, self.first_bits, self.special_bits):
            if not _SMALLEST_BITS <= bits <= _LARGEST_BITS:
                raise InputError(
                    f"a prime of {bits} bits: SEAL takes {_SMALLEST_BITS} to {_LARGEST_BITS}"
                )
        if not self.scale_bits < self.first_bits <= self.special_bits:
            raise InputError(
                f"scale_bits={self.scale_bits}, first_bits={self.first_bits}, special_bits="
                f"{self.special_bits}: the first prime must be larger than the scale, or results "
                "have no room, and the special prime at least as large, or key switching is noisy"
            )

    def _settle_degree(self) -> None:
        if self.degree and self.degree not in LARGEST_MODULUS:
            raise InputError(f"degree={self.degree}: choose one of {[*LARGEST_MODULUS]}")
        if not self.degree:
            fitting = (n for n, most in LARGEST_MODULUS.items() if self.bits <= most[self.security])
            object.__setattr__(self, "degree", next(fitting, max(LARGEST_MODULUS)))

    def _check_security(self) -> None:
        most = LARGEST_MODULUS[self.degree][self.security]
        if self.bits <= most:
            return
        if not self.insecure:
            raise InputError(
                f"{self.levels} levels of {self.scale_bits} bits need a modulus of {self.bits} "
                f"bits, and {self.security}-bit security at degree {self.degree} allows {most}: "
                f"take fewer levels (at most {self.most_levels()} of that size at degree "
                f"{max(LARGEST_MODULUS)}), smaller primes, or less security"
            )
        warnings.warn(
            f"a CKKS modulus of {self.bits} bits at degree {self.degree} can be broken (used for: "
            f"{self.insecure}): use it for tests and teaching only",
            InsecureParametersWarning,
            stacklevel=4,
        )

    def most_levels(self) -> int:
        """How many levels of this size the largest ring allows."""
        most = LARGEST_MODULUS[max(LARGEST_MODULUS)][self.security]
        return max(0, (most - self.first_bits - self.special_bits) // self.scale_bits)

    @property
    def prime_bits(self) -> tuple[int, ...]:
        """First prime, one for each level (the last level's first), special prime."""
        return (self.first_bits, *[self.scale_bits] * self.levels, self.special_bits)

    @property
    def bits(self) -> int:
        """The size of the whole modulus."""
        return sum(self.prime_bits)

    @property
    def slots(self) -> int:
        """How many complex numbers a ciphertext holds."""
        return self.degree // 2

    def dropped_prime(self, level: int) -> int:
        """The prime by which a rescale at this level divides."""
        return self.primes[self.levels - level]

    def _scales(self) -> tuple[float, ...]:
        # Fixed at the end and followed backwards: forwards, differences between primes would
        # double with each level.
        scales = [2.0**self.scale_bits]
        for level in reversed(range(self.levels)):
            scales.append(math.sqrt(scales[-1] * self.dropped_prime(level)))
        return tuple(reversed(scales))

    @property
    def text(self) -> str:
        """All that two sides must have in common, in one spelling."""
        return (
            "lotor ckks parameters v1\n"
            f"degree={self.degree}\n"
            f"primes={','.join(map(str, self.primes))}\n"
            f"last_scale=2^{self.scale_bits}\n"
        )

    def rotation_deviation(self, level: int) -> float:
        """The standard deviation of what a rotation at this level adds to a slot at most.

        The rest of a ciphertext for each prime counts times a fresh error, beside the special
        prime. SEAL's rests lie between 0 and the prime: around their mean they spread with a
        variance of 1/12, and the mean is large in slots whose root of unity is close to 1.
        """
        *primes, special = self.primes
        rests = math.hypot(*primes[: len(primes) - level]) / special
        nearest = 2 * math.sin(math.pi / self.degree / 2)
        spread = math.sqrt(self.degree / 12 + nearest**-2)
        fresh = FRESH_DEVIATION * math.sqrt(self.degree) / self.scales[level]
        return fresh * rests * spread

    def ciphertext_bytes(self, level: int = 0, *, seeded: bool = False) -> int:
        """About how long a serialised ciphertext is at most; `seeded` ones take half."""
        return (1 if seeded else 2) * (self.levels + 1 - level) * self.degree * 8

    def switching_key_bytes(self) -> int:
        """The memory of one key of relinearisation or rotation; serialised it is about half."""
        return 2 * (self.levels + 1) * (self.levels + 2) * self.degree * 8


def parameters_for(levels: int, security: int = 128, *, scale_bits: int = 48) -> Parameters:
    """The most precise set with so many levels, with primes of at most `scale_bits` bits.

    >>> parameters_for(18).scale_bits
    42
    """
    for bits in range(scale_bits, _COARSEST_BITS - 1, -1):
        with suppress(InputError):
            return Parameters(levels, bits, security)
    deepest = Parameters(1, _COARSEST_BITS, security).most_levels()
    raise InputError(
        f"no ring has {levels} levels with {security}-bit security and at least {_COARSEST_BITS} "
        f"bits each: at most {deepest} fit; take a shallower computation or less security"
    )


def named_parameters(name: str) -> Parameters:
    """The parameter set of this name.

    >>> named_parameters("deep-128").levels
    19
    """
    if name not in _NAMED:
        raise InputError(f"there is no parameter set {name!r}: choose one of {sorted(_NAMED)}")
    levels, scale_bits, security = _NAMED[name]
    return Parameters(levels, scale_bits, security)


_NAMED: Final = {
    "shallow-128": (7, 45, 128),
    "standard-128": (14, 48, 128),
    "deep-128": (19, 40, 128),
    "standard-192": (11, 44, 192),
    "standard-256": (8, 44, 256),
}
PARAMETER_SETS: Final = tuple(sorted(_NAMED))
"""The names that `named_parameters` knows."""
