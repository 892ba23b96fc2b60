"""Products with a vector that the second server and the dealer know."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from lotor.core.errors import CryptoError, ProtocolError
from lotor.crypto.sharing import (
    Circuit,
    Engine,
    OpeningShare,
    PadCipher,
    Pads,
    Recipe,
    ServerEngine,
    Shared,
    Words,
    due,
    joined,
    large_from_bytes,
    large_to_bytes,
    times_known,
    times_known_large,
    to_message,
)
from lotor.crypto.sharing.local import run_both

SIZE = 24
large = st.integers(-(2**190), 2**190)


def product(rows: Words, vector: Words) -> Words:
    first, second = run_both(
        lambda engine: times_known(engine, rows, np.zeros_like(vector)),
        lambda engine: times_known(engine, np.zeros_like(rows), vector),
        [vector],
    )
    return first.share + second.share


@given(st.integers(0, 2**32), st.integers(1, 12), st.integers(1, 9))
def test_words(seed: int, k: int, d: int) -> None:
    generator = np.random.default_rng(seed)
    rows = generator.integers(0, 2**64, (k, d), np.uint64)
    vector = generator.integers(0, 2**64, d, np.uint64)
    rows[0], vector[0] = 2**64 - 1, 2**64 - 1
    assert product(rows, vector).tolist() == (rows @ vector).tolist()


@given(st.lists(st.tuples(large, large), min_size=1, max_size=7))
def test_large_numbers(pairs: list[tuple[int, int]]) -> None:
    numbers, vector = (large_to_bytes(list(one), SIZE) for one in zip(*pairs, strict=True))
    nothing = np.zeros_like(numbers)
    first, second = run_both(
        lambda engine: times_known_large(engine, numbers, nothing),
        lambda engine: times_known_large(engine, nothing, vector),
        [vector],
    )
    expected = sum(one * other for one, other in pairs)
    assert (first + second - expected) % (1 << 8 * SIZE) == 0


@given(st.lists(st.integers(-(2**191), 2**191 - 1), min_size=1, max_size=5))
def test_large_numbers_as_bytes(numbers: list[int]) -> None:
    read = large_from_bytes(large_to_bytes(numbers, SIZE))
    assert read == [number % (1 << 8 * SIZE) for number in numbers]


def recipe_of(k: int, d: int) -> Recipe:
    rows, vector = np.zeros((k, d), np.uint64), np.zeros(d, np.uint64)
    return Recipe.of(lambda engine: times_known(engine, rows, vector))


def test_what_it_costs() -> None:
    """The first server sends the rows once and draws their cover; nobody sends or draws more."""
    recipe = recipe_of(7, 3)
    assert (recipe.rounds, recipe.opened, recipe.sent) == (1, 0, 8 * 7 * 3)
    assert recipe.correction_bytes == 8 * 7
    assert recipe.pad_bytes(first=True) == 8 * (7 * 3 + 7)
    assert recipe.pad_bytes(first=False) == 0


def opening_of(engine: Engine, rows: Words, vector: Words) -> list[OpeningShare]:
    return list(next(times_known(engine, rows, vector)))


@pytest.mark.parametrize("value", [0, 2**64 - 1])
def test_what_the_second_server_sees_is_uniform(value: int) -> None:
    """Of rows that are all equal, and of a product with a vector that is all zero."""
    k, d = 64, 32
    recipe, cipher = recipe_of(k, d), PadCipher(bytes(range(32)))
    rows, vector = np.full((k, d), value, np.uint64), np.zeros(d, np.uint64)

    def pads(circuit: int) -> Pads:
        return Pads(cipher, recipe.pad_bytes(first=True), t=1, attempt=0, circuit=circuit)

    first = opening_of(ServerEngine(pads(0)), rows, vector)
    second = opening_of(ServerEngine(pads(1), bytes(8 * k)), rows, vector)
    assert to_message(second) == b""
    seen = [to_message(first), recipe.deal(pads(0), pads(1), given=[vector])]
    for data in seen:
        counts = np.bincount(np.frombuffer(data, np.uint8) >> 4, minlength=16)
        assert chisquare(counts).pvalue > 1e-6  # the same numbers in each run


def test_who_sends_something_else_is_named() -> None:
    vector = np.ones(2, np.uint64)
    pads = Pads(PadCipher(bytes(32)), 64, t=0, attempt=0, circuit=0)
    opening = opening_of(ServerEngine(pads, bytes(24)), np.zeros((3, 2), np.uint64), vector)
    assert due(opening) == 48
    for message in (bytes(47), b"", bytes(56)):
        with pytest.raises(ProtocolError, match=r"the first sent .* bytes of shares where 48"):
            joined(opening, message, "the first")


def test_covers_are_never_used_twice() -> None:
    rows, vector = np.zeros((3, 2), np.uint64), np.zeros(2, np.uint64)
    size = recipe_of(3, 2).pad_bytes(first=True)
    engine = ServerEngine(Pads(PadCipher(bytes(32)), size, t=0, attempt=0, circuit=0))
    opening_of(engine, rows, vector)
    with pytest.raises(CryptoError, match="no word is ever used twice"):
        opening_of(engine, rows, vector)


def test_it_goes_with_other_circuits() -> None:
    """What is dealt for one product is not taken for another's."""
    rows = np.arange(6, dtype=np.uint64).reshape(3, 2)
    vector = np.array([5, 2**63], np.uint64)

    def twice(engine: Engine, rows: Words, vector: Words) -> Circuit[Shared]:
        one = yield from times_known(engine, rows, vector)
        other = yield from times_known(engine, rows, vector)
        return one + other * 2

    first, second = run_both(
        lambda engine: twice(engine, rows, np.zeros_like(vector)),
        lambda engine: twice(engine, np.zeros_like(rows), vector),
        [vector, vector],
    )
    assert (first.share + second.share).tolist() == (rows @ vector * np.uint64(3)).tolist()
