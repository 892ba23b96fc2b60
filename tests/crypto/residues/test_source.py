"""Numbers and matrices that are drawn with a key."""

import hashlib
from collections import Counter

import numpy as np
import pytest
from scipy.stats import chisquare

from lotor.core.errors import CryptoError, InputError
from lotor.crypto.residues import Modulus, ResidueSource, determinant

KEY = bytes(range(32))
MODULUS = Modulus(3)


def test_a_place_always_has_the_same_numbers() -> None:
    source = ResidueSource(KEY, MODULUS)
    first = source.numbers(1, 7, 5)
    source.invertible(2, 7, 3)
    assert (source.numbers(1, 7, 5) == first).all()
    assert (ResidueSource(KEY, MODULUS).numbers(1, 7, 9)[:5] == first).all()
    assert (
        source.invertible(2, 8, 3)[0] == ResidueSource(KEY, MODULUS).invertible(2, 8, 3)[0]
    ).all()


def test_other_places_and_keys_have_others() -> None:
    sources = [ResidueSource(key, MODULUS) for key in (KEY, bytes(32))]
    places = [(0, 0), (1, 0), (0, 1), (2**32 - 1, 0), (0, 2**64 - 1)]
    drawn = [n for source in sources for place in places for n in source.numbers(*place, 4)]
    assert len(set(drawn)) == 2 * 5 * 4
    assert all(0 <= n < MODULUS.product for n in drawn)


def test_known_answer() -> None:
    source = ResidueSource(KEY, MODULUS)
    matrix, found = source.invertible(3, 4, 2)
    drawn = [*source.numbers(1, 2, 3), *matrix.ravel(), found]
    text = " ".join(str(n) for n in drawn)
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == KNOWN


KNOWN = "eeee724fd4e1961c"


def test_matrices_are_uniform_on_the_invertible_ones() -> None:
    """All 288 of GL_2(Z/6) occur, as often as each other; the key is fixed."""
    six = Modulus._of_primes((2, 3))
    source = ResidueSource(KEY, six)
    drawn = [source.invertible(0, n, 2) for n in range(20 * 288)]
    assert all(found in (1, 5) for _, found in drawn)
    counts = Counter(tuple(matrix.ravel().tolist()) for matrix, _ in drawn)
    assert len(counts) == 288
    assert chisquare(list(counts.values())).pvalue > 0.01


def test_singular_matrices_are_passed_over() -> None:
    """The first one that is not singular is taken, from the same stream."""
    two = Modulus._of_primes((2,))
    source = ResidueSource(KEY, two)
    passed = 0
    for round_ in range(40):
        bits = source.numbers(0, round_, 4 * 40).reshape(-1, 2, 2)
        which = next(n for n, matrix in enumerate(bits) if determinant(matrix, two))
        assert (source.invertible(0, round_, 2)[0] == bits[which]).all()
        passed += which
    assert passed > 0


def test_numbers_are_uniform() -> None:
    numbers = ResidueSource(KEY, MODULUS).numbers(0, 0, 3200)
    sixteenths = np.bincount([int(16 * n // MODULUS.product) for n in numbers], minlength=16)
    assert chisquare(sixteenths).pvalue > 0.01


def test_bad_arguments() -> None:
    with pytest.raises(CryptoError, match="32 bytes, not 16"):
        ResidueSource(bytes(16), MODULUS)
    source = ResidueSource(KEY, MODULUS)
    for place in ((-1, 0), (2**32, 0), (0, -1), (0, 2**64)):
        with pytest.raises(InputError, match="no such place"):
            source.numbers(*place, 1)
        with pytest.raises(InputError, match="no such place"):
            source.invertible(*place, 2)
    assert repr(source) == "<ResidueSource>"
