"""What circuits want of a dealer, made by the two servers themselves with transfers.

A server's masks come from a key of its own. Shares of products of both servers' masks come from
transfers (crypto/ot/vectors.py): of (a + a')·(b + b') each server computes one term by itself, and
each of the two cross terms takes words of one server, which choose, and vectors of the other. Where
one direction is enough, the *evaluator* chooses, a role that can be given to either server.

A plan is made once, of a circuit's recipe, and carried out for many steps at once.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from math import prod
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lotor.core.errors import InputError
from lotor.crypto.ot import VectorTransfer, word_bits
from lotor.crypto.sharing.correlations import (
    BitPair,
    BitWord,
    Contraction,
    Product,
    UpperOuter,
    upper_half,
)
from lotor.crypto.sharing.engine import RING
from lotor.crypto.sharing.pads import Pads
from lotor.crypto.sharing.recipe import Recipe, RecipeItem
from lotor.crypto.sharing.words import Bits, Words

Values: TypeAlias = Sequence[Bits]
"""A server's own part of each secret that circuits name, (steps, *shape)."""

_ONE = np.uint64(1)
# So many words of an outer product at once: fewer spare more bytes, and take more transfers.
_PIECE = 7


class Source(NamedTuple):
    """What chooses: elements `start` to `stop` of a secret, or of bytes their lowest bits."""

    number: int
    start: int
    stop: int
    single: bool = False

    @property
    def word_count(self) -> int:
        return self.stop - self.start

    def words(self, values: Values) -> Words:
        """(steps, words)."""
        value = values[self.number]
        flat = value.reshape(len(value), -1)[:, self.start : self.stop]
        if self.single:
            flat = flat & flat.dtype.type(1)
        return flat.astype(np.uint64, copy=False)


class LoneBits(NamedTuple):
    """The bits of several sources, one after the other: each is multiplied with one number."""

    sources: tuple[Source, ...]
    single: bool = True

    @property
    def word_count(self) -> int:
        return sum(source.word_count for source in self.sources)

    def words(self, values: Values) -> Words:
        return np.concatenate([source.words(values) for source in self.sources], axis=1)


class CrossTerm(NamedTuple):
    """Words of one server, each times a vector of the other's; `alone`: in one direction only."""

    source: Source
    length: int
    ring: int = RING
    alone: bool = False


class Maker(ABC):
    """How shares of one correlation are made."""

    terms: Sequence[CrossTerm]

    @abstractmethod
    def vectors(self, term: int, values: Values) -> Words:
        """What is offered in a cross term, (steps, words, length)."""

    @abstractmethod
    def share(self, values: Values, parts: Sequence[Words]) -> Words:
        """A server's share, from its part of each cross term, (steps, words, length)."""


class WordProductMaker(Maker):
    """An operand with one element in each row chooses, or else the smaller one.

    A square needs one direction.
    """

    def __init__(self, wanted: Product, items: Sequence[RecipeItem]) -> None:
        operands = items[wanted.left], items[wanted.right]
        pair = [item.shape for item in operands]
        self._shape = np.broadcast_shapes(*pair)
        choosers = [
            place
            for place in (0, 1)
            if _chooses(pair[place], self._shape) and self._may_choose(operands[place])
        ]
        if not choosers:
            raise _impossible(f"products of {pair[0]} by {pair[1]}")
        place = min(choosers, key=lambda place: prod(pair[place]))
        self._chosen, self._offered = (wanted.left, wanted.right)[:: 1 if place == 0 else -1]
        words = prod(pair[place])
        length = prod(self._shape) // words
        self._square = self._chosen == self._offered
        source = Source(self._chosen, 0, words)
        self.terms = [CrossTerm(source, length, wanted.ring, alone=self._square)]

    def _may_choose(self, operand: RecipeItem) -> bool:  # noqa: ARG002
        return True

    def vectors(self, term: int, values: Values) -> Words:  # noqa: ARG002
        offered = self._aligned(values[self._offered])
        steps, (source, length, *_) = len(offered), self.terms[0]
        whole = np.broadcast_to(offered, (steps, *self._shape))
        return whole.reshape(steps, source.stop, length)

    def _aligned(self, value: Bits) -> Bits:
        """With as many axes as products have, behind that of steps."""
        missing = len(self._shape) + 1 - value.ndim
        return value.reshape(len(value), *[1] * missing, *value.shape[1:])

    def share(self, values: Values, parts: Sequence[Words]) -> Words:
        own = self._aligned(values[self._chosen]) * self._aligned(values[self._offered])
        part = parts[0].reshape(own.shape)
        return own + (part << _ONE if self._square else part)


