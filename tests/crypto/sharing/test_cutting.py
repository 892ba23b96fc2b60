"""Truncation by two servers without a dealer."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import binomtest

from crypto.sharing.prepared import Pair, at_both
from crypto.sharing.table import seeds, signed
from lotor.crypto.sharing import (
    Bits,
    Circuit,
    Engine,
    OpeningShare,
    Recipe,
    Shared,
    Words,
    cut,
    cut_and_mask,
    settled,
)
from lotor.crypto.sharing.engine import WORD
from lotor.crypto.sharing.masked import Secret
from lotor.crypto.sharing.pads import DType


class Given(Engine):
    """A server whose bits rho and shares of their products are given."""

    def __init__(self, rho: Bits, pair: Words, *, first: bool) -> None:
        super().__init__()
        self.first, self._rho, self._pair = first, rho, pair

    def uniform(self, shape: tuple[int, ...], dtype: DType, *, xor: bool) -> Secret:
        assert (shape, dtype, xor) == (self._rho.shape, self._rho.dtype, True)
        return self._secret(self._rho)

    def dealt(self, compute: object, shape: tuple[int, ...], dtype: DType, *, xor: bool) -> Secret:
        assert (shape, dtype, xor) == (self._pair.shape, WORD, False)
        return self._secret(self._pair)

    def _never(self, *args: object, **kwargs: object) -> None:
        raise AssertionError("cutting asks for nothing else")

    own = told = given = rearranged = renamed = _never  # type: ignore[assignment]


def cut_with(
    shares: tuple[Words, Words], rhos: tuple[Bits, Bits], bits: int, ring: int, seed: int
) -> tuple[Words, list[Bits]]:
    """The value, and what the two opened; only the lowest bit of rho counts."""
    pair = np.random.default_rng(seed).integers(0, 2**64, rhos[0].shape, dtype=np.uint64)
    both = (rhos[0] & rhos[1] & np.uint8(1)).astype(np.uint64)
    servers = [
        cut(Given(rho, part, first=first), Shared(share, first=first), bits, ring)
        for rho, part, share, first in zip(
            rhos, (pair, both - pair), shares, (True, False), strict=True
        )
    ]
    opened = [next(server) for server in servers]
    parts = []
    for ((part, xor, theirs),) in opened:
        assert not xor
        assert theirs == part.shape == (-(-shares[0].size // 8),)
        assert part.dtype == np.uint8
        parts.append(part)
    results = []
    for server, part in zip(servers, reversed(parts), strict=True):
        with pytest.raises(StopIteration) as end:
            server.send([part])
        results.append(end.value.value)
    assert [result.first for result in results] == [True, False]
    return results[0].share + results[1].share, parts


def rounding(found: Words, z: NDArray[np.int64], bits: int) -> NDArray[np.int64]:
    """How far each result is above the number rounded down."""
    return found.view(np.int64) - (z >> bits)


@pytest.mark.parametrize(("ring", "bits"), [(6, 1), (6, 2), (6, 4), (5, 3), (8, 2)])
def test_all_numbers_shares_and_masks_of_small_rings(ring: int, bits: int) -> None:
    """What is above a ring's bits in a share does not count; errors cancel out exactly."""
    numbers = np.arange(-(1 << ring - 2), 1 << ring - 2)
    z, first, one, other = (
        each.ravel() for each in np.meshgrid(numbers, np.arange(1 << ring), [0, 1], [0, 1])
    )
    rng = np.random.default_rng(ring)
    above = rng.integers(0, 2**64, (2, z.size), dtype=np.uint64) << np.uint64(ring)
    shares = first.astype(np.uint64) + above[0], (z - first).view(np.uint64) + above[1]
    noise = rng.integers(0, 256, (2, z.size), dtype=np.uint8) & np.uint8(254)
    rhos = one.astype(np.uint8) | noise[0], other.astype(np.uint8) | noise[1]
    found, _ = cut_with(shares, rhos, bits, ring, seed=1)
    up = rounding(found, z, bits)
    assert set(up.tolist()) == {0, 1}
    rest = z & (1 << bits) - 1
    for number in numbers:
        # Rounded up as often as the rest says, if each share is as likely as any other.
        assert up[z == number].sum() << bits == rest[z == number].sum()


def errors(z: NDArray[np.int64], bits: int, ring: int, seed: int) -> tuple[float, float]:
    """The largest and the mean error, for shares that are uniform modulo 2^ring."""
    rng = np.random.default_rng(seed)
    first = rng.integers(0, 2**64, z.shape, dtype=np.uint64)
    rhos = rng.integers(0, 256, (2, *z.shape), dtype=np.uint8)
    found, _ = cut_with((first, z.view(np.uint64) - first), (rhos[0], rhos[1]), bits, ring, seed)
    rest = (z & (1 << bits) - 1).astype(np.float64) * 2.0**-bits
    off = rounding(found, z, bits) - rest
    assert not off[rest == 0].any()
    return float(np.abs(off).max()), float(off.mean())


