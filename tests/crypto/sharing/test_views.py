"""What a server sees is uniform whatever the values are, and the same when a step is redone.

A view is all that a server knows: its shares of the inputs, what it draws and is dealt, and what
the other one sends. One run on many rows, all of the same values, gives many samples of it.
"""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from crypto.sharing.table import KEYS, Run, run, shared, signed
from lotor.crypto.sharing import (
    Bits,
    Circuit,
    Engine,
    Shared,
    argmax,
    bit_to_word,
    comparison,
    mask,
    multiply,
    square,
    together,
    truncate,
    words_to_bits,
)

INPUTS = [[5, 3, -7], [-(2**61), 2**61 - 1, 0]]
SERVERS = pytest.mark.parametrize("server", [0, 1])
VALUES = pytest.mark.parametrize("values", INPUTS)
ROWS = 1_700
K = 3


def bandit(engine: Engine, x: Shared) -> Circuit[Any]:
    """A comparison, truncations and products of what they give."""
    best, cut = yield from together(argmax(engine, x), truncate(engine, x, 20))
    chosen = yield from bit_to_word(engine, best)
    again = yield from truncate(engine, multiply(engine, chosen, cut), 4)
    left, right = yield from together(mask(engine, square(engine, again)), mask(engine, x))
    return (yield from truncate(engine, multiply(engine, left, right), 10))


def bitwise(engine: Engine, x: Shared) -> Circuit[Any]:
    return (yield from words_to_bits(engine, x[:, :1]))


