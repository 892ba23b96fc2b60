"""Powers of fixed elements equal the built-in ones, whatever the way that is chosen."""

import numpy as np
import pytest
from gmpy2 import mpz
from hypothesis import given
from hypothesis import strategies as st

from lotor.core.errors import InputError
from lotor.crypto.paillier.powers import (
    Buckets,
    FixedBase,
    Tables,
    choose_plan,
    invert_all,
    signed_digits,
)

MODULUS = mpz(2**127 - 1) * mpz(2**89 - 1)
units = st.integers(2, 2**89 - 2).map(mpz)
windows = st.integers(2, 12)


@given(units, st.integers(1, 300), windows, st.data())
def test_tables_of_one_base_give_its_powers(
    base: mpz, bits: int, window: int, data: st.DataObject
) -> None:
    exponent = data.draw(st.integers(0, 2**bits - 1) | st.just(2**bits - 1))
    powers = FixedBase(base, MODULUS, bits, window)
    size = (bits + 7) // 8
    assert powers.power(exponent.to_bytes(size, "little")) == pow(base, exponent, MODULUS)


@pytest.mark.parametrize(
    ("uses", "method"), [(0, "powmod"), (1, "powmod"), (20, "buckets"), (5_000, "tables")]
)
def test_the_way_follows_from_the_number_of_uses(uses: int, method: str) -> None:
    powers = FixedBase.for_uses(mpz(3), MODULUS, 2112, uses)
    assert powers.method.startswith(method)
    exponent = bytes(range(1, 255)) + bytes(10)
    assert powers.power(exponent) == pow(3, int.from_bytes(exponent, "little"), MODULUS)


def test_an_exponent_beyond_the_table_is_refused() -> None:
    powers = FixedBase(mpz(3), MODULUS, 9)
    assert powers.power((511).to_bytes(2, "little")) == pow(3, 511, MODULUS)
    with pytest.raises(InputError, match="more than the 9 bits"):
        powers.power((512).to_bytes(2, "little"))


@pytest.mark.parametrize(("bits", "window"), [(0, 8), (8, 1), (8, 13)])
def test_impossible_tables_are_refused(bits: int, window: int) -> None:
    with pytest.raises(InputError, match="window"):
        FixedBase(mpz(3), MODULUS, bits, window)


@given(st.integers(2, 48), windows, st.data())
def test_signed_digits_are_small_and_give_the_number_back(
    bits: int, window: int, data: st.DataObject
) -> None:
    low, high = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
    numbers = data.draw(st.lists(st.integers(low, high), min_size=1, max_size=5))
    array = np.array([*numbers, low, high], dtype=np.int64)
    digits = signed_digits(array, bits, window)
    assert abs(digits.astype(int)).max() <= 2 ** (window - 1)
    weights = [1 << (window * place) for place in range(digits.shape[-1])]
    assert (digits.astype(object) @ np.array(weights, dtype=object) == array).all()


@given(st.lists(units, min_size=1, max_size=4), st.integers(2, 40), windows, st.data())
def test_tables_and_buckets_multiply_signed_powers(
    bases: list[mpz], bits: int, window: int, data: st.DataObject
) -> None:
    extremes = st.sampled_from([-(2 ** (bits - 1)), 2 ** (bits - 1) - 1, 0])
    exponent = st.integers(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) | extremes
    # Fewer exponents than bases: the others take no part.
    exponents = data.draw(st.lists(exponent, max_size=len(bases)))
    expected = mpz(1)
    for base, power in zip(bases, exponents, strict=False):
        expected = expected * pow(base, power, MODULUS) % MODULUS
    digits = signed_digits(np.array(exponents, dtype=np.int64), bits, window)
    for engine in (Tables, Buckets):
        powers = engine(bases, MODULUS, digits.shape[-1], window)
        assert powers.product(digits.reshape(-1).tolist()) == expected


@given(st.lists(units, max_size=8))
def test_inverses_of_many(elements: list[mpz]) -> None:
    inverses = invert_all(elements, MODULUS)
    assert all(a * b % MODULUS == 1 for a, b in zip(elements, inverses, strict=True))


@given(st.integers(1, 1000), st.integers(2, 48), st.integers(0, 10**6), st.integers(0, 10**8))
def test_plans_keep_to_their_memory_and_more_uses_never_build_less(
    count: int, bits: int, uses: int, table_bytes: int
) -> None:
    few = choose_plan(count, bits, uses, MODULUS, table_bytes)
    many = choose_plan(count, bits, 10 * uses, MODULUS, table_bytes)
    assert many.setup >= few.setup
    assert many.each <= few.each
    if few.method == "tables":
        entries = count * few.digits << (few.window - 1)
        assert entries * MODULUS.bit_length() // 8 <= table_bytes
