"""Whole numbers and their residues."""

import math

import gmpy2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lotor.core.errors import InputError
from lotor.crypto.residues import RESIDUE_BITS, Modulus, Residues

counts = st.integers(1, 6)
moduli = counts.map(Modulus)
integers = st.lists(st.integers(-(2**400), 2**400), min_size=1, max_size=8)


def edges(modulus: Modulus) -> Residues:
    """0, 1 and p - 1 in all mixtures."""
    each = [np.array([0, 1, p - 1], np.uint64) for p in modulus.primes]
    return np.stack(np.meshgrid(*each), axis=-1).reshape(-1, modulus.count)


@given(moduli, integers)
def test_there_and_back(modulus: Modulus, numbers: list[int]) -> None:
    residues = modulus.residues(np.array(numbers, object))
    assert residues.shape == (len(numbers), modulus.count)
    assert modulus.contains(residues)
    assert residues.tolist() == [[n % p for p in modulus.primes] for n in numbers]
    assert modulus.whole(residues).tolist() == [n % modulus.product for n in numbers]


@given(moduli, st.data())
def test_signed_numbers(modulus: Modulus, data: st.DataObject) -> None:
    half = int(modulus.product // 2)
    number = data.draw(st.integers(-half, half) | st.sampled_from([-half, -1, 0, 1, half]))
    assert modulus.signed(modulus.residues(number)) == number


def test_numbers_of_any_shape_and_kind() -> None:
    modulus = Modulus(2)
    for numbers in (-3, [1, -2], np.arange(6).reshape(2, 3) - 3, np.uint64(2**64 - 1)):
        residues = modulus.residues(numbers)
        assert residues.shape == (*np.shape(numbers), 2)
        assert np.array_equal(modulus.signed(residues), np.asarray(numbers).astype(object))
    with pytest.raises(InputError, match="whole numbers, not of float64"):
        modulus.residues(0.5)


@given(moduli, integers, integers)
def test_arithmetic(modulus: Modulus, left: list[int], right: list[int]) -> None:
    a, b = modulus.residues(left[0]), modulus.residues(np.array(right, object))
    for found, wanted in (
        (modulus.add(a, b), [left[0] + n for n in right]),
        (modulus.subtract(a, b), [left[0] - n for n in right]),
        (modulus.negate(b), [-n for n in right]),
        (modulus.double(b), [2 * n for n in right]),
    ):
        assert modulus.contains(found)
        assert modulus.whole(found).tolist() == [n % modulus.product for n in wanted]
    assert modulus.whole(modulus.total(b)) == sum(right) % modulus.product


def test_arithmetic_at_the_edges() -> None:
    modulus = Modulus(3)
    all_, p = edges(modulus), modulus.product
    whole = modulus.whole(all_)
    added = modulus.add(all_[:, np.newaxis], all_)
    assert modulus.contains(added)
    assert (modulus.whole(added) == (whole[:, np.newaxis] + whole) % p).all()
    subtracted = modulus.subtract(all_[:, np.newaxis], all_)
    assert modulus.contains(subtracted)
    assert (modulus.whole(subtracted) == (whole[:, np.newaxis] - whole) % p).all()
    assert modulus.contains(modulus.negate(all_))
    assert (modulus.whole(modulus.negate(all_)) == -whole % p).all()


def test_sums_over_any_axis_but_the_last() -> None:
    modulus = Modulus(3)
    largest = np.broadcast_to(modulus.negate(modulus.residues(1)), (5, 1000, 2, 3))
    assert (modulus.signed(modulus.total(largest, axis=1)) == -1000).all()
    assert modulus.total(largest, axis=-2).shape == (5, 1000, 3)
    assert (modulus.signed(modulus.total(largest)) == -5).all()
    for last in (3, -1):
        with pytest.raises(InputError, match="sum over another axis"):
            modulus.total(largest, axis=last)


def test_words_are_reduced() -> None:
    modulus = Modulus(4)
    words = np.random.default_rng(1).integers(0, 2**64, (50, 4, 2), dtype=np.uint64)
    words[0], words[1] = 0, 2**64 - 1
    wanted = [
        [(a % 2**61 + (b << 61)) % p for (a, b), p in zip(each, modulus.primes, strict=True)]
        for each in words.tolist()
    ]
    assert modulus.reduced(words).tolist() == wanted


def test_what_are_no_residues() -> None:
    modulus = Modulus(2)
    good = modulus.residues([1, -1])
    assert modulus.contains(good)
    assert not modulus.contains(good.astype(np.int64))
    assert not modulus.contains(good[:, :1])
    for prime in (0, 1):
        bad = good.copy()
        bad[1, prime] = modulus.primes[prime]
        assert not modulus.contains(bad)


def test_the_primes_are_the_largest_of_61_bits() -> None:
    """Smaller ones would divide determinants too often."""
    modulus = Modulus(100)
    assert modulus.primes[0] == 2**61 - 1
    assert all(p.bit_length() == RESIDUE_BITS and gmpy2.is_prime(p, 50) for p in modulus.primes)
    between = set(range(modulus.primes[-1], 2**61)) - set(modulus.primes)
    assert not any(gmpy2.is_prime(n, 25) for n in between)
    assert modulus.product == math.prod(modulus.primes)
    assert [2**61 - p for p in Modulus(8).primes] == [1, 31, 45, 229, 259, 283, 339, 391]


@pytest.mark.parametrize(
    ("bits", "count"), [(1, 1), (60, 1), (61, 2), (121, 2), (122, 3), (600, 10), (6000, 99)]
)
def test_so_many_primes_as_bits_need(bits: int, count: int) -> None:
    modulus = Modulus.of_bits(bits)
    assert (modulus.count, modulus.bits) == (count, 61 * count)
    assert modulus.product > 2**bits
    assert modulus == Modulus(count)
    assert hash(modulus) == hash(Modulus(count))
    assert modulus != Modulus(count + 1)
    assert repr(modulus) == f"<Modulus of {count} primes, {61 * count} bits>"


def test_moduli_that_do_not_exist() -> None:
    for count in (0, -1, 101):
        with pytest.raises(InputError, match=f"1 to 100 primes, not {count}"):
            Modulus(count)
    with pytest.raises(InputError, match="1 to 100 primes"):
        Modulus.of_bits(6100)
    with pytest.raises(InputError, match="1 bit at least"):
        Modulus.of_bits(0)
