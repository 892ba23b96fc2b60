"""Products of whatever is masked, and truncation."""

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crypto.sharing.table import (
    arrays,
    broadcastable,
    ending_settled,
    few_dims,
    mixed,
    run,
    seeds,
    shared,
    signed,
    traced,
)
from lotor.crypto.sharing import (
    Circuit,
    Engine,
    MaskedWords,
    Shared,
    SharedBits,
    Words,
    bit_to_word,
    contract,
    mask,
    moved,
    multiply,
    multiply_three,
    settled,
    square,
    together,
    truncate,
    upper_outer,
)

Kind = Callable[[Engine, Shared], Circuit[MaskedWords]]


def truncated(bits: int) -> Kind:
    return lambda engine, x: truncate(engine, x, bits)


def turned(engine: Engine, x: Shared) -> Circuit[MaskedWords]:
    """What the reciprocal multiplies."""
    return -(yield from truncate(engine, x, 20)) + (1 << 20)


def bit(engine: Engine, x: Shared) -> Circuit[MaskedWords]:
    """A bit of each share, whatever they are."""
    bits = SharedBits((x.share >> np.uint64(7)).astype(np.uint8), first=engine.first)
    return (yield from bit_to_word(engine, bits))


def rearranged(engine: Engine, x: Shared) -> Circuit[MaskedWords]:
    return moved(engine, (yield from truncate(engine, x, 30)), lambda v: v[..., ::-1])


# Where two were truncated by more than 32 bits together, the product of their wraps counts too.
KINDS: dict[str, Kind] = {
    "mask": mask,
    "bit": bit,
    "turned": turned,
    "rearranged": rearranged,
    **{f"truncate {bits}": truncated(bits) for bits in (1, 20, 32, 33, 40, 62)},
}
PAIRS = list(product(KINDS, repeat=2))


def all_products(
    combine: Callable[[Engine, MaskedWords, MaskedWords], Shared],
) -> Callable[[Engine, Shared, Shared], Circuit[Any]]:
    """Two values masked in every way, and the products of each with each."""

    def circuit(engine: Engine, x: Shared, y: Shared) -> Circuit[Any]:
        lefts, rights = yield from together(
            together(*(kind(engine, x) for kind in KINDS.values())),
            together(*(kind(engine, y) for kind in KINDS.values())),
        )
        values = [tuple(settled(engine, value) for value in side) for side in (lefts, rights)]
        return *values, tuple(combine(engine, a, b) for a, b in product(lefts, rights))

    return circuit


@settings(max_examples=25)
@given(broadcastable)
def test_multiply(values: tuple[Words, Words]) -> None:
    pair = shared(values[0], 1), shared(values[1], 2)
    lefts, rights, done = run(all_products(multiply), *pair).value
    for (a, b), found, names in zip(product(lefts, rights), done, PAIRS, strict=True):
        np.testing.assert_array_equal(found, a * b, str(names))


@settings(max_examples=10)
@given(broadcastable)
def test_multiply_three(values: tuple[Words, Words]) -> None:
    """Of the first value, masked in all ways, with itself and with the second."""
    pair = shared(values[0], 1), shared(values[1], 2)

    def cube(engine: Engine, a: MaskedWords, b: MaskedWords) -> Shared:
        return multiply_three(engine, a, b, a)

    lefts, rights, done = run(all_products(cube), *pair).value
    for (a, b), found, names in zip(product(lefts, rights), done, PAIRS, strict=True):
        np.testing.assert_array_equal(found, a * b * a, str(names))


@settings(max_examples=25)
@given(st.lists(st.integers(1, 4), min_size=1, max_size=3), seeds)
def test_contract(shape: list[int], seed: int) -> None:
    """A vector, a matrix or a stack of them, with a vector."""
    pair = shared(mixed(tuple(shape), seed), 1), shared(mixed((shape[-1],), seed + 1), 2)
    lefts, rights, done = run(all_products(contract), *pair).value
    for (a, b), found, names in zip(product(lefts, rights), done, PAIRS, strict=True):
        np.testing.assert_array_equal(found, np.atleast_1d((a * b).sum(axis=-1)), str(names))