def _chooses(shape: tuple[int, ...], whole: tuple[int, ...]) -> bool:
    """Whether each word of this shape multiplies a vector of its own, along the last axis."""
    return shape in (whole, (*whole[:-1], 1))


class BitProductMaker(WordProductMaker):
    """Bits, shared by XOR, by words: b·T = b'·T' + b''·(1 - 2b')·T' for each server's T'."""

    def __init__(self, wanted: Product, items: Sequence[RecipeItem], bits: int) -> None:
        super().__init__(wanted, items)
        (term,) = self.terms
        source = Source(bits, 0, term.source.stop, single=True)
        self.terms = [CrossTerm(source, term.length, wanted.ring)]

    def _may_choose(self, operand: RecipeItem) -> bool:
        return isinstance(operand.compute, BitWord)

    def vectors(self, term: int, values: Values) -> Words:
        return self._signs(values) * super().vectors(term, values)

    def share(self, values: Values, parts: Sequence[Words]) -> Words:
        own = self._own(values) * super().vectors(0, values)
        return (own + parts[0]).reshape(len(own), *self._shape)

    def _own(self, values: Values) -> Words:
        return self.terms[0].source.words(values)[..., np.newaxis]

    def _signs(self, values: Values) -> Words:
        return _ONE - (self._own(values) << _ONE)


class ContractionMaker(Maker):
    """The vector chooses, and of the matrix columns are offered."""

    def __init__(self, wanted: Contraction, items: Sequence[RecipeItem]) -> None:
        self._matrix, self._vector, self._shape = wanted.matrix, wanted.vector, wanted.shape
        (words,) = items[self._vector].shape
        self._square = self._matrix == self._vector
        source = Source(self._vector, 0, words)
        self.terms = [CrossTerm(source, prod(wanted.shape), wanted.ring, alone=self._square)]

    def vectors(self, term: int, values: Values) -> Words:  # noqa: ARG002
        matrix = values[self._matrix]
        rows = matrix.reshape(len(matrix), -1, matrix.shape[-1])
        return rows.swapaxes(1, 2)

    def share(self, values: Values, parts: Sequence[Words]) -> Words:
        crossed = parts[0].sum(axis=1, dtype=np.uint64)
        own: Words = np.vecdot(
            self.vectors(0, values).swapaxes(1, 2), values[self._vector][:, np.newaxis]
        )
        total: Words = own + (crossed << _ONE if self._square else crossed)
        return total.reshape(len(total), *self._shape)


class UpperOuterMaker(Maker):
    """Piece by piece: later words need no more than what is behind them in the vector."""

    def __init__(self, wanted: UpperOuter, items: Sequence[RecipeItem]) -> None:
        self._left, self._right = wanted.left, wanted.right
        (self._n,) = items[self._left].shape
        self._pieces = [
            slice(start, min(start + _PIECE, self._n)) for start in range(0, self._n, _PIECE)
        ]
        self.terms = [
            CrossTerm(
                Source(self._left, piece.start, piece.stop), self._n - piece.start, wanted.ring
            )
            for piece in self._pieces
        ]

    def vectors(self, term: int, values: Values) -> Words:
        piece, offered = self._pieces[term], values[self._right]
        shape = len(offered), piece.stop - piece.start, self._n - piece.start
        return np.broadcast_to(offered[:, np.newaxis, piece.start :], shape)

    def share(self, values: Values, parts: Sequence[Words]) -> Words:
        left, right = values[self._left], values[self._right]
        crossed = np.zeros((len(left), self._n, self._n), np.uint64)
        for piece, part in zip(self._pieces, parts, strict=True):
            crossed[:, piece, piece.start :] = part
        rows, columns = upper_half(self._n)
        made: Words = crossed[:, rows, columns] + left[:, rows] * right[:, columns]
        return made


