"""1 / (1 + d) by two servers without a dealer, on its whole range."""

import numpy as np
import pytest
from numpy.polynomial import Chebyshev, Polynomial
from numpy.typing import NDArray

from crypto.sharing.prepared import Pair, at_both
from crypto.sharing.table import shared, signed
from lotor.crypto.sharing import Recipe, Words, polynomial_reciprocal, settled
from lotor.crypto.sharing.circuits import Circuit
from lotor.crypto.sharing.engine import Engine
from lotor.crypto.sharing.polynomial import COEFFICIENTS, POWER_BITS
from lotor.crypto.sharing.shares import Shared

PAIR = Pair()
DEGREE = 12
SLACK = 2.0**-8


def reciprocals(d: Words, bits: int, behind: int, ring: int) -> NDArray[np.int64]:
    """Of each number by itself: a circuit takes one."""

    def circuit(engine: Engine, d: Shared) -> Circuit[Shared]:
        return settled(engine, (yield from polynomial_reciprocal(engine, d, bits, behind, ring)))

    found = []
    for each in d:
        inputs = [shared(np.array([each]), seed=int(each) % 1009)]
        one, other = PAIR.run(*at_both(circuit, inputs))
        found.append(one.share + other.share)
    return np.concatenate(found).view(np.int64)


def errors(d: Words, bits: int = 28, behind: int = 48, ring: int = 51) -> NDArray[np.float64]:
    """In units of the last place."""
    exact = 2.0 ** (behind + bits) / (2.0**behind + d.view(np.int64))
    return reciprocals(d, bits, behind, ring) - exact


def test_the_coefficients_are_found_again() -> None:
    """Interpolated in Chebyshev's points of the range, with 30 bits behind the point."""
    low, high = -1 - 2.0**-6, 1 + 2.0**-3
    nodes = np.cos(np.pi * (2 * np.arange(DEGREE + 1) + 1) / (2 * DEGREE + 2))
    points = (low + high) / 2 + (high - low) / 2 * nodes
    values = 1 / (1.5 + points / 2)
    found = Chebyshev.fit(points, values, DEGREE, domain=[low, high])
    powers = found.convert(kind=Polynomial, domain=[-1, 1], window=[-1, 1])
    assert [round(each * 2**POWER_BITS) for each in powers.coef] == list(COEFFICIENTS)
    assert len(COEFFICIENTS) == DEGREE + 1


def test_the_polynomial_itself_is_close() -> None:
    """Without any rounding on the way: a third of a unit of 2^-28 off, and 0.14 on average."""
    s = np.linspace(-1, 1, 100_001)
    assert np.abs(off(s)).max() < 0.36
    assert -0.145 < off(s).mean() < -0.14
    assert np.abs(off(np.linspace(-1 - 2.0**-6, 1 + 2.0**-3, 100_001))).max() < 0.62


def off(s: NDArray[np.float64]) -> NDArray[np.float64]:
    """How far the polynomial is off, in units of 2^-28."""
    found = Polynomial([each * 2.0**-POWER_BITS for each in COEFFICIENTS])(s)
    exact: NDArray[np.float64] = 1 / (1.5 + s / 2)
    return (found - exact) * 2**28


def numbers(behind: int, count: int) -> Words:
    """All over the range and a little outside, and all kinds of ends."""
    one = 1 << behind
    slack = int(one * SLACK)
    ends = [0, 1, -1, one - 1, one, one + 1, one // 2, -slack, one + slack, one // 3]
    some = np.random.default_rng(behind).integers(-slack, one + slack, count).tolist()
    return signed([*ends, *np.linspace(0, one, 11).astype(int).tolist(), *some])


def test_less_than_a_unit_and_a_half_off() -> None:
    found = errors(numbers(48, 60))
    assert np.abs(found).max() < 1.5
    assert abs(found.mean()) < 0.5


@pytest.mark.parametrize("bits", [8, 20, 28, 30])
@pytest.mark.parametrize(("behind", "ring"), [(48, 51), (52, 59), (40, 64), (31, 64)])
def test_in_other_rings_and_units(bits: int, behind: int, ring: int) -> None:
    """A unit for the last cut, and what powers and coefficients are off."""
    found = errors(numbers(behind, 5), bits, behind, ring)
    assert np.abs(found).max() < 1 + 2.0 ** (bits - 28.5)


@pytest.mark.long
def test_two_thousand_numbers() -> None:
    """The mean is that of the polynomial itself."""
    found = errors(numbers(48, 2000))
    assert np.abs(found).max() < 1.5
    assert abs(found.mean() + 0.14) < 0.05


def test_rounds() -> None:
    """As many as the docstring says."""
    recipe = Recipe.of(
        lambda engine: polynomial_reciprocal(engine, engine.shared(signed([0])), 28, 48, 51)
    )
    assert recipe.rounds == 11
    assert recipe.sent == 0
