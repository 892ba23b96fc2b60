"""Words modulo 2^61 - c, beside Python's integers."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from lotor.core.draws import Words
from lotor.core.errors import InputError
from lotor.crypto.residues import WORD_DISTANCE
from lotor.crypto.residues.folding import loose, loose_sum, once_less, settled, shifted
from lotor.crypto.residues.modulus import Modulus, _all_primes

PRIMES = (*_all_primes()[::16], _all_primes()[-1])
EVERY, EXCESS = Modulus._of_primes(PRIMES).columns(1)
EDGES = np.array(
    [n + e for n in (1, 2**12, 2**32, 2**49, 2**60, 2**61, 2**63) for e in (-1, 0, 1)]
    + [2**64 - 1, *PRIMES],
    np.uint64,
)
words = hnp.arrays(np.uint64, st.integers(1, 20))


def numbers(array: Words) -> list[int]:
    return [int(n) for n in array]


def for_each_prime(some: Words) -> Words:
    return np.broadcast_to(some, (len(PRIMES), *some.shape))


def check_fold(low: Words, high: Words) -> None:
    found = loose(for_each_prime(low), for_each_prime(high), EXCESS)
    assert (found < np.uint64(3 << 61)).all()
    reduced = settled(found, EVERY, EXCESS)
    wanted = [(a % 2**61) + (b << 61) for a, b in zip(numbers(low), numbers(high), strict=True)]
    for prime, some in zip(PRIMES, reduced, strict=True):
        assert numbers(some) == [n % prime for n in wanted]


def test_edges() -> None:
    low, high = (axis.reshape(-1) for axis in np.meshgrid(EDGES, EDGES))
    check_fold(low, high)


@given(st.data())
def test_any_words(data: st.DataObject) -> None:
    low = data.draw(words)
    check_fold(low, data.draw(hnp.arrays(np.uint64, low.shape)))


@given(words)
def test_any_word_is_settled(some: Words) -> None:
    for prime, found in zip(PRIMES, settled(for_each_prime(some), EVERY, EXCESS), strict=True):
        assert numbers(found) == [n % prime for n in numbers(some)]


def test_edges_are_settled() -> None:
    for prime, found in zip(PRIMES, settled(for_each_prime(EDGES), EVERY, EXCESS), strict=True):
        assert numbers(found) == [n % prime for n in numbers(EDGES)]


def test_once_less() -> None:
    for prime in (PRIMES[0], PRIMES[-1]):
        edges = [0, 1, prime - 1, prime, prime + 1, 2 * prime - 1]
        found = once_less(np.array(edges, np.uint64), np.array([prime], np.uint64))
        assert numbers(found) == [n % prime for n in edges]


@given(hnp.arrays(np.uint64, st.tuples(st.integers(1, 40), st.integers(1, 4))))
def test_sums_of_any_words(some: Words) -> None:
    found = settled(loose_sum(for_each_prime(some), 1, EXCESS), EVERY, EXCESS)
    for prime, sums in zip(PRIMES, found, strict=True):
        assert numbers(sums) == [sum(column) % prime for column in some.astype(object).T]


def test_many_large_words_are_summed() -> None:
    largest = np.full((1 << 16, 1), 2**64 - 1, np.uint64)
    found = settled(loose_sum(for_each_prime(largest), 1, EXCESS), EVERY, EXCESS)
    assert numbers(found[:, 0]) == [(2**64 - 1 << 16) % prime for prime in PRIMES]
    endless = np.broadcast_to(np.uint64(1), (2**28 + 1,))
    with pytest.raises(InputError, match=r"2\^28 is the most"):
        loose_sum(endless, 0, EXCESS)


@given(st.integers(0, PRIMES[-1] - 1))
def test_shifts(number: int) -> None:
    by = np.arange(62, dtype=np.uint64)
    some = for_each_prime(np.full(62, number, np.uint64))
    found = settled(shifted(some, by, EXCESS), EVERY, EXCESS)
    for prime, some in zip(PRIMES, found, strict=True):
        assert numbers(some) == [number * 2**j % prime for j in range(62)]


def test_residues_of_uniform_words_are_nearly_uniform() -> None:
    """Exactly: r residues have one of the N numbers more than the others."""
    total = 2**125
    for prime in _all_primes():
        r = total % prime
        distance = Fraction(r * (prime - r), prime * total)
        assert distance < Fraction(1, 2**-WORD_DISTANCE)
    assert WORD_DISTANCE == -98