@settings(max_examples=15)
@given(st.integers(1, 6), seeds)
def test_upper_outer(n: int, seed: int) -> None:
    """Row by row, from the diagonal on; also of values with several terms."""
    pair = shared(mixed((n,), seed), 1), shared(mixed((n,), seed + 1), 2)
    lefts, rights, done = run(all_products(upper_outer), *pair).value
    rows, columns = np.triu_indices(n)
    for (a, b), found, names in zip(product(lefts, rights), done, PAIRS, strict=True):
        np.testing.assert_array_equal(found, np.outer(a, b)[rows, columns], str(names))


@settings(max_examples=25)
@given(arrays(few_dims))
def test_square(x: Words) -> None:
    def circuit(engine: Engine, x: Shared) -> Circuit[Any]:
        values = yield from together(*(kind(engine, x) for kind in KINDS.values()))
        return tuple((settled(engine, value), square(engine, value)) for value in values)

    for (value, found), name in zip(run(circuit, shared(x)).value, KINDS, strict=True):
        np.testing.assert_array_equal(found, value * value, name)


def test_wraps_that_cannot_count_are_not_dealt() -> None:
    """Of two values truncated by 20 bits, three products; by 33 bits, four."""
    x = shared(np.zeros(1, np.uint64))

    def items(bits: int) -> int:
        def circuit(engine: Engine, x: Shared) -> Circuit[Shared]:
            a, b = (yield from truncate(engine, x, bits)), (yield from truncate(engine, x, bits))
            return multiply(engine, -a, moved(engine, b, lambda v: v))

        return traced(circuit, x).correction_bytes // 8

    assert (items(20), items(32), items(33)) == (4 + 3, 4 + 3, 4 + 4)


def cut(bits: int) -> Callable[[Engine, Shared], Circuit[Shared]]:
    return lambda engine, z: ending_settled(engine, truncate(engine, z, bits))


def rounding(z: Words, bits: int, t: int = 0) -> tuple[Words, Words]:
    """How far each result is above the number rounded down, and what was cut off."""
    got = run(cut(bits), shared(z, t), t=t).value.view(np.int64)
    numbers = z.view(np.int64)
    return (got - (numbers >> bits)).view(np.uint64), z & np.uint64((1 << bits) - 1)


def check(up: Words, rest: Words, bits: int) -> tuple[float, float]:
    """Never one unit off; the sum of all errors, and what is expected of its square."""
    assert up.max() <= 1
    assert not up[rest == 0].any()
    fractions = rest.astype(np.float64) * 2.0**-bits
    errors = up.astype(np.float64) - fractions
    return float(errors.sum()), float((fractions * (1 - fractions)).sum())


def test_ten_million_truncations() -> None:
    """Of all lengths up to 2^61 and both signs; a bound of six sigmas for the mean error."""
    rng = np.random.default_rng(11)
    total = expected = trials = 0.0
    for t in range(180):
        bits = 1 + t % 30
        z = rng.integers(-(2**61), 2**61, 56_000, np.int64, endpoint=True)
        z[: 2**14] >>= rng.integers(0, 61, 2**14)
        error, square = check(*rounding(z.view(np.uint64), bits, t), bits)
        assert error**2 < 36 * square
        total, expected, trials = total + error, expected + square, trials + len(z)
    assert trials > 10**7
    assert total**2 < 36 * expected


@pytest.mark.parametrize("bits", [1, 2, 8, 20, 24, 30, 61, 62])
def test_extremes_are_truncated(bits: int) -> None:
    ends = [-(2**62), -(2**62) + 1, 2**62 - 1, 2**61, -(2**61), 0, 1, -1, 5, -5]
    ends += [1 << bits - 1, -(1 << bits - 1)]
    check(*rounding(np.tile(signed(ends), 500), bits), bits)


@pytest.mark.parametrize("rest", [1, 2**18, 2**19, 3 * 2**18, 2**20 - 1])
@pytest.mark.parametrize("units", [0, 2**40, -(2**41), 2**42 - 1])
def test_each_number_is_right_on_average(units: int, rest: int) -> None:
    """Not only all together: rounded up as often as its rest says."""
    z = np.tile(signed([(units << 20) + rest]), 20_000)
    error, square = check(*rounding(z, 20), 20)
    assert abs(error) < 6 * max(square, 1) ** 0.5