def ends_of(bits: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The lowest and the highest bits of all elements, or where there are very many, of some."""
    count = bits.shape[1]
    some = np.arange(count) if count <= 40 else np.linspace(0, count - 1, 6).astype(np.intp)
    return bits[:, some][..., [0, 1, 2, 3, -2, -1]].reshape(ROWS, -1)


def rows_of(values: list[int], seed: int = 0) -> tuple[Shared, Shared]:
    return shared(np.tile(signed(values), (ROWS, 1)), seed)


def views(done: Run[Any], inputs: tuple[Shared, Shared], server: int) -> list[list[Bits]]:
    """All that a server knows, with a row for each sample: with what it received, and opened.

    Either follows from the other, but not by XOR.
    """
    own = [inputs[server].share, *done.secrets[server]]
    received = [share for opening in done.openings[1 - server] for share in opening]
    return [own + received, own + done.opened]


def bits_of(array: Bits) -> NDArray[np.uint8]:
    """Each sample's bits: for each element of its row, from the lowest to the highest."""
    (axis,) = (axis for axis, size in enumerate(array.shape) if size and size % ROWS == 0)
    samples = np.moveaxis(array, axis, 0)
    rows = np.ascontiguousarray(samples).reshape(ROWS, -1)
    bits = np.unpackbits(rows.view(np.uint8), axis=1, bitorder="little")
    return bits.reshape(ROWS, rows.shape[1], -1)


def rank(bits: NDArray[np.uint8]) -> int:
    """How many columns no XOR of others equals."""
    rows = np.packbits(bits, axis=1)
    found = 0
    for column in range(bits.shape[1]):
        ones = np.flatnonzero(rows[found:, column // 8] >> (7 - column % 8) & 1) + found
        if len(ones) == 0:
            continue
        pivot = rows[ones[0]].copy()
        rows[ones[0]] = rows[found]
        rows[found] = pivot
        rest = ones[1:]
        rows[rest, column // 8 :] ^= pivot[column // 8 :]
        found += 1
    return found


def excess(counts: NDArray[np.int64]) -> float:
    """By how many sigmas counts differ from equal ones."""
    expected = counts.sum() / len(counts)
    freedom = len(counts) - 1
    return float((((counts - expected) ** 2 / expected).sum() - freedom) / (2 * freedom) ** 0.5)


def frequencies(arrays: list[Bits]) -> NDArray[np.int64]:
    seen = np.concatenate([np.ascontiguousarray(each).view(np.uint8).ravel() for each in arrays])
    return np.bincount(seen, minlength=256)


@SERVERS
@VALUES
@pytest.mark.parametrize(
    ("circuit", "many"), [(bandit, comparison.MANY), (bandit, 10**9), (bitwise, 0)]
)
def test_a_view_is_uniform(
    circuit: Any, many: int, values: list[int], server: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each bit is, and no XOR of some is known: by chance one is about once in 2^300.

    A mask that is left out, used twice or not whole shows in the lowest or the highest bits. Both
    ways to compare are seen.
    """
    monkeypatch.setattr(comparison, "MANY", many)
    inputs = rows_of(values)
    for known in views(run(circuit, inputs), inputs, server):
        elements = [bits_of(each) for each in known]
        everything = np.concatenate([each.reshape(ROWS, -1) for each in elements], axis=1)
        used = everything[:, everything.any(axis=0)]
        # Of each byte that opens a single bit, the other seven are empty.
        assert everything.shape[1] - used.shape[1] == (7 * K if circuit is bandit else 0)
        assert np.abs(used.mean(axis=0) - 0.5).max() < 3 / ROWS**0.5
        ends = np.concatenate([ends_of(each) for each in elements], axis=1)
        ends = ends[:, ends.any(axis=0)]
        assert ends.shape[1] < ROWS - 300
        assert rank(ends) == ends.shape[1]


@SERVERS
@VALUES
def test_bytes_of_messages_are_equally_frequent(values: list[int], server: int) -> None:
    done = run(bandit, rows_of(values))
    parts = [share for opening in done.openings[server] for share in opening]
    assert len(parts) >= done.recipe.rounds
    single = [share for share in parts if share.max() <= 1]
    assert len(single) == 1  # the opened bit
    assert abs(frequencies(single)[1] / single[0].size - 0.5) < 3 / single[0].size ** 0.5
    for share in parts:
        if share is not single[0]:
            assert excess(frequencies([share])) < 6


def test_two_inputs_look_the_same() -> None:
    """Nothing differs in the frequencies: as two samples of one distribution."""
    one, other = (
        frequencies(
            [s for opening in run(bandit, rows_of(v), keys=keys).openings[0] for s in opening]
        )
        for v, keys in zip(INPUTS, [KEYS, KEYS[::-1]], strict=True)
    )
    statistic = ((one - other) ** 2 / (one + other)).sum()
    assert statistic < 255 + 6 * 510**0.5


def test_redone_a_step_opens_the_same() -> None:
    inputs = rows_of(INPUTS[0])
    first, again = run(bandit, inputs, t=7, attempt=1), run(bandit, inputs, t=7, attempt=1)
    assert first.messages == again.messages
    for mine, theirs in zip(first.results, again.results, strict=True):
        np.testing.assert_array_equal(mine.public, theirs.public)


@pytest.mark.parametrize(("t", "attempt"), [(7, 2), (8, 1), (1, 7)])
def test_another_attempt_or_step_is_unrelated(t: int, attempt: int) -> None:
    """The XOR of what is sent then and now is uniform, and so is the difference."""
    inputs = rows_of(INPUTS[0])
    one, other = run(bandit, inputs, t=7, attempt=1), run(bandit, inputs, t=t, attempt=attempt)
    for mine, theirs in zip(one.openings, other.openings, strict=True):
        pairs = [
            (a, b)
            for now, then in zip(mine, theirs, strict=True)
            for a, b in zip(now, then, strict=True)
            if a.max() > 1
        ]
        assert len(pairs) >= one.recipe.rounds - 1  # all but the opened bit's
        assert excess(frequencies([a ^ b for a, b in pairs])) < 6
        assert excess(frequencies([a - b for a, b in pairs])) < 6


def test_the_same_masks_for_other_values_would_tell_their_difference() -> None:
    """Why a changed input needs a new attempt: the tests above see it where there is none."""
    one, other = (run(bandit, rows_of(values)) for values in INPUTS)
    words = zip(one.openings[1][0], other.openings[1][0], strict=True)
    assert any(excess(frequencies([a - b])) > 6 for a, b in words)
