"""1 / (1 + d), against fractions."""

from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from crypto.garbling.parties import Bits, plainly, secretly
from lotor.crypto.garbling import ReciprocalCircuit, bits_of
from lotor.crypto.garbling.reciprocal import PIECES, quadratics

PIECE = 1 << 22
ONE = 1 << 30
CIRCUIT = ReciprocalCircuit()
LARGEST = 2**0.4
"""Of all arguments, 6 · 2^22 has the largest error, 1.3142."""
Run = Callable[..., Bits]


def errors(arguments: Sequence[int] | NDArray[np.int64], run: Run = plainly) -> NDArray[np.float64]:
    """Of each y = d · 2^30 + 2^22, in units of 2^-28; shares and masks are random."""
    y = np.array(arguments, np.uint64)
    rng = np.random.default_rng(len(y))
    x, mask = (
        rng.integers(0, 1 << 31, len(y), np.uint64),
        rng.integers(0, 1 << 64, len(y), np.uint64),
    )
    other = (y - x) & np.uint64((1 << 31) - 1)
    widths = ((x, 31), (other, 31), (mask, 64))
    bits = run(CIRCUIT, *(bits_of(words, width)[:, np.newaxis] for words, width in widths))
    shifts = np.arange(64, dtype=np.uint64)[:, np.newaxis]
    found = (bits.astype(np.uint64) << shifts).sum(axis=0) - mask
    # Results of 29 bits and quotients of 53 are exact enough.
    off: NDArray[np.float64] = found - 2.0**58 / (y.astype(np.float64) + (ONE - PIECE))
    return off


def test_all_over_the_range() -> None:
    found = errors(np.random.default_rng(1).integers(PIECE, PIECE + ONE, 6_000))
    assert abs(found).max() < LARGEST
    assert abs(found.mean()) < 0.02


@pytest.mark.parametrize("first", [0, PIECE - 500, PIECE + ONE - 500, PIECES * PIECE - 1000])
def test_the_ends_and_a_bit_outside(first: int) -> None:
    assert abs(errors(range(first, first + 1000))).max() < LARGEST


def test_both_sides_of_all_pieces() -> None:
    borders = [piece * PIECE + near for piece in range(1, PIECES) for near in (-1, 0, 1)]
    assert abs(errors(borders)).max() < LARGEST


@settings(max_examples=50)
@given(st.lists(st.integers(0, PIECES * PIECE - 1), min_size=1, max_size=20))
def test_any_number(arguments: list[int]) -> None:
    assert abs(errors(arguments)).max() < LARGEST


def test_under_encryption() -> None:
    arguments = [0, PIECE, PIECE + 12345678, PIECE + ONE // 2, PIECE + ONE]
    assert np.array_equal(errors(arguments, secretly), errors(arguments))


def test_quadratics_in_the_middle_of_each_piece() -> None:
    """They meet 1 / (1 + d) there, but for the half that rounds and what the circuit cuts off."""
    for piece, (zeroth, first, second) in enumerate(zip(*quadratics(), strict=True)):
        value = Fraction(zeroth, 2**35) + Fraction(first, 2**35) + Fraction(second, 2**34)
        wanted = 1 / (1 + Fraction(2 * piece - 1, 512) - Fraction(1, 2**30))
        assert 0.5 < (value - wanted) * 2**28 < 0.7


def test_what_a_reciprocal_costs() -> None:
    assert (CIRCUIT.ands, CIRCUIT.levels) == (1675, 50)
    assert (CIRCUIT.inputs, CIRCUIT.output) == (((31, 1), (31, 1), (64, 1)), (64,))
