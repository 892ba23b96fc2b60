"""What only the key's owner can do: make the key and decrypt."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NoReturn

import gmpy2
from gmpy2 import gcd, invert, mpz, powmod_base_list

from lotor.core.errors import FormatError, InputError
from lotor.crypto.key_sizes import SECURE_BITS, check_key_bits
from lotor.crypto.paillier.encoding import (
    PRIVATE_KEY,
    Record,
    record_from_bytes,
    record_from_json,
)
from lotor.crypto.paillier.public import (
    Ciphertext,
    PublicKey,
    check_names,
    check_size,
)
from lotor.crypto.workers import Workers

# GMP counts its Baillie-PSW test as 24 rounds and adds one Miller-Rabin test for each further one.
_PRIMALITY_ROUNDS = 40


def generate_keypair(bits: int = 3072, *, insecure_bits: int | None = None) -> "PrivateKey":
    """Make a key of 2048, 3072 or 4096 bits; its public half is `.public`.

    `insecure_bits` makes a smaller one instead, for tests and teaching, and warns.
    """
    check_key_bits(bits, insecure_bits)
    bits = insecure_bits or bits
    p = q = random_prime(bits // 2)
    while q == p:
        q = random_prime(bits // 2)
    return PrivateKey(p, q)


def random_prime(bits: int) -> mpz:
    """Uniform among the primes of that many bits whose two highest bits are set.

    The product of two such primes has exactly 2·bits bits.
    """
    highest_two = mpz(3) << (bits - 2)
    while True:
        candidate = highest_two | secrets.randbits(bits - 2) | 1
        if is_prime(candidate):
            return candidate


def is_prime(candidate: mpz) -> bool:
    return bool(gmpy2.is_prime(candidate, _PRIMALITY_ROUNDS))


@dataclass(frozen=True, slots=True, repr=False)
class PrivateKey:
    """The two primes of n; equal when the public halves are.

    `generate_keypair` and `from_bytes` make them.
    """

    p: mpz = field(compare=False)
    q: mpz = field(compare=False)
    public: PublicKey = field(init=False)
    _p_squared: mpz = field(init=False, compare=False)
    _q_squared: mpz = field(init=False, compare=False)
    _p_inverse: mpz = field(init=False, compare=False)
    _q_inverse: mpz = field(init=False, compare=False)

    def __post_init__(self) -> None:
        p, q = mpz(self.p), mpz(self.q)
        n = p * q
        if (
            p == q
            or p.bit_length() != q.bit_length()
            or not (is_prime(p) and is_prime(q))
            or gcd(n, (p - 1) * (q - 1)) != 1
        ):
            raise InputError(
                "p and q are not two different primes of the same size: they were altered or "
                "not made for Paillier; use generate_keypair"
            )
        constants = {
            "p": p,
            "q": q,
            "public": PublicKey(n),
            "_p_squared": p * p,
            "_q_squared": q * q,
            "_p_inverse": invert(p, q),
            "_q_inverse": invert(q, p),
        }
        for name, value in constants.items():
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        return f"PrivateKey(fingerprint={self.public.fingerprint})"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a PrivateKey is not pickled or copied: use to_bytes and from_bytes")

    def decrypt(self, ciphertext: Ciphertext) -> int:
        """The signed plaintext, from -(n//2) to n//2."""
        (m,) = self.decrypt_batch([ciphertext])
        return m if 2 * m < self.public.n else m - int(self.public.n)

    def decrypt_batch(
        self,
        ciphertexts: Sequence[Ciphertext],
        workers: Workers | None = None,
        plaintext_bits: int | None = None,
    ) -> list[int]:
        """The plaintexts as numbers from 0 to n - 1, the form in which packed ones are read.

        `plaintext_bits` says that all are below 2^plaintext_bits: those below p take half the
        work, as their residue modulo p is all there is to know.
        """
        public = self.public
        for ciphertext in ciphertexts:
            public._check_same(ciphertext.public_key)
        values = [ciphertext._value for ciphertext in ciphertexts]
        public._check_values(values)
        workers = workers or Workers(1)
        short = plaintext_bits is not None and plaintext_bits < self.p.bit_length()
        primes = [self.p] if short else [self.p, self.q]
        # As many equal tasks as workers, or a multiple.
        pieces = workers.count // gcd(workers.count, len(primes))
        size = max(1, -(-len(values) // pieces))
        chunks = [values[start : start + size] for start in range(0, len(values), size)]
        tasks = [(prime, chunk) for prime in primes for chunk in chunks]
        done = workers.map(lambda task: self._residues(*task), tasks)
        residues = [m for chunk in done for m in chunk]
        if short:
            return [int(m) for m in residues]
        halves = zip(residues[: len(values)], residues[len(values) :], strict=True)
        return [int(m_q + self.q * ((m_p - m_q) * self._q_inverse % self.p)) for m_p, m_q in halves]

    def _residues(self, prime: mpz, values: Sequence[mpz]) -> list[mpz]:
        """The plaintexts modulo p or q."""
        if prime == self.p:
            square, inverse = self._p_squared, self._q_inverse
        else:
            square, inverse = self._q_squared, self._p_inverse
        # c^(p-1) = 1 + (p-1)·m·n = 1 - m·q·p (mod p²), and the same for q.
        with gmpy2.context(gmpy2.get_context(), allow_release_gil=True):
            powers = powmod_base_list([value % square for value in values], prime - 1, square)
        return [(1 - power) // prime * inverse % prime for power in powers]

    def to_bytes(self) -> bytes:
        """Serialise, unencrypted: whoever reads these bytes can decrypt."""
        return self._record().to_bytes()

    def to_json(self) -> str:
        """Serialise, unencrypted: whoever reads this text can decrypt."""
        return self._record().to_json()

    def _record(self) -> Record:
        return Record(PRIVATE_KEY, self.public.bits, self.public.fingerprint, (self.p, self.q))

    @classmethod
    def from_bytes(cls, data: bytes, *, minimum_bits: int = SECURE_BITS) -> "PrivateKey":
        return cls._from_record(record_from_bytes(PRIVATE_KEY, data), minimum_bits)

    @classmethod
    def from_json(cls, text: str, *, minimum_bits: int = SECURE_BITS) -> "PrivateKey":
        return cls._from_record(record_from_json(PRIVATE_KEY, text), minimum_bits)

    @classmethod
    def _from_record(cls, record: Record, minimum_bits: int) -> "PrivateKey":
        check_size(record, minimum_bits)
        try:
            key = cls(*record.numbers)
        except InputError as error:
            raise FormatError(f"this serialised private key is unusable: {error}") from None
        check_names(record, key.public)
        return key
