"""What the dealer learns of a circuit, against what a run uses."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crypto.sharing.table import KEYS, run, seeds, shared, traced, uniform
from lotor.core.errors import CryptoError
from lotor.crypto.sharing import (
    Circuit,
    Coins,
    Engine,
    PadCipher,
    Pads,
    Recipe,
    Shared,
    SharedBits,
    argmax,
    bits_to_words,
    contract,
    mask,
    moved,
    multiply,
    multiply_three,
    negative,
    one_hot_of_sum,
    reciprocal,
    settled,
    square,
    tournament,
    truncate,
    words_to_bits,
)
from lotor.crypto.sharing.packed import packed_negative

Work = Callable[[Engine, Shared], Circuit[Any]]


def signs(engine: Engine, x: Shared) -> Circuit[Any]:
    coins = Coins(SharedBits(x.share, first=engine.first), 2**63)
    return (yield from negative(engine, x, coins))


def packed_signs(engine: Engine, x: Shared) -> Circuit[Any]:
    return (yield from packed_negative(engine, x))


def turn(engine: Engine, x: Shared) -> Circuit[Any]:
    return (yield from one_hot_of_sum(engine, 0, len(x)))


def there_and_back(engine: Engine, x: Shared) -> Circuit[Any]:
    return (yield from bits_to_words(engine, (yield from words_to_bits(engine, x))))


def products(engine: Engine, x: Shared) -> Circuit[Any]:
    masked = yield from mask(engine, x)
    cut = yield from truncate(engine, x, 7)
    three = multiply_three(engine, masked, cut, masked)
    return multiply(engine, masked, cut), contract(engine, cut, masked), square(engine, cut), three


def inverse(engine: Engine, x: Shared) -> Circuit[Any]:
    return settled(engine, (yield from reciprocal(engine, x, 20, 40)))


def fetched(engine: Engine, x: Shared) -> Circuit[Any]:
    return (yield from tournament(engine, x, 3))


WORKS: list[Work] = [
    *(argmax, signs, packed_signs, turn),
    *(there_and_back, products, inverse, fetched),
]


@pytest.mark.parametrize("work", WORKS)
@settings(max_examples=8)
@given(st.integers(1, 12), seeds)
def test_as_much_as_a_run_uses(work: Work, size: int, seed: int) -> None:
    """And no more: with eight bytes less of pads or corrections it fails."""
    x = shared(uniform(seed, size) >> np.uint64(4), seed)
    done = run(work, x)
    recipe = done.recipe
    for sent, known, first in zip(done.messages, done.secrets, (True, False), strict=True):
        assert len(sent) == recipe.rounds
        assert sum(map(len, sent)) == recipe.opened
        drawn = sum(-(-share.nbytes // 8) * 8 for share in known)
        assert drawn == recipe.pad_bytes(first=first) + (0 if first else recipe.correction_bytes)
    if recipe.correction_bytes:
        with pytest.raises(CryptoError, match="corrections are used up"):
            run(work, x, short_corrections=8)
        with pytest.raises(CryptoError, match="pads are used up"):
            run(work, x, short_pads=8)


@pytest.mark.parametrize(
    ("work", "rounds"), [(negative, 3), (argmax, 4), (there_and_back, 7), (inverse, 2)]
)
def test_rounds_of_ten_numbers(work: Work, rounds: int) -> None:
    assert traced(work, shared(uniform(1, 10))).rounds == rounds


def test_a_product_is_dealt_once() -> None:
    def once(engine: Engine, x: Shared) -> Circuit[Any]:
        a, b = (yield from mask(engine, x)), (yield from mask(engine, x))
        return multiply(engine, a, b), contract(engine, a, b)

    def again(engine: Engine, x: Shared) -> Circuit[Any]:
        a, b = (yield from mask(engine, x)), (yield from mask(engine, x))
        left = multiply(engine, a, b) + multiply(engine, b, a) + multiply(engine, -a, b + 1)
        return left, contract(engine, a, b) - contract(engine, -a, b)

    x = uniform(1, 6)
    one, two = run(once, shared(x)), run(again, shared(x))
    assert one.recipe.correction_bytes == two.recipe.correction_bytes == 8 * (6 + 1)
    product, dot = two.value
    np.testing.assert_array_equal(product, x * x - x)
    assert dot.tolist() == [int((x * x).sum()) * 2 % 2**64]


def test_what_is_moved_is_not_dealt() -> None:
    def circuit(engine: Engine, x: Shared) -> Circuit[Any]:
        a = yield from mask(engine, x)
        return moved(engine, a, lambda v: v[::-1])

    recipe = traced(circuit, shared(uniform(1, 6)))
    assert recipe.correction_bytes == 0
    assert recipe.pad_bytes(first=True) == recipe.pad_bytes(first=False) == 48


def test_dealt_the_same_again_and_otherwise_elsewhere() -> None:
    recipe = traced(argmax, shared(uniform(1, 4)))

    def dealt(attempt: int) -> bytes:
        sizes = [recipe.pad_bytes(first=first) for first in (True, False)]
        return recipe.deal(
            *(
                Pads(PadCipher(k), n, t=1, attempt=attempt, circuit=0)
                for k, n in zip(KEYS, sizes, strict=True)
            )
        )

    assert dealt(0) == dealt(0)
    assert dealt(0) != dealt(1)


def test_a_circuit_without_a_round() -> None:
    recipe = Recipe.of(lambda engine: argmax(engine, Shared(np.zeros(1, np.uint64), first=False)))
    assert (recipe.rounds, recipe.opened, recipe.items) == (0, 0, ())
    assert recipe.deal(*(Pads(PadCipher(k), 0, t=0, attempt=0, circuit=0) for k in KEYS)) == b""