CASES = [(64, 28), (64, 20), (59, 28), (59, 20), (51, 28), (51, 20)]


def check_errors(count: int, ring: int, bits: int) -> None:
    """Below 1 at most; a mean of at most 5 sigmas, where an error's is at most 1/2."""
    most = 1 << ring - 2
    rng = np.random.default_rng(ring + bits)
    for seed, reach in enumerate((most, 1 << bits + 4)):
        z = rng.integers(-reach, reach, count)
        z[:4] = -most, most - 1, 0, -1
        largest, mean = errors(z, bits, ring, seed)
        assert 0.99 < largest < 1
        assert abs(mean) < 2.5 / count**0.5


@pytest.mark.parametrize(("ring", "bits"), CASES)
def test_errors_of_a_hundred_thousand(ring: int, bits: int) -> None:
    """The mean is below 0.008."""
    check_errors(100_000, ring, bits)


@pytest.mark.long
@pytest.mark.parametrize(("ring", "bits"), CASES)
def test_errors_of_a_million(ring: int, bits: int) -> None:
    """The mean is below 0.0025."""
    check_errors(1_000_000, ring, bits)


@settings(max_examples=30)
@given(seeds, st.integers(3, 64), st.data())
def test_cut_by_two_servers(seed: int, ring: int, data: st.DataObject) -> None:
    """With all that they make for each other, in any ring and by any number of bits."""
    bits = data.draw(st.integers(1, ring - 2))
    shape = data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=2))
    most = 1 << ring - 2
    rng = np.random.default_rng(seed)
    z = rng.integers(-most, most, shape)
    z.flat[0] = rng.choice([-most, most - 1, 0])
    first = rng.integers(0, 2**64, shape, dtype=np.uint64)
    shares = Shared(first, first=True), Shared(z.view(np.uint64) - first, first=False)

    def circuit(engine: Engine, z: Shared) -> Circuit[Shared]:
        plain = yield from cut(engine, z, bits, ring)
        masked = yield from cut_and_mask(engine, plain, 0)
        return settled(engine, masked)

    one, other = PAIR.run(*at_both(circuit, [shares]), evaluator=seed % 2)
    up = rounding(one.share + other.share, z, bits)
    assert ((up == 0) | (up == 1)).all()
    assert not up[z & (1 << bits) - 1 == 0].any()


PAIR = Pair()


def test_one_round_of_a_bit_for_each_number() -> None:
    for count in (1, 8, 9, 230):
        numbers = np.zeros(count, np.uint64)
        recipe = Recipe.of(partial(cut, z=Shared(numbers, first=False), bits=20))
        assert (recipe.rounds, recipe.opened, recipe.sent) == (1, -(-count // 8), 0)
        assert recipe.uniform_bytes == -(-count // 8) * 8


@pytest.mark.parametrize("z", [0, 1, -1, 2**49 - 1, -(2**49), 123_456_789])
def test_opened_bits_are_uniform(z: int) -> None:
    """Whatever is cut, of shares that are uniform, and also of one share again and again."""
    count, ring = 20_000, 51
    rng = np.random.default_rng(z % 1000)
    anywhere = rng.integers(0, 2**64, count, dtype=np.uint64)
    for first in (anywhere, np.repeat(anywhere[:1], count)):
        one, other = rng.integers(0, 256, (2, count), dtype=np.uint8)
        _, opened = cut_with((first, signed([z]) - first), (one, other), 20, ring, seed=3)
        bits = [np.unpackbits(part, count=count) for part in opened]
        for some in (*bits, bits[0] ^ bits[1]):
            assert binomtest(int(some.sum()), count).pvalue > 0.001


def test_what_is_opened_does_not_say_the_high_bits() -> None:
    """Whatever the two private bits are, the four pairs of rhos open four pairs of bits."""
    for first, second in ((10, 20), (200, 100), (100, 200), (200, 150)):
        assert (first + second) % 256 < 128
        seen = set()
        for rhos in np.ndindex(2, 2):
            one, other = (np.array([rho], np.uint8) for rho in rhos)
            shares = signed([first - 64]), signed([second])
            _, opened = cut_with(shares, (one, other), 2, 8, seed=4)
            seen.add(tuple(int(part[0]) for part in opened))
        assert len(seen) == 4


def test_what_is_opened_is_packed() -> None:
    part = next(cut(Given(*zeros(9), first=True), Shared(zeros(9)[1], first=True), 3))
    assert isinstance(part[0], OpeningShare)
    assert part[0].share.nbytes == 2


def zeros(count: int) -> tuple[Bits, Words]:
    return np.zeros(count, np.uint8), np.zeros(count, np.uint64)
