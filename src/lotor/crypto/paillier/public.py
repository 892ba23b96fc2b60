"""What anybody who holds the public key can do: encrypt, add, multiply, re-randomise."""

import secrets
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from math import prod
from operator import index
from typing import NoReturn, Protocol, SupportsIndex, Union

from gmpy2 import gcd, mpz, powmod

from lotor.core.errors import FormatError, InputError, IntegrityError, KeyMismatchError
from lotor.crypto.key_sizes import SECURE_BITS, SMALLEST_BITS
from lotor.crypto.paillier.encoding import (
    CIPHERTEXT,
    FINGERPRINT_BYTES,
    PUBLIC_KEY,
    Record,
    record_from_bytes,
    record_from_json,
)

_FINGERPRINT_LABEL = b"lotor paillier public key v1\0"


class InsecureKeyWarning(UserWarning):
    """A key below 2048 bits is in use; it protects nothing."""


class RandomiserSource(Protocol):
    """Where prepared randomisers come from; each of them masks one ciphertext only."""

    public_key: "PublicKey"

    def take(self) -> mpz: ...


@dataclass(frozen=True, slots=True, repr=False)
class PublicKey:
    """The modulus n and what follows from it; `fingerprint` names the key in messages.

    `generate_keypair` and `from_bytes` make them.
    """

    n: mpz
    n_squared: mpz = field(init=False, compare=False)
    bits: int = field(init=False, compare=False)
    fingerprint: str = field(init=False, compare=False)

    def __post_init__(self) -> None:
        n = mpz(self.n)
        bits = int(n.bit_length())
        if n < 0 or n % 2 == 0 or bits % 2 or bits < SMALLEST_BITS:
            raise InputError(
                "n is not a Paillier modulus, which is odd and positive and has an even number "
                f"of bits, at least {SMALLEST_BITS}: use generate_keypair"
            )
        if bits < SECURE_BITS:
            warnings.warn(
                f"a {bits}-bit Paillier key can be broken: use it for tests and teaching only, "
                f"and at least {SECURE_BITS} bits for anything else",
                InsecureKeyWarning,
                stacklevel=3,
            )
        digest = sha256(_FINGERPRINT_LABEL + n.to_bytes((bits + 7) // 8, "big")).digest()
        object.__setattr__(self, "n", n)
        object.__setattr__(self, "n_squared", n * n)
        object.__setattr__(self, "bits", bits)
        object.__setattr__(self, "fingerprint", digest[:FINGERPRINT_BYTES].hex())

    def __repr__(self) -> str:
        return f"PublicKey(bits={self.bits}, fingerprint={self.fingerprint})"

    def encrypt(
        self, m: SupportsIndex, randomisers: "RandomiserSource | None" = None
    ) -> "Ciphertext":
        """Encrypt an integer from -(n//2) to n//2; `randomisers` make it faster."""
        value = self._plain_factor(m) * self._mask(randomisers) % self.n_squared
        return Ciphertext(self, value, [None])

    def _encrypt_with(self, m: SupportsIndex, r: mpz) -> mpz:
        return self._plain_factor(m) * powmod(r, self.n, self.n_squared) % self.n_squared

    def _plain_factor(self, m: SupportsIndex) -> mpz:
        """(n + 1)^m mod n², an encryption of m that hides nothing; maybe negative."""
        return 1 + self._checked(m) * self.n

    def _checked(self, m: SupportsIndex) -> int:
        try:
            integer = index(m)
        except TypeError:
            raise InputError(
                f"Paillier computes with plain integers and got a {type(m).__name__}: scale "
                "fractions to fixed point; two ciphertexts can be added but not multiplied"
            ) from None
        if 2 * abs(integer) > self.n:
            raise InputError(
                f"the integer lies outside -(n//2)..n//2 of this {self.bits}-bit key: scale it "
                "down or use a larger key"
            )
        return integer

    def _random_unit(self) -> mpz:
        while True:
            r = mpz(secrets.randbelow(self.n))
            if gcd(r, self.n) == 1:
                return r

    def _mask(self, randomisers: "RandomiserSource | None" = None) -> mpz:
        """r^n mod n² for an r that nobody knows."""
        if randomisers is None:
            return powmod(self._random_unit(), self.n, self.n_squared)
        if randomisers.public_key != self:
            raise KeyMismatchError(
                f"the randomisers are under key {randomisers.public_key.fingerprint} and "
                f"{self.fingerprint} is needed: make them from the key that encrypts"
            )
        return randomisers.take()

    def _check_same(self, other: "PublicKey") -> None:
        if self != other:
            raise KeyMismatchError(
                f"the ciphertext is under key {other.fingerprint} and {self.fingerprint} is "
                "needed: it comes from another run or party; use the key that it was made with"
            )

    def _ciphertexts(self, numbers: Sequence[bytes]) -> list["Ciphertext"]:
        """Received numbers as ciphertexts, each checked."""
        values = [mpz.from_bytes(number, "big") for number in numbers]
        self._check_values(values)
        return [Ciphertext(self, value) for value in values]

    def _check_values(self, values: Sequence[mpz]) -> None:
        """What `_check_value` does for each, at the price of one gcd."""
        product = mpz(1)
        for value in values:
            product = product * value % self.n
        in_range = all(0 <= value < self.n_squared for value in values)
        if not in_range or gcd(product, self.n) != 1:
            for value in values:
                self._check_value(value)

    def _check_value(self, value: mpz) -> None:
        # gcd(0, n) = n, so zero is refused as well.
        if not 0 <= value < self.n_squared or gcd(value, self.n) != 1:
            raise IntegrityError(
                f"the value is not a ciphertext under key {self.fingerprint}: it was altered, "
                "or not made by encryption; ask its sender for it again"
            )

    def to_bytes(self) -> bytes:
        return self._record().to_bytes()

    def to_json(self) -> str:
        return self._record().to_json()

    def _record(self) -> Record:
        return Record(PUBLIC_KEY, self.bits, self.fingerprint, (self.n,))

    @classmethod
    def from_bytes(cls, data: bytes, *, minimum_bits: int = SECURE_BITS) -> "PublicKey":
        return cls._from_record(record_from_bytes(PUBLIC_KEY, data), minimum_bits)

    @classmethod
    def from_json(cls, text: str, *, minimum_bits: int = SECURE_BITS) -> "PublicKey":
        return cls._from_record(record_from_json(PUBLIC_KEY, text), minimum_bits)

    @classmethod
    def _from_record(cls, record: Record, minimum_bits: int) -> "PublicKey":
        check_size(record, minimum_bits)
        try:
            key = cls(*record.numbers)
        except InputError as error:
            raise FormatError(f"this serialised public key is unusable: {error}") from None
        check_names(record, key)
        return key


def check_size(record: Record, minimum_bits: int) -> None:
    """Refuse a serialised key that is smaller than the caller accepts, or than it says."""
    if record.bits < minimum_bits:
        raise FormatError(
            f"this {record.kind.name} has {record.bits} bits and at least {minimum_bits} are "
            "required: ask for a larger key, or pass minimum_bits for tests and teaching"
        )
    if record.bits != prod(record.numbers).bit_length():
        raise _altered(record)


def check_names(record: Record, key: PublicKey) -> None:
    """Refuse a serialised key whose numbers are not those that its header announces."""
    if record.bits != key.bits or record.fingerprint != key.fingerprint:
        raise _altered(record)


def _altered(record: Record) -> FormatError:
    return FormatError(
        f"the numbers of this {record.kind.name} do not give its size and fingerprint "
        f"{record.fingerprint}: it was altered; transfer it again"
    )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Ciphertext:
    """An encrypted integer: add ciphertexts or integers to it, multiply it by integers.

    It is *fresh* while its randomness is its own and it has not left. The value never changes;
    `_passes` holds one entry while the value may leave as it is, and the first output takes it.
    """

    public_key: PublicKey
    _value: mpz
    _passes: list[None] = field(default_factory=list)

    @property
    def is_fresh(self) -> bool:
        return bool(self._passes)

    def __repr__(self) -> str:
        freshness = "fresh" if self.is_fresh else "not fresh"
        return f"<Ciphertext under key {self.public_key.fingerprint}, {freshness}>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Ciphertext is not pickled or copied: use to_bytes and from_bytes")

    def __add__(self, other: Union["Ciphertext", SupportsIndex]) -> "Ciphertext":
        key = self.public_key
        if isinstance(other, Ciphertext):
            key._check_same(other.public_key)
            factor = other._value
        else:
            factor = key._plain_factor(other)
        return Ciphertext(key, self._value * factor % key.n_squared)

    def __mul__(self, scalar: SupportsIndex) -> "Ciphertext":
        key = self.public_key
        return Ciphertext(key, powmod(self._value, key._checked(scalar), key.n_squared))

    def __neg__(self) -> "Ciphertext":
        return self * -1

    def __sub__(self, other: Union["Ciphertext", SupportsIndex]) -> "Ciphertext":
        if isinstance(other, Ciphertext):
            return self + -other
        return self + -self.public_key._checked(other)

    __radd__ = __add__
    __rmul__ = __mul__

    def rerandomise(self, randomisers: "RandomiserSource | None" = None) -> "Ciphertext":
        """The same plaintext in a fresh ciphertext that nobody can link to this one."""
        key = self.public_key
        return Ciphertext(key, self._value * key._mask(randomisers) % key.n_squared, [None])

    def to_bytes(self) -> bytes:
        """Serialise, re-randomised unless fresh; two outputs are never the same."""
        return self._leave().to_bytes()

    def to_json(self) -> str:
        """Serialise, re-randomised unless fresh; two outputs are never the same."""
        return self._leave().to_json()

    def _leave(self) -> Record:
        # pop is atomic: of two threads only one gets the pass.
        try:
            self._passes.pop()
            value = self._value
        except IndexError:
            value = self.rerandomise()._value
        key = self.public_key
        return Record(CIPHERTEXT, key.bits, key.fingerprint, (value,))

    @classmethod
    def from_bytes(cls, data: bytes, public_key: PublicKey) -> "Ciphertext":
        return cls._from_record(record_from_bytes(CIPHERTEXT, data), public_key)

    @classmethod
    def from_json(cls, text: str, public_key: PublicKey) -> "Ciphertext":
        return cls._from_record(record_from_json(CIPHERTEXT, text), public_key)

    @classmethod
    def _from_record(cls, record: Record, public_key: PublicKey) -> "Ciphertext":
        if record.fingerprint != public_key.fingerprint:
            raise KeyMismatchError(
                f"the ciphertext is under key {record.fingerprint} and was to be read under "
                f"{public_key.fingerprint}: it comes from another run or party; pass the key "
                "that it was made with"
            )
        check_names(record, public_key)
        public_key._check_value(*record.numbers)
        return cls(public_key, *record.numbers)
