"""What the key's holder could read if a message were not hidden, and that it cannot as it is."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crypto.bfv.keys import (
    MODULUS,
    key,
    maker_of,
    noise_of,
    residues,
    secret_coefficients,
    uniform,
)
from lotor.core.errors import InputError
from lotor.crypto.bfv import (
    FLOOD_BITS,
    MODULUS_BITS,
    SLOTS,
    ProductMaker,
    noise_bound,
    products,
    statistical_distance,
)
from lotor.crypto.bfv.context import PRIME_BITS, SECURITY, product_context
from lotor.crypto.bfv.noise import Words, centred_residues, flooding
from lotor.crypto.seal.binding import SealCiphertext, load, seal
from lotor.crypto.seal.rings import ERROR_BITS, LARGEST_MODULUS
from lotor.crypto.seal.uncompressed import plaintext

# Seven standard deviations of a mean of SLOTS signs: exceeded once in 10^11 times.
CHANCE = 7 / math.sqrt(SLOTS)


def no_flooding(primes: tuple[int, ...]) -> Words:
    return np.zeros((len(primes), SLOTS), dtype=np.uint64)


def sum_of(maker: ProductMaker, u: Words, v: Words) -> SealCiphertext:
    """A message before it is switched down."""
    total, added = maker._hiding(v), maker._products(u)
    assert added is not None
    maker._context.evaluator.add_inplace(total, added)
    return total


def transform_of(u: Words) -> list[int]:
    """U's transform by the first prime."""
    context, out = product_context(), seal().Plaintext()
    context.evaluator.transform_to_ntt(plaintext(context.seal, u), context.ids[0], out)
    return [out[k] for k in range(SLOTS)]


def quotients(maker: ProductMaker, sent: SealCiphertext) -> list[int]:
    """What divides the second polynomial of what was sent by that of Enc(b), by the first prime."""
    prime = maker._context.primes[0]
    maker._context.evaluator.transform_to_ntt_inplace(sent)
    own, theirs = residues(maker._b[0], 1, 0), residues(sent, 1, 0)
    return [y * pow(x, -1, prime) % prime if x else -1 for x, y in zip(own, theirs, strict=True)]


def test_without_a_fresh_encryption_the_second_polynomial_is_u() -> None:
    maker, u, v = maker_of(uniform(1)), uniform(1, SLOTS), uniform(SLOTS)
    want = transform_of(u[0])
    bare = maker._products(u)
    assert bare is not None
    assert sum(a == b for a, b in zip(quotients(maker, bare), want, strict=True)) >= SLOTS - 3
    hidden = sum_of(maker, u, v)
    assert sum(a == b for a, b in zip(quotients(maker, hidden), want, strict=True)) <= 3


def correlation(a: list[int], b: list[int]) -> float:
    x, y = (np.array(values, dtype=object).astype(np.float64) for values in (a, b))
    return float(abs(np.corrcoef(x, y)[0, 1]))


def test_without_flooding_the_noise_tells_u(monkeypatch: pytest.MonkeyPatch) -> None:
    """The key's holder knows the errors of its encryptions: it tries candidates for U."""
    maker, u, v = maker_of(uniform(1)), uniform(1, SLOTS), uniform(SLOTS)
    candidates = [u, uniform(1, SLOTS)]
    noises = []
    for candidate in candidates:
        made = maker._products(candidate)
        assert made is not None
        noises.append(noise_of(made))
    flooded = noise_of(sum_of(maker, u, v))
    assert all(correlation(flooded, noise) < CHANCE for noise in noises)
    monkeypatch.setattr(products, "flooding", no_flooding)
    bare = noise_of(sum_of(maker, u, v))
    assert correlation(bare, noises[0]) > 0.999
    # Both are made with the same errors, which widens chance by half.
    assert correlation(bare, noises[1]) < 1.5 * CHANCE


