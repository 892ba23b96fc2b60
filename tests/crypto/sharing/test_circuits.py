"""Rounds, shared by circuits that run side by side."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crypto.sharing.table import mixed, run, seeds, shared, signed, traced
from lotor.core.errors import ProtocolError
from lotor.crypto.sharing import (
    Circuit,
    Engine,
    OpeningShare,
    Shared,
    argmax,
    joined,
    negative,
    reveal,
    to_message,
    together,
    words_to_bits,
)

Work = Callable[[Engine, Shared], Circuit[Any]]


def nothing(engine: Engine, x: Shared) -> Circuit[Shared]:
    """Asks for no round."""
    yield from ()
    return x


# They take 1, 6, 6, 0 rounds and for four numbers 8.
WORKS: list[Work] = [lambda _, x: reveal(x), negative, words_to_bits, nothing, argmax]


@settings(max_examples=40)
@given(st.lists(st.integers(0, len(WORKS) - 1), max_size=5), seeds)
def test_together_as_one_by_one(chosen: list[int], seed: int) -> None:
    x = shared(mixed((4,), seed) >> np.uint64(3), seed)
    works = [WORKS[number] for number in chosen]

    def side_by_side(engine: Engine, x: Shared) -> Circuit[Any]:
        return (yield from together(*(work(engine, x) for work in works)))

    alone = [run(work, x) for work in works]
    at_once = run(side_by_side, x)
    for mine, theirs in zip(at_once.value, [each.value for each in alone], strict=True):
        np.testing.assert_array_equal(mine, theirs)
    assert at_once.recipe.rounds == max((each.recipe.rounds for each in alone), default=0)
    assert at_once.recipe.opened == sum(each.recipe.opened for each in alone)
    assert len(at_once.messages[0]) == at_once.recipe.rounds


def test_together_within_together() -> None:
    x = shared(signed([5, -5]))

    def pair(engine: Engine, x: Shared) -> Circuit[Any]:
        return (yield from together(negative(engine, x), negative(engine, -x)))

    def pairs(engine: Engine, x: Shared) -> Circuit[Any]:
        return (yield from together(pair(engine, x), pair(engine, -x)))

    (a, b), (c, d) = run(pairs, x).value
    assert [v.tolist() for v in (a, b, c, d)] == [[0, 1], [1, 0], [1, 0], [0, 1]]
    assert traced(pairs, x).rounds == traced(negative, x).rounds


def opening(seed: int) -> list[OpeningShare]:
    words = mixed((2, 3), seed)
    return [
        OpeningShare(words, xor=False),
        OpeningShare(words[:, ::2].astype(np.uint8), xor=True),  # not contiguous before it is cut
        OpeningShare(words.T, xor=True),
        OpeningShare(words[0, :1].astype(np.uint16), xor=False),
    ]


@given(seeds, seeds)
def test_what_is_sent_is_joined(mine: int, theirs: int) -> None:
    ours, others = opening(mine), opening(theirs)
    message = to_message(others)
    assert len(message) == 48 + 4 + 48 + 2
    for opened, a, b in zip(joined(ours, message, "servo"), ours, others, strict=True):
        expected = a.share ^ b.share if a.xor else a.share + b.share
        np.testing.assert_array_equal(opened, expected)
        assert opened.dtype == a.share.dtype


@pytest.mark.parametrize("length", [0, 101, 103, 204])
def test_a_message_of_another_length_is_refused(length: int) -> None:
    with pytest.raises(ProtocolError, match=rf"^porto sent {length} bytes .* 102 are due: "):
        joined(opening(1), bytes(length), "porto")