class BitPairMaker(Maker):
    """One transfer for each pair of bits."""

    def __init__(self, wanted: BitPair | BitWord, items: Sequence[RecipeItem]) -> None:
        self._shape = items[wanted.bits].shape
        self._source = Source(wanted.bits, 0, prod(self._shape), single=True)
        self.terms = [CrossTerm(self._source, 1, alone=True)]

    def vectors(self, term: int, values: Values) -> Words:  # noqa: ARG002
        return self._source.words(values)[..., np.newaxis]

    def share(self, values: Values, parts: Sequence[Words]) -> Words:  # noqa: ARG002
        return parts[0].reshape(len(parts[0]), *self._shape)


class BitWordMaker(BitPairMaker):
    """The XOR of two bits is their sum, less twice their product."""

    def share(self, values: Values, parts: Sequence[Words]) -> Words:
        own = self._source.words(values).reshape(-1, *self._shape)
        return own - (super().share(values, parts) << _ONE)


def _maker(wanted: object, items: Sequence[RecipeItem]) -> Maker:
    match wanted:
        case Product(left, right) | Contraction(left, right) | UpperOuter(left, right):
            # Masks are known to one server; of what is itself made both have shares alone.
            match wanted, [items[n].compute for n in (left, right) if items[n].is_dealt]:
                case Product(), [BitWord(bits)]:
                    return BitProductMaker(wanted, items, bits)
                case Product(), []:
                    return WordProductMaker(wanted, items)
                case Contraction(), []:
                    return ContractionMaker(wanted, items)
                case UpperOuter(), []:
                    return UpperOuterMaker(wanted, items)
            raise _impossible("products of what is itself made, unless it is a bit by a mask")
        case BitWord():
            return BitWordMaker(wanted, items)
        case BitPair():
            return BitPairMaker(wanted, items)
    raise _impossible("what only a dealer can compute")


def _impossible(what: str) -> InputError:
    return InputError(
        f"two servers without a dealer do not make {what}: write the circuit in other terms, or "
        "run it with a dealer"
    )


class _Joined(NamedTuple):
    """Cross terms of one source in one ring, whose vectors are offered side by side.

    Or of lone bits, whose vectors, of one number each, are offered one below the other.
    """

    source: Source | LoneBits
    ring: int
    alone: bool
    parts: list[tuple[int, int]]
    """Which makers' terms."""

    @property
    def bits(self) -> int:
        """How many bits choose of each word."""
        return 1 if self.source.single else self.ring

    @property
    def axis(self) -> int:
        """Along which the vectors of the parts are joined, (steps, words, numbers)."""
        return 1 if isinstance(self.source, LoneBits) else 2