@pytest.mark.parametrize("value", [1, MODULUS // 2])
def test_the_noise_of_what_was_sent_is_flooding_only(value: int) -> None:
    """For the smallest and the largest U alike, bit by bit of what is left at two primes."""
    maker = maker_of(uniform(2))
    message = maker.message(np.full((2, SLOTS), value, dtype=np.uint64), uniform(SLOTS))
    noise = np.array(noise_of(loaded(message)))
    # Four primes become two: 2^138 on either side becomes 2^38, and some from rounding.
    half = 2.0 ** (FLOOD_BITS - 1 - 100)
    assert half * (1 - CHANCE) < np.abs(noise).max() < half * 1.001
    assert abs((noise > 0).mean() - 0.5) < CHANCE / 2
    for bit in range(16, FLOOD_BITS - 101):
        assert abs(((noise >> bit) & 1).mean() - 0.5) < CHANCE / 2


def loaded(message: bytes) -> SealCiphertext:
    context = product_context()
    part = products._part(context, message, key().fingerprint, 2)
    return context.loaded(part, 2)


def test_messages_of_the_same_numbers_have_nothing_in_common() -> None:
    maker, u, v = maker_of(uniform(1)), uniform(1, SLOTS), uniform(SLOTS)
    one, other = loaded(maker.message(u, v)), loaded(maker.message(u, v))
    for polynomial in range(2):
        pairs = zip(residues(one, polynomial, 0), residues(other, polynomial, 0), strict=True)
        assert sum(a == b for a, b in pairs) <= 3


def test_what_is_read_does_not_depend_on_u() -> None:
    """Every bit of Y is at chance for U that are nothing but zeros or ones."""
    maker = maker_of(uniform(2))
    for value in (0, MODULUS - 1):
        message = maker.message(np.full((2, SLOTS), value, dtype=np.uint64), uniform(SLOTS))
        y = key().read(message)
        bits = (y[:, None] >> np.arange(MODULUS_BITS, dtype=np.uint64)) & np.uint64(1)
        assert (abs(bits.mean(axis=0) - 0.5) < CHANCE / 2).all()


@pytest.mark.parametrize("d", [1, 6])
def test_noise_stays_within_its_bound(d: int) -> None:
    """The largest U there is, in every place, and random ones."""
    maker = maker_of(uniform(d))
    for u in (np.full((d, SLOTS), MODULUS // 2, dtype=np.uint64), uniform(d, SLOTS)):
        made = maker._products(u)
        assert made is not None
        largest = max(map(abs, noise_of(made)))
        # Random U have about a third of the variance of the largest, and 8192 places to be large.
        assert noise_bound(d) / 2**10 < largest < noise_bound(d)


def test_fresh_errors_are_as_the_bound_says() -> None:
    """Differences of two sums of 21 bits, of variance 21/2."""
    context = product_context()
    frame = products._part(context, key().encrypted(uniform(1))[0], key().fingerprint, 0)
    item = seal().Ciphertext()
    load(item, context.seal, frame)
    errors = np.array(noise_of(item), dtype=np.float64)
    assert np.abs(errors).max() <= ERROR_BITS
    # The variance of a square is 2·(21/2)² at most: seven deviations of the mean of 8192.
    assert abs((errors**2).mean() - ERROR_BITS / 2) < 7 * ERROR_BITS / 2 * math.sqrt(2 / SLOTS)
    assert 0.6 < np.abs(secret_coefficients()).mean() < 0.73


def test_the_distance_is_what_the_argument_says() -> None:
    assert -54.1 < statistical_distance(20, 1) < -53.9
    assert statistical_distance(100, 1) < -52
    assert statistical_distance(20, 2**14) == pytest.approx(statistical_distance(20, 1) + 14)
    assert statistical_distance(5, 3) < statistical_distance(6, 3) < statistical_distance(6, 4)
    # 10^6 rounds of 50 arms, 163 to a message.
    assert statistical_distance(20, math.ceil(1e6 / (SLOTS // 50))) < -41
    for d, batches in ((0, 1), (1, 0), (-1, 5)):
        with pytest.raises(InputError):
            statistical_distance(d, batches)


def test_noise_and_flooding_leave_room_for_numbers() -> None:
    q = math.prod(product_context().primes)
    assert 2 ** (FLOOD_BITS - 1) + noise_bound(10**6) < q / 2 ** (MODULUS_BITS + 1) / 3


def test_the_parameters_are_secure() -> None:
    assert sum(PRIME_BITS) <= LARGEST_MODULUS[SLOTS][SECURITY]
    context = product_context()
    assert tuple(p.bit_length() for p in context.primes) == PRIME_BITS[:-1]
    assert all(p % (2 * SLOTS) == 1 for p in context.primes)
    # Messages of other releases are read only as long as this stays.
    assert context.fingerprint == "2fe6183330f00fef8fc3cb90e165bf31"


limbs = st.tuples(
    *(
        st.one_of(st.sampled_from([0, 2**bits - 1]), st.integers(0, 2**bits - 1))
        for bits in (46, 46, 47)
    )
)


@given(st.lists(limbs, min_size=1, max_size=20))
def test_flooding_is_reduced_exactly(rows: list[tuple[int, int, int]]) -> None:
    arrays = np.array(rows, dtype=np.uint64).T
    numbers = [low + (middle << 46) + (high << 92) - 2**138 for low, middle, high in rows]
    for prime in product_context().primes:
        found = centred_residues(arrays, prime)
        assert found.tolist() == [number % prime for number in numbers]


def test_flooding_fills_its_range() -> None:
    """Each of 139 bits is at chance, which makes all numbers of the range equally likely."""
    primes = product_context().primes
    q = math.prod(primes)
    factors = [q // p * pow(q // p, -1, p) for p in primes]
    columns = flooding(primes).T.tolist()
    whole = [sum(f * r for f, r in zip(factors, c, strict=True)) % q for c in columns]
    numbers = [(x - q if x > q // 2 else x) + 2 ** (FLOOD_BITS - 1) for x in whole]
    assert all(0 <= number < 2**FLOOD_BITS for number in numbers)
    for bit in range(FLOOD_BITS):
        ones = sum(number >> bit & 1 for number in numbers)
        assert abs(ones / SLOTS - 0.5) < CHANCE / 2
    assert (flooding(primes) != flooding(primes)).mean() > 0.999
