"""A key, its maker, and what the key's holder can compute from a ciphertext: all of its noise."""

import secrets
from functools import cache

import gmpy2
import numpy as np

from lotor.crypto.bfv import MODULUS_BITS, SLOTS, ProductKey, ProductMaker
from lotor.crypto.bfv.context import product_context
from lotor.crypto.bfv.noise import Words
from lotor.crypto.seal.binding import SealCiphertext, seal
from lotor.crypto.seal.uncompressed import ciphertext

MODULUS = 1 << MODULUS_BITS
MASK = np.uint64(MODULUS - 1)
# Of a coefficient times a secret one, summed: 200 + 13 bits.
_PLACE_BYTES = 27


def uniform(*shape: int) -> Words:
    raw = np.frombuffer(secrets.token_bytes(8 * int(np.prod(shape))), dtype=np.uint64)
    return raw.reshape(shape) & MASK


def expected(u: Words, b: Words, v: Words) -> Words:
    return np.asarray(((b[:, None] * u).sum(axis=0, dtype=np.uint64) + v) & MASK, dtype=np.uint64)


@cache
def key() -> ProductKey:
    return ProductKey.generate()


def maker_of(b: Words) -> ProductMaker:
    return ProductMaker(key().public, key().encrypted(b))


def residues(item: SealCiphertext, polynomial: int, prime: int) -> list[int]:
    start = (polynomial * item.coeff_modulus_size() + prime) * SLOTS
    return [item[place] for place in range(start, start + SLOTS)]  # type: ignore[index]


def composed(item: SealCiphertext, polynomial: int) -> list[int]:
    """Its coefficients as whole numbers, by the Chinese remainder theorem."""
    primes = product_context().primes[: item.coeff_modulus_size()]
    q = int(np.prod(np.array(primes, dtype=object)))
    factors = [q // p * pow(q // p, -1, p) for p in primes]
    columns = zip(*(residues(item, polynomial, k) for k in range(len(primes))), strict=True)
    return [sum(f * r for f, r in zip(factors, column, strict=True)) % q for column in columns]


@cache
def secret_coefficients() -> tuple[int, ...]:
    """-1, 0 and 1: what the ciphertext (0, q/t) decrypts to is the key itself."""
    context = product_context()
    q = int(np.prod(np.array(context.primes, dtype=object)))
    raw = np.zeros((2, len(context.primes), SLOTS), dtype=np.uint64)
    raw[1, :, 0] = [q // MODULUS % prime for prime in context.primes]
    plain = decrypted(ciphertext(context.seal, context.ids[0], raw))
    found = tuple(value - MODULUS if value > 1 else value for value in plain)
    assert set(found) == {-1, 0, 1}
    return found


def decrypted(item: SealCiphertext) -> list[int]:
    plain = seal().Plaintext()
    key()._decryptor.decrypt(item, plain)
    count = plain.coeff_count()
    return [plain[k] for k in range(count)] + [0] * (SLOTS - count)


def noise_of(item: SealCiphertext) -> list[int]:
    """c0 + c1·s - q/t·m in every coefficient, exactly."""
    primes = product_context().primes[: item.coeff_modulus_size()]
    q = int(np.prod(np.array(primes, dtype=object)))
    c0, c1, plain = composed(item, 0), composed(item, 1), decrypted(item)
    product = _negacyclic(c1, secret_coefficients())
    found = []
    for a, b, m in zip(c0, product, plain, strict=True):
        rest = (a + b - (q * m + MODULUS // 2) // MODULUS) % q
        found.append(rest - q if rest > q // 2 else rest)
    return found


def _negacyclic(a: list[int], ternary: tuple[int, ...]) -> list[int]:
    plus = _product(a, [max(s, 0) for s in ternary])
    minus = _product(a, [max(-s, 0) for s in ternary])
    whole = [x - y for x, y in zip(plus, minus, strict=True)]
    return [low - high for low, high in zip(whole[:SLOTS], whole[SLOTS:], strict=True)]


def _product(a: list[int], b: list[int]) -> list[int]:
    """The product of two polynomials, of 2·SLOTS coefficients, as one of two large numbers."""
    wide = gmpy2.mpz(_packed(a)) * gmpy2.mpz(_packed(b))
    data = int(wide).to_bytes(2 * SLOTS * _PLACE_BYTES, "little")
    return [
        int.from_bytes(data[k : k + _PLACE_BYTES], "little")
        for k in range(0, len(data), _PLACE_BYTES)
    ]


def _packed(values: list[int]) -> int:
    return int.from_bytes(b"".join(v.to_bytes(_PLACE_BYTES, "little") for v in values), "little")
