"""Matrices modulo a product of primes."""

import math
from itertools import permutations, product
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from lotor.core.errors import CryptoError, InputError
from lotor.crypto.residues import (
    Modulus,
    Numbers,
    ResidueSource,
    determinant,
    inverted,
    multiplied,
)

# With small primes every way to find a pivot is taken, and singular matrices are common.
SIX, THIRTY = Modulus._of_primes((2, 3)), Modulus._of_primes((2, 3, 5))
LARGE = Modulus(3)

matrices = st.integers(1, 4).flatmap(
    lambda d: hnp.arrays(np.int64, (d, d), elements=st.integers(0, 29))
)


def leibniz(matrix: Numbers) -> int:
    """The determinant by its definition."""
    total = 0
    for order in permutations(range(len(matrix))):
        swaps = sum(a > b for n, a in enumerate(order) for b in order[n + 1 :])
        total += (-1) ** swaps * math.prod(int(matrix[n, a]) for n, a in enumerate(order))
    return total


def check(matrix: Numbers, modulus: Modulus) -> bool:
    """Whether there is an inverse; all that is computed must agree."""
    wanted = leibniz(matrix) % modulus.product
    if math.gcd(int(wanted), int(modulus.product)) != 1:
        assert determinant(matrix, modulus) is None
        with pytest.raises(CryptoError, match="singular modulo one of the primes"):
            inverted(matrix, modulus)
        return False
    inverse = inverted(matrix, modulus)
    assert inverse.determinant == determinant(matrix, modulus) == wanted
    identity = np.eye(len(matrix), dtype=int) % modulus.product
    assert (multiplied(matrix, inverse.matrix, modulus) == identity).all()
    assert (multiplied(inverse.matrix, matrix, modulus) == identity).all()
    assert ((inverse.matrix >= 0) & (inverse.matrix < modulus.product)).all()
    return True


def test_all_matrices_of_two_rows_modulo_6() -> None:
    entries = product(range(6), repeat=4)
    found = [check(np.array(four, object).reshape(2, 2), SIX) for four in entries]
    assert sum(found) == 6 * 48  # |GL_2(2)| times |GL_2(3)|


@given(matrices)
def test_any_matrix_modulo_30(matrix: Numbers) -> None:
    check(matrix.astype(object), THIRTY)


@given(st.integers(1, 5), st.randoms(use_true_random=False))
def test_zero_leading_minors(size: int, random: Random) -> None:
    """A permutation of rows of a triangular matrix."""
    matrix = np.array([[r * c + 1 if r <= c else 0 for c in range(size)] for r in range(size)])
    order = list(range(size))
    random.shuffle(order)
    assert check(matrix[order].astype(object), LARGE)


def test_no_row_has_a_pivot_for_all_primes() -> None:
    p, q, r = LARGE.primes
    mixed = np.array([[p * q, 1, 0], [q * r, 1, 1], [r * p, 0, 1]], object)
    assert all(math.gcd(int(n), int(LARGE.product)) > 1 for n in mixed[:, 0])
    assert check(mixed, LARGE)


@pytest.mark.parametrize("prime", [0, 1, 2])
def test_singular_modulo_one_prime_is_singular(prime: int) -> None:
    p = LARGE.primes[prime]
    assert not check(np.array([[p, 0], [0, 1]], object), LARGE)
    assert not check(np.array([[1, 2], [3, 6 + p]], object), LARGE)
    assert check(np.array([[p, 1], [1, 0]], object), LARGE)


@pytest.mark.parametrize("size", [2, 3, 10, 17])
def test_large_matrices(size: int) -> None:
    modulus = Modulus(size)
    matrix, found = ResidueSource(bytes(32), modulus).invertible(0, 0, size)
    inverse = inverted(matrix, modulus)
    assert inverse.determinant == found
    assert (multiplied(matrix, inverse.matrix, modulus) == np.eye(size, dtype=int)).all()
    assert inverted(inverse.matrix, modulus).determinant * found % modulus.product == 1


def test_vectors_and_negative_numbers() -> None:
    matrix, vector = np.array([[1, -2], [0, 3]], object), np.array([4, 5], object)
    assert multiplied(matrix, vector, THIRTY).tolist() == [24, 15]
    assert inverted(np.array([[-1]], object), THIRTY).determinant == 29


@pytest.mark.parametrize("shape", [(2, 3), (4,), (0, 0), (2, 2, 2)])
def test_only_square_matrices_have_inverses(shape: tuple[int, ...]) -> None:
    for act in (inverted, determinant):
        with pytest.raises(InputError, match="only square matrices"):
            act(np.ones(shape, object), LARGE)


def test_what_was_given_is_not_changed_nor_shown() -> None:
    matrix = np.array([[0, 1], [1, 7]], object)
    kept = matrix.copy()
    assert repr(inverted(matrix, LARGE)) == "<Inverse of 2 rows>"
    determinant(matrix, LARGE)
    assert (matrix == kept).all()
