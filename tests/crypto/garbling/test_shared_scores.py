"""The largest of shared scores, against Python's: exact, and the first of equals."""

import random
from collections.abc import Callable, Sequence
from math import isqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crypto.garbling.parties import Bits, plainly, secretly
from lotor.core.errors import InputError
from lotor.crypto.garbling import (
    ResidueArgmaxCircuit,
    RootArgmaxCircuit,
    SumArgmaxCircuit,
    bits_of_integers,
    residue_width,
    summand_bits,
)

Run = Callable[..., Bits]
Rows = Sequence[Sequence[int]]
"""Numbers of each circuit of a batch, by places."""

PRIMES = [2**61 - 1, 2**61 - 31, 2**61 - 45]
MODULI = [2, 3, 101, 2**16, 2**61 - 1, PRIMES[0] * PRIMES[1], PRIMES[0] * PRIMES[1] * PRIMES[2]]
runs = pytest.mark.parametrize("run", [plainly, secretly])


def batch_of(bits: Sequence[Bits]) -> Bits:
    """(width, places) of each circuit to (width, places, batch)."""
    return np.stack(bits, axis=-1)


def wires(rows: Rows, width: int) -> Bits:
    return batch_of([bits_of_integers(row, width) for row in rows])


def shared(rows: Rows, shares: Rows, modulus: int) -> list[Bits]:
    """The inputs of both parties; `shares` are the evaluator's."""
    width = residue_width(modulus)
    others = [
        [(number - share) % modulus for number, share in zip(*pair, strict=True)]
        for pair in zip(rows, shares, strict=True)
    ]
    y, y_less = zip(*(summand_bits(row, modulus) for row in others), strict=True)
    return [wires(shares, width), batch_of(y), batch_of(y_less)]


def first_of_largest(rows: Rows) -> Bits:
    """One-hot, (places, batch)."""
    winners = [max(range(len(row)), key=row.__getitem__) for row in rows]
    return np.eye(len(rows[0]), dtype=np.uint8)[winners].T


