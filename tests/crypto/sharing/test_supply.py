"""What two servers make for each other, against what a dealer would compute."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crypto.sharing.prepared import Pair, at_both, run_both
from crypto.sharing.table import mixed, seeds, shared
from lotor.core.errors import CryptoError, InputError
from lotor.crypto.sharing import (
    Circuit,
    Engine,
    MaskedWords,
    PadCipher,
    Pads,
    PreparedEngine,
    Recipe,
    Shared,
    SharedBits,
    Supply,
    Words,
    argmax,
    bit_to_word,
    contract,
    mask,
    mask_bits,
    moved,
    multiply,
    multiply_three,
    polynomial_reciprocal,
    reciprocal,
    settled,
    square,
    truncate,
    upper_outer,
    words_to_bits,
)
from lotor.crypto.sharing.correlations import BitPair, upper_half
from lotor.crypto.sharing.engine import BYTE, WORD
from lotor.crypto.sharing.masked import Secret, Term
from lotor.crypto.sharing.recipe import TracingEngine

PAIR = Pair()
Asked = Callable[[Engine], list[Secret]]


def made(asked: Asked, steps: int, evaluator: int) -> list[tuple[list[Words], list[Words]]]:
    """Of each step the shares of both servers of all that was asked for."""

    def circuit(engine: Engine) -> Circuit[list[Secret]]:
        found = asked(engine)
        yield from ()
        return found

    engines = PAIR.engines(Recipe.of(circuit), steps, evaluator)
    found = []
    for pair in engines:
        ours, theirs = run_both(*(circuit(engine) for engine in pair))
        found.append(([each.share for each in ours], [each.share for each in theirs]))
    return found


def lowest(words: Words, ring: int) -> Words:
    return words & np.uint64((1 << ring) - 1)


def word(engine: Engine, *shape: int) -> Secret:
    return engine.uniform(shape, WORD, xor=False)


def term(secret: Secret) -> Term:
    return Term(1, secret.number, WORD)


rings = st.integers(1, 64)
steps_made = st.integers(1, 3)
evaluators = st.integers(0, 1)
# Of each pair, one has the shape of the products, or one element in each of their rows.
PRODUCTS: list[tuple[tuple[int, ...], tuple[int, ...]]] = [
    ((1,), (1,)),
    ((3,), (3,)),
    ((1,), (5,)),
    ((5,), (1,)),
    ((2, 3), (2, 3)),
    ((3, 1), (3, 4)),
    ((3, 4), (3, 1)),
    ((3, 1), (1, 4)),
    ((3, 1), (4,)),
    ((1,), (2, 3)),
    ((1, 2), (2, 1)),
    ((2, 1, 1), (2, 3, 1)),
    ((2, 3, 1), (2, 1, 4)),
    ((1, 1), (3,)),
    ((1, 3), (2, 3)),
    ((2, 1), (3, 2, 1)),
]


@settings(max_examples=30)
@given(st.sampled_from(PRODUCTS), rings, steps_made, evaluators)
def test_products(
    shapes: tuple[tuple[int, ...], tuple[int, ...]], ring: int, steps: int, evaluator: int
) -> None:
    def asked(engine: Engine) -> list[Secret]:
        left, right = (word(engine, *shape) for shape in shapes)
        done = engine.product(term(left), term(right), np.broadcast_shapes(*shapes), ring)
        return [left, right, done]

    for one, other in made(asked, steps, evaluator):
        left, right, done = (a + b for a, b in zip(one, other, strict=True))
        np.testing.assert_array_equal(lowest(done, ring), lowest(left * right, ring))


@settings(max_examples=15)
@given(st.lists(st.integers(1, 4), min_size=1, max_size=3), rings, steps_made, evaluators)
def test_squares(shape: list[int], ring: int, steps: int, evaluator: int) -> None:
    """In one direction: only the evaluator chooses."""

    def asked(engine: Engine) -> list[Secret]:
        x = word(engine, *shape)
        return [x, engine.product(term(x), term(x), tuple(shape), ring)]

    recipe = recipe_of(asked)
    assert Supply(recipe).rows(1, evaluator=True) == ring * np.prod(shape)
    assert Supply(recipe).rows(1, evaluator=False) == 0
    for one, other in made(asked, steps, evaluator):
        x, done = (a + b for a, b in zip(one, other, strict=True))
        np.testing.assert_array_equal(lowest(done, ring), lowest(x * x, ring))


BITS: list[tuple[tuple[int, ...], tuple[int, ...]]] = [
    ((3, 1), (3, 4)),
    ((3, 1), (1, 4)),
    ((3,), (3,)),
    ((1,), (1,)),
    ((1,), (5,)),
    ((3, 1), (3, 1)),
    ((3, 4), (3, 1)),
    ((2, 3), (3,)),
]


@settings(max_examples=25)
@given(st.sampled_from(BITS), st.booleans(), rings, steps_made, evaluators)
def test_bits_times_words(
    shapes: tuple[tuple[int, ...], tuple[int, ...]],
    bits_first: bool,
    ring: int,
    steps: int,
    evaluator: int,
) -> None:
    """Whichever was asked for first."""

    def asked(engine: Engine) -> list[Secret]:
        words = [] if bits_first else [word(engine, *shapes[1])]
        bits = engine.uniform(shapes[0], BYTE, xor=True)
        number = engine.bit_word(bits)
        words = words or [word(engine, *shapes[1])]
        shape = np.broadcast_shapes(*shapes)
        return [bits, number, *words, engine.product(term(number), term(words[0]), shape, ring)]

    for one, other in made(asked, steps, evaluator):
        b = ((one[0] ^ other[0]) & 1).astype(np.uint64)
        number, words, done = (x + y for x, y in zip(one[1:], other[1:], strict=True))
        np.testing.assert_array_equal(number, b)
        np.testing.assert_array_equal(lowest(done, ring), lowest(b * words, ring))


@settings(max_examples=25)
@given(st.lists(st.integers(1, 5), min_size=1, max_size=3), rings, steps_made, evaluators)
def test_contractions(shape: list[int], ring: int, steps: int, evaluator: int) -> None:
    """Of a vector, a matrix or a stack of them; of the same vector with itself, too."""

    def asked(engine: Engine) -> list[Secret]:
        x, y = word(engine, *shape), word(engine, shape[-1])
        rest = tuple(shape[:-1]) or (1,)
        done = engine.contraction(term(x), term(y), rest, ring)
        return [x, y, done, engine.contraction(term(y), term(y), (1,), ring)]

    for one, other in made(asked, steps, evaluator):
        x, y, done, length = (a + b for a, b in zip(one, other, strict=True))
        wanted = np.atleast_1d((x * y).sum(axis=-1, dtype=np.uint64))
        np.testing.assert_array_equal(lowest(done, ring), lowest(wanted, ring))
        np.testing.assert_array_equal(
            lowest(length, ring), lowest((y * y).sum(keepdims=True), ring)
        )


@pytest.mark.parametrize("n", [*range(1, 9), 14, 15, 23])
@settings(max_examples=3)
@given(rings, steps_made, evaluators)
def test_upper_halves_of_outer_products(n: int, ring: int, steps: int, evaluator: int) -> None:
    def asked(engine: Engine) -> list[Secret]:
        x, y = word(engine, n), word(engine, n)
        entries = n * (n + 1) // 2
        return [x, y, engine.upper_outer(term(x), term(y), entries, ring)]

    for one, other in made(asked, steps, evaluator):
        x, y, done = (a + b for a, b in zip(one, other, strict=True))
        rows, columns = upper_half(n)
        assert (rows <= columns).all()
        np.testing.assert_array_equal(lowest(done, ring), lowest(x[rows] * y[columns], ring))


@settings(max_examples=15)
@given(st.lists(st.integers(1, 4), min_size=1, max_size=3), steps_made, evaluators)
def test_bits_as_words_and_pairs_of_bits(shape: list[int], steps: int, evaluator: int) -> None:
    """What is above the lowest bit of a byte does not count."""

    def asked(engine: Engine) -> list[Secret]:
        shared_, own = (engine.uniform(tuple(shape), BYTE, xor=True) for _ in range(2))
        both = engine.bit_pair(own), engine.bit_word(own)
        return [shared_, engine.bit_word(shared_), own, *both]

    for one, other in made(asked, steps, evaluator):
        np.testing.assert_array_equal(one[1] + other[1], (one[0] ^ other[0]) & 1)
        np.testing.assert_array_equal(one[3] + other[3], one[2] & other[2] & 1)
        np.testing.assert_array_equal(one[4] + other[4], (one[2] ^ other[2]) & 1)


@pytest.mark.parametrize("evaluator", [0, 1])
def test_all_masks_of_a_bit(evaluator: int) -> None:
    """All pairs of bytes, in one computation."""
    every = np.arange(256, dtype=np.uint8)
    bits = np.stack(np.meshgrid(every, every)).reshape(2, -1)

    def asked(engine: Engine) -> list[Secret]:
        drawn = engine.uniform((bits.shape[1],), BYTE, xor=True)
        return [engine.bit_word(drawn), engine.bit_pair(drawn)]

    supply = Supply(recipe_of(asked))
    values = [supply.drawn([pads_of(each.tobytes())]) for each in bits]
    words, pairs = (a + b for a, b in zip(*PAIR.shares(supply, values, evaluator), strict=True))
    np.testing.assert_array_equal(words[0], (bits[0] ^ bits[1]) & 1)
    np.testing.assert_array_equal(pairs[0], bits[0] & bits[1] & 1)


class Known(Pads):
    """A stream of bytes that a test has chosen."""

    def __init__(self, stream: bytes) -> None:
        self._stream, self._position = stream, 0


def pads_of(stream: bytes) -> Pads:
    return Known(stream)


@settings(max_examples=8)
@given(seeds, steps_made, evaluators)
def test_many_at_once(seed: int, steps: int, evaluator: int) -> None:
    """Of one source in several rings, moved about, and lone bits of several sources."""
    n, rng = 4, np.random.default_rng(seed)
    small, smaller = (int(ring) for ring in rng.integers(1, 64, 2))

    def asked(engine: Engine) -> list[Secret]:
        matrix, x = word(engine, n, n), word(engine, n)
        turned = engine.renamed(x.number, lambda v: v[..., ::-1], (n,))
        bits = [engine.uniform((count,), BYTE, xor=True) for count in (1, 2, 3)]
        return [
            matrix,
            x,
            *bits,
            engine.contraction(term(matrix), term(x), (n,), small),
            engine.contraction(term(matrix), Term(1, turned, WORD), (n,), smaller),
            engine.product(term(x), Term(1, turned, WORD), (n,)),
            engine.bit_pair(bits[0]),
            engine.bit_word(bits[1]),
            engine.bit_pair(bits[2]),
            engine.upper_outer(term(x), term(x), n * (n + 1) // 2, smaller),
        ]

    supply = Supply(recipe_of(asked))
    single = [
        each
        for each in supply.transfers(1, 0, evaluator=True)
        if each.bits == 1 and each.ring == 64
    ]
    assert [(each.words, each.length) for each in single] == [(6, 1)]
    for one, other in made(asked, steps, evaluator):
        whole = [a + b for a, b in zip(one, other, strict=True)]
        matrix, x = whole[:2]
        b = [(p ^ q) & 1 for p, q in zip(one[2:5], other[2:5], strict=True)]
        both = [p & q & 1 for p, q in zip(one[2:5], other[2:5], strict=True)]
        rows, columns = upper_half(n)
        for found, wanted, ring in (
            (whole[5], matrix @ x, small),
            (whole[6], matrix @ x[::-1], smaller),
            (whole[7], x * x[::-1], 64),
            (whole[8], both[0], 64),
            (whole[9], b[1], 64),
            (whole[10], both[2], 64),
            (whole[11], x[rows] * x[columns], smaller),
        ):
            np.testing.assert_array_equal(lowest(found, ring), lowest(wanted.astype("u8"), ring))


def test_each_share_alone_is_not_the_value() -> None:
    """Also where masks are zero: shares come from transfers."""

    def asked(engine: Engine) -> list[Secret]:
        x, y = word(engine, 50), word(engine, 50)
        return [engine.product(term(x), term(y), (50,)), engine.contraction(term(x), term(y), (1,))]

    supply = Supply(recipe_of(asked))
    zeros = [supply.drawn([pads_of(bytes(800))]) for _ in range(2)]
    for ours, theirs in zip(*PAIR.shares(supply, zeros, 1), strict=True):
        assert not (ours + theirs).any()
        assert ours.all()


def recipe_of(asked: Asked) -> Recipe:
    def circuit(engine: Engine) -> Circuit[list[Secret]]:
        yield from ()
        return asked(engine)

    return Recipe.of(circuit)


def test_rows_choices_and_transfers_agree() -> None:
    """Steps lie behind one another in a transfer, and rows begin where they are told to."""

    def asked(engine: Engine) -> list[Secret]:
        x, y = word(engine, 3), word(engine, 3)
        return [
            engine.product(term(x), term(y), (3,)),
            engine.contraction(term(y), term(x), (1,), 20),
            engine.product(term(x), term(x), (3,)),
        ]

    supply = Supply(recipe_of(asked))
    for evaluator in (True, False):
        for steps in (1, 4):
            values = supply.drawn([pads_of(bytes(48)) for _ in range(steps)])
            rows = supply.rows(steps, evaluator=evaluator)
            assert len(supply.choices(values, evaluator=evaluator)) == rows == steps * 3 * 64
            transfers = supply.transfers(steps, 1000, evaluator=evaluator)
            assert all(each.first == 1000 for each in transfers)
            assert all(each.words == 3 * steps for each in transfers)
            assert [each.shape for each in supply.vectors(values, evaluator=evaluator)] == [
                (each.words, each.length) for each in transfers
            ]
    assert repr(supply) == "<Supply of 3 correlations>"


def test_nothing_to_make() -> None:
    """A circuit may need masks alone."""
    supply = Supply(Recipe.of(lambda engine: mask(engine, engine.shared(np.zeros(2, np.uint64)))))
    assert supply.rows(5, evaluator=True) == supply.rows(5, evaluator=False) == 0
    values = supply.drawn([pads_of(bytes(16))])
    assert supply.choices(values, evaluator=True).shape == (0,)
    assert supply.transfers(5, 0, evaluator=True) == supply.vectors(values, evaluator=True) == []
    assert supply.shares(values, [], [], evaluator=True) == []


def masked(engine: Engine, *shape: int) -> Circuit[MaskedWords]:
    return mask(engine, engine.shared(np.zeros(shape, np.uint64)))


def bits_of(engine: Engine, *shape: int) -> Circuit[MaskedWords]:
    return bit_to_word(engine, engine.shared_bits(np.zeros(shape, np.uint8)))


def combined(
    combine: Callable[..., object], *inputs: Callable[[Engine], Circuit[MaskedWords]]
) -> Callable[[Engine], Circuit[object]]:
    def circuit(engine: Engine) -> Circuit[object]:
        values = []
        for each in inputs:
            values.append((yield from each(engine)))
        return combine(engine, *values)

    return circuit


def vector(*shape: int) -> Callable[[Engine], Circuit[MaskedWords]]:
    return lambda engine: masked(engine, *shape)


def bit_vector(*shape: int) -> Callable[[Engine], Circuit[MaskedWords]]:
    return lambda engine: bits_of(engine, *shape)


@pytest.mark.parametrize(
    ("circuit", "said"),
    [
        (combined(multiply, vector(3, 1, 5), vector(4, 1)), r"of \(3, 1, 5\) by \(4, 1\)"),
        (combined(multiply, bit_vector(1, 4), vector(3, 1)), r"of \(1, 4\) by \(3, 1\)"),
        (combined(multiply, bit_vector(3), bit_vector(3)), "of what is itself made, unless"),
        (combined(square, bit_vector(3)), "of what is itself made, unless"),
        (combined(multiply_three, vector(3), vector(3), vector(3)), "of what is itself made"),
        (
            lambda engine: truncate(engine, engine.shared(np.zeros(2, np.uint64)), 3),
            "only a dealer",
        ),
        (lambda engine: words_to_bits(engine, engine.shared(np.zeros(2, np.uint64))), "only a"),
        (lambda engine: argmax(engine, engine.shared(np.zeros(3, np.uint64))), "only a dealer"),
    ],
)
def test_what_two_servers_do_not_make_is_refused(
    circuit: Callable[[Engine], Circuit[object]], said: str
) -> None:
    recipe = Recipe.of(circuit)
    with pytest.raises(InputError, match=said) as refused:
        Supply(recipe)
    assert "or run it with a dealer" in str(refused.value)


@pytest.mark.parametrize("ask", [Engine.contraction, Engine.upper_outer])
def test_products_of_bits_are_element_by_element(ask: Callable[..., Secret]) -> None:
    def asked(engine: Engine) -> list[Secret]:
        number = engine.bit_word(engine.uniform((1,), BYTE, xor=True))
        shape = (1,) if ask is Engine.contraction else 1
        return [ask(engine, term(number), term(word(engine, 1)), shape)]

    with pytest.raises(InputError, match="unless it is a bit by a mask"):
        Supply(recipe_of(asked))


def test_a_dealer_does_not_deal_pairs_of_own_bits() -> None:
    def circuit(engine: Engine) -> Circuit[Secret]:
        yield from ()
        return engine.bit_pair(engine.uniform((2,), BYTE, xor=True))

    recipe, pads = (
        Recipe.of(circuit),
        [Pads(PadCipher(bytes([n] * 32)), 100, t=0, attempt=0, circuit=0) for n in (1, 2)],
    )
    with pytest.raises(CryptoError, match="a dealer cannot deal"):
        recipe.deal(*pads)
    with pytest.raises(CryptoError, match="let the servers make it"):
        BitPair(0)([np.zeros(2, np.uint8)])


class TestPreparedEngine:
    @staticmethod
    def engine(*shares: Words) -> PreparedEngine:
        pads = Pads(PadCipher(bytes(32)), 64, t=0, attempt=0, circuit=0)
        return PreparedEngine(pads, shares, first=True)

    def test_nothing_is_used_twice(self) -> None:
        engine = self.engine(np.ones(3, np.uint64))
        x = word(engine, 3)
        assert engine.bit_word(x).share.tolist() == [1, 1, 1]
        engine.bit_word(x)  # the same again is no other
        with pytest.raises(CryptoError, match="was not prepared: nothing is ever used twice"):
            engine.product(term(x), term(x), (3,))

    @pytest.mark.parametrize("shape", [(2,), (4,), (1, 3), ()])
    def test_what_has_another_shape_is_refused(self, shape: tuple[int, ...]) -> None:
        engine = self.engine(np.ones(3, np.uint64))
        x = word(engine, 3)
        with pytest.raises(CryptoError, match="prepare what its recipe says"):
            engine.product(term(x), term(x), shape)

    def test_masks_are_used_up(self) -> None:
        engine = self.engine()
        word(engine, 8)
        with pytest.raises(CryptoError, match="pads are used up"):
            word(engine, 1)

    def test_there_is_no_dealer(self) -> None:
        engine = self.engine(np.ones(1, np.uint64))
        for asked in (
            lambda: engine.own((1,), WORD),
            lambda: engine.told(lambda v: v[0], (1,), WORD),
            lambda: engine.given((1,), WORD),
        ):
            with pytest.raises(CryptoError, match="this circuit needs a dealer"):
                asked()

    def test_numbers_are_those_of_the_recipe(self) -> None:
        """However a circuit asks for things, both engines count alike."""
        tracing, engine = TracingEngine(), self.engine(np.ones(3, np.uint64))
        for each in (tracing, engine):
            x = word(each, 3)
            turned = each.renamed(x.number, lambda v: v[..., ::-1], (3,))
            other = each.rearranged(x, lambda v: v[..., ::-1])
            assert (x.number, turned, other.number, each.bit_word(other).number) == (0, 1, 2, 3)


@settings(max_examples=15)
@given(seeds, st.tuples(st.integers(1, 4), st.integers(1, 4)), evaluators)
def test_arithmetic_without_a_dealer(seed: int, shape: tuple[int, int], evaluator: int) -> None:
    """Gates of masked values and masked bits, on shares."""
    arms, n = shape
    matrix, x = mixed((arms, n), seed), mixed((n,), seed + 1)
    bits = np.random.default_rng(seed).integers(0, 2, (arms, 1), dtype=np.uint8)
    own = np.random.default_rng(seed + 1).integers(0, 256, (arms, 1), dtype=np.uint8)

    def circuit(engine: Engine, matrix: Shared, x: Shared, hot: SharedBits) -> Circuit[Any]:
        a, b = (yield from mask(engine, matrix)), (yield from mask(engine, x))
        h = yield from bit_to_word(engine, hot)
        turned = moved(engine, b, lambda v: v[..., ::-1])
        return (
            contract(engine, a, b),
            multiply(engine, h, a),
            upper_outer(engine, b, turned),
            square(engine, b),
            multiply(engine, -b, turned + 3),
            settled(engine, h),
        )

    inputs = (
        shared(matrix, seed),
        shared(x, seed + 1),
        (SharedBits(own, first=True), SharedBits(bits ^ own, first=False)),
    )
    found = PAIR.run(*at_both(circuit, inputs), evaluator=evaluator)
    rows, columns = upper_half(n)
    wanted = [matrix @ x, bits * matrix, x[rows] * x[::-1][columns], x * x]
    wanted += [-x * (x[::-1] + np.uint64(3)), bits.astype(np.uint64)]
    for ours, theirs, value in zip(*found, wanted, strict=True):
        assert (ours.first, theirs.first) == (True, False)
        np.testing.assert_array_equal(ours.share + theirs.share, value)


def test_a_circuit_that_needs_a_dealer_says_so() -> None:
    zeros = np.zeros(2, np.uint64)
    with pytest.raises(InputError, match="two servers without a dealer do not make"):
        Supply(Recipe.of(lambda engine: reciprocal(engine, engine.shared(zeros), 20, 40)))
    Supply(
        Recipe.of(
            lambda engine: polynomial_reciprocal(engine, engine.shared(zeros[:1]), 20, 40, 51)
        )
    )
    Supply(Recipe.of(lambda engine: mask_bits(engine, engine.shared_bits(np.zeros(2, np.uint8)))))