class Supply:
    """How two servers make what a circuit asks for, in any number of steps at once."""

    def __init__(self, recipe: Recipe) -> None:
        self._items = recipe.items
        self._wanted = [n for n, item in enumerate(self._items) if item.is_dealt]
        self._makers = [_maker(self._items[n].compute, self._items) for n in self._wanted]
        self._joined = self._join()

    def __repr__(self) -> str:
        return f"<Supply of {len(self._wanted)} correlations>"

    def _join(self) -> list[_Joined]:
        found: dict[tuple[Source, int, bool], _Joined] = {}
        for number, maker in enumerate(self._makers):
            for place, term in enumerate(maker.terms):
                key = (term.source, term.ring, term.alone)
                joined = found.setdefault(key, _Joined(*key, []))
                joined.parts.append((number, place))
        lone = {key: each for key, each in found.items() if self._is_lone(each)}
        if len(lone) < 2:
            return list(found.values())
        # A transfer of its own for each would cost more than its products.
        sources = LoneBits(tuple(source for source, _, _ in lone))
        parts = [part for each in lone.values() for part in each.parts]
        others = [each for key, each in found.items() if key not in lone]
        return [_Joined(sources, RING, True, parts), *others]

    def _is_lone(self, joined: _Joined) -> bool:
        return joined.alone and joined.source.single and self._sizes(joined) == [1]

    def drawn(self, pads: Sequence[Pads]) -> Values:
        """This server's masks of several steps; correlations have no value of their own yet."""
        values: list[Bits] = []
        for item in self._items:
            if item.compute is None:
                values.append(np.stack([each.bits(item.shape, item.dtype) for each in pads]))
            elif item.dealt:
                values.append(np.empty(0, np.uint64))
            else:
                values.append(item.compute(values))
        return values

    def rows(self, steps: int, *, evaluator: bool) -> int:
        """How many transfers so many steps take that the evaluator chooses in, or the other."""
        return sum(
            steps * source.word_count * bits for source, bits in self._sources(evaluator).items()
        )

    def choices(self, values: Values, *, evaluator: bool) -> NDArray[np.uint8]:
        """This server's bits, one for each row."""
        parts = [
            word_bits(source.words(values), bits)
            for source, bits in self._sources(evaluator).items()
        ]
        return np.concatenate([np.zeros(0, np.uint8), *parts])

    def transfers(self, steps: int, first: int, *, evaluator: bool) -> list[VectorTransfer]:
        """Those in which the evaluator chooses, or the other, in rows from `first` on."""
        begins: dict[Source | LoneBits, int] = {}
        for source, bits in self._sources(evaluator).items():
            begins[source] = first
            first += steps * source.word_count * bits
        return [
            VectorTransfer(
                begins[joined.source],
                steps * joined.source.word_count,
                joined.bits,
                1 if joined.axis == 1 else sum(self._sizes(joined)),
                joined.ring,
            )
            for joined in self._used(evaluator)
        ]

    def vectors(self, values: Values, *, evaluator: bool) -> list[Words]:
        """What this server offers where the evaluator chooses, or the other."""
        found = []
        for joined in self._used(evaluator):
            each = [self._makers[n].vectors(place, values) for n, place in joined.parts]
            whole = np.concatenate(each, axis=joined.axis) if len(each) > 1 else each[0]
            found.append(whole.reshape(-1, whole.shape[-1]))
        return found

    def shares(
        self, values: Values, chosen: Sequence[Words], offered: Sequence[Words], *, evaluator: bool
    ) -> list[Words]:
        """This server's shares of all that is wanted, (steps, *shape), in the order of asking.

        `chosen` and `offered` are its shares of the transfers in which it chooses, and offers;
        `evaluator` says whether it is that.
        """
        parts: dict[tuple[int, int], Words] = {}
        for joined, share in self._divided(chosen, evaluator):
            parts[joined] = share
        for joined, share in self._divided(offered, not evaluator):
            parts[joined] = parts[joined] + share if joined in parts else share
        return [
            maker.share(values, [parts[number, place] for place in range(len(maker.terms))])
            for number, maker in enumerate(self._makers)
        ]

    def _divided(
        self, shares: Sequence[Words], evaluator: bool
    ) -> Iterator[tuple[tuple[int, int], Words]]:
        for joined, share in zip(self._used(evaluator), shares, strict=True):
            whole = share.reshape(-1, joined.source.word_count, share.shape[1])
            ends = np.cumsum(self._sizes(joined))[:-1]
            yield from zip(joined.parts, np.split(whole, ends, axis=joined.axis), strict=True)

    def _used(self, evaluator: bool) -> list[_Joined]:
        return [joined for joined in self._joined if evaluator or not joined.alone]

    def _sources(self, evaluator: bool) -> dict[Source | LoneBits, int]:
        """What chooses, and how many bits of it."""
        found: dict[Source | LoneBits, int] = {}
        for joined in self._used(evaluator):
            found[joined.source] = max(joined.bits, found.get(joined.source, 0))
        return found

    def _sizes(self, joined: _Joined) -> list[int]:
        """How long the parts are along the axis in which they are joined."""
        terms = [self._makers[n].terms[place] for n, place in joined.parts]
        return [term.source.word_count if joined.axis == 1 else term.length for term in terms]