def numbers_below(limit: int) -> st.SearchStrategy[int]:
    """Extremes, of which there are few, so that there are ties, and any others."""
    extremes = {0, 1, limit // 2, limit - 2, limit - 1}
    few = st.sampled_from([number for number in sorted(extremes) if 0 <= number < limit])
    return few | st.integers(0, limit - 1)


def rows_below(limit: int, places: int) -> st.SearchStrategy[list[list[int]]]:
    """The numbers of three circuits."""
    row = st.lists(numbers_below(limit), min_size=places, max_size=places)
    return st.lists(row, min_size=3, max_size=3)


@given(st.data(), st.integers(1, 9), st.sampled_from([1, 2, 7, 59, 64, 130]))
def test_sums(data: st.DataObject, places: int, width: int) -> None:
    numbers, shares = (data.draw(rows_below(1 << width, places)) for _ in range(2))
    inputs = shared(numbers, shares, 1 << width)[:2]
    found = plainly(SumArgmaxCircuit(places, width), *inputs)
    assert np.array_equal(found, first_of_largest(numbers))


@given(st.data(), st.integers(1, 9), st.sampled_from(MODULI), st.integers(0, 70))
def test_residues(data: st.DataObject, places: int, modulus: int, spare: int) -> None:
    width = max(residue_width(modulus) - spare, 1)
    numbers = data.draw(rows_below(min(modulus, 1 << width), places))
    shares = data.draw(rows_below(modulus, places))
    circuit = ResidueArgmaxCircuit(places, modulus, width)
    found = plainly(circuit, *shared(numbers, shares, modulus))
    assert np.array_equal(found, first_of_largest(numbers))


@given(
    st.data(),
    st.integers(1, 9),
    st.sampled_from(MODULI),
    st.sampled_from(MODULI),
    *[st.integers(0, 70)] * 3,
)
def test_roots(
    data: st.DataObject,
    places: int,
    modulus_a: int,
    modulus_c: int,
    spare_a: int,
    spare_c: int,
    drop: int,
) -> None:
    a_width = max(residue_width(modulus_a) - spare_a, 1)
    c_width = max(residue_width(modulus_c) - spare_c, 1)
    drop = min(drop, a_width - 1, (c_width - 1) // 2)
    a = data.draw(rows_below(min(modulus_a, 1 << a_width), places))
    c = data.draw(rows_below(min(modulus_c, 1 << c_width), places))
    a_shares, c_shares = (data.draw(rows_below(m, places)) for m in (modulus_a, modulus_c))
    circuit = RootArgmaxCircuit(
        places, modulus_a, modulus_c, a_width=a_width, c_width=c_width, drop=drop
    )
    found = plainly(circuit, *shared(a, a_shares, modulus_a), *shared(c, c_shares, modulus_c))
    assert np.array_equal(found, first_of_largest(scores(a, c, drop)))


def scores(a: Rows, c: Rows, drop: int) -> Rows:
    return [
        [(x >> drop) + isqrt(y >> 2 * drop) for x, y in zip(*pair, strict=True)]
        for pair in zip(a, c, strict=True)
    ]


def drawn(rng: random.Random, limit: int, places: int, ties: bool) -> Rows:
    """Numbers of four circuits, close to each other if there are to be ties."""
    start = rng.randrange(limit - 2)
    return [
        [start + rng.randrange(2) if ties else rng.randrange(limit) for _ in range(places)]
        for _ in range(4)
    ]


ways = pytest.mark.parametrize("ties", [False, True])


@ways
@pytest.mark.parametrize("places", [1, 2, 5, 30])
def test_sums_under_encryption(places: int, ties: bool) -> None:
    rng = random.Random(places)
    numbers, shares = drawn(rng, 2**59, places, ties), drawn(rng, 2**59, places, False)
    found = secretly(SumArgmaxCircuit(places, 59), *shared(numbers, shares, 2**59)[:2])
    assert np.array_equal(found, first_of_largest(numbers))


@ways
@pytest.mark.parametrize("places", [1, 2, 5, 30])
def test_residues_under_encryption(places: int, ties: bool) -> None:
    rng, modulus = random.Random(places), PRIMES[0] * PRIMES[1]
    numbers, shares = drawn(rng, 2**100, places, ties), drawn(rng, modulus, places, False)
    circuit = ResidueArgmaxCircuit(places, modulus, 100)
    found = secretly(circuit, *shared(numbers, shares, modulus))
    assert np.array_equal(found, first_of_largest(numbers))


@ways
@pytest.mark.parametrize("places", [1, 2, 3])
def test_roots_under_encryption(places: int, ties: bool) -> None:
    rng, modulus_a, modulus_c = random.Random(places), MODULI[-2], MODULI[-1]
    a, c = drawn(rng, 2**95, places, ties), drawn(rng, 2**149, places, ties)
    a_shares, c_shares = (drawn(rng, m, places, False) for m in (modulus_a, modulus_c))
    circuit = RootArgmaxCircuit(places, modulus_a, modulus_c, a_width=95, c_width=149, drop=36)
    found = secretly(circuit, *shared(a, a_shares, modulus_a), *shared(c, c_shares, modulus_c))
    assert np.array_equal(found, first_of_largest(scores(a, c, 36)))


@runs
def test_a_root_decides_by_its_last_unit(run: Run) -> None:
    a = [[8, 8], [8, 8], [8, 9], [9, 8], [9, 8]]
    c = [[15, 16], [16, 24], [16, 9], [16, 25], [16, 36]]
    circuit = RootArgmaxCircuit(2, 101, 101, a_width=5, c_width=6, drop=0)
    inputs = [bits for rows in (a, c) for bits in shared(rows, [[100, 0]] * 5, 101)]
    assert run(circuit, *inputs).T.tolist() == [[0, 1], [1, 0], [1, 0], [1, 0], [0, 1]]


@pytest.mark.parametrize(
    ("places", "ands", "levels"),
    [(2, 424, 16), (15, 4628, 42), (50, 11268, 104), (1000, 183393, 295)],
)
def test_what_the_largest_sum_costs(places: int, ands: int, levels: int) -> None:
    circuit = SumArgmaxCircuit(places, 59)
    assert (circuit.ands, circuit.levels, circuit.output) == (ands, levels, (places,))
    assert circuit.inputs == ((59, places), (59, places))


def test_inputs_and_outputs() -> None:
    circuit = ResidueArgmaxCircuit(4, 101, 6)
    assert (circuit.inputs, circuit.output) == (((7, 4),) * 3, (4,))
    root = RootArgmaxCircuit(4, 101, 2**9, a_width=6, c_width=9, drop=2)
    assert (root.inputs, root.output) == (((7, 4),) * 3 + ((9, 4),) * 3, (4,))


@given(st.sampled_from(MODULI).flatmap(lambda m: st.tuples(st.just(m), numbers_below(m))))
def test_the_garblers_summands(pair: tuple[int, int]) -> None:
    modulus, number = pair
    width = residue_width(modulus)
    y, y_less = (
        sum(int(bit) << i for i, bit in enumerate(bits[:, 0]))
        for bits in summand_bits([number], modulus)
    )
    assert (y, y_less) == (number, (number - modulus) % (1 << width))


@pytest.mark.parametrize("number", [-1, 101, 127])
def test_shares_that_are_not_reduced(number: int) -> None:
    with pytest.raises(InputError, match="negative or not below the modulus") as caught:
        summand_bits([3, number], 101)
    assert str(number) not in str(caught.value)


def test_circuits_that_cannot_be() -> None:
    with pytest.raises(InputError, match="at least one of each"):
        SumArgmaxCircuit(0, 59)
    with pytest.raises(InputError, match="at least one of each"):
        ResidueArgmaxCircuit(2, 101, 0)
    with pytest.raises(InputError, match="do not fit below a modulus of 7 bits"):
        ResidueArgmaxCircuit(2, 101, 8)
    with pytest.raises(InputError, match="a modulus is at least 2, not 1"):
        ResidueArgmaxCircuit(2, 1, 1)


@pytest.mark.parametrize(("a_width", "c_width", "drop"), [(5, 7, 4), (3, 7, 3), (5, 7, -1)])
def test_drops_that_leave_nothing(a_width: int, c_width: int, drop: int) -> None:
    with pytest.raises(InputError, match="at least one bit of each must be left"):
        RootArgmaxCircuit(2, 101, 101, a_width=a_width, c_width=c_width, drop=drop)
