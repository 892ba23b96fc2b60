"""What the dealer deals for a circuit, found by running the circuit once on zeros."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Literal

import numpy as np

from lotor.crypto.sharing.circuits import Circuit, OpeningShare, due
from lotor.crypto.sharing.engine import WORD, Compute, Engine
from lotor.crypto.sharing.masked import Rearrange, Secret
from lotor.crypto.sharing.pads import DType, Pads, aligned
from lotor.crypto.sharing.words import Bits


@dataclass(frozen=True, slots=True)
class RecipeItem:
    """One secret of a circuit.

    Without `compute` it is uniform. If it is not `dealt`, both servers derive it by themselves.
    `of` says whose it is, if not both servers': what the first draws alone, what the second is
    told, what the dealer was given.
    """

    shape: tuple[int, ...]
    dtype: DType
    xor: bool
    compute: Compute | None = None
    dealt: bool = True
    of: Literal["both", "first", "second", "dealer"] = "both"
    size: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", aligned(prod(self.shape) * self.dtype.itemsize))

    @property
    def is_dealt(self) -> bool:
        """Whether it is computed from other secrets, and shares of it are needed."""
        return self.compute is not None and self.dealt


class TracingEngine(Engine):
    """Writes down what a circuit asks for; all values are zero."""

    first = False

    def __init__(self) -> None:
        super().__init__()
        self.items: list[RecipeItem] = []

    def _put(self, item: RecipeItem) -> Secret:
        self.items.append(item)
        return self._secret(np.zeros(item.shape, item.dtype))

    def uniform(self, shape: tuple[int, ...], dtype: DType, *, xor: bool) -> Secret:
        return self._put(RecipeItem(shape, dtype, xor))

    def dealt(self, compute: Compute, shape: tuple[int, ...], dtype: DType, *, xor: bool) -> Secret:
        return self._put(RecipeItem(shape, dtype, xor, compute))

    def own(self, shape: tuple[int, ...], dtype: DType) -> Secret:
        item = RecipeItem(shape, dtype, False, of="first")
        self.items.append(item)
        return self._secret(np.zeros(0, dtype))

    def told(self, compute: Compute, shape: tuple[int, ...], dtype: DType) -> Secret:
        return self._put(RecipeItem(shape, dtype, False, compute, of="second"))

    def given(self, shape: tuple[int, ...], dtype: DType) -> int:
        return self._put(RecipeItem(shape, dtype, False, of="dealer")).number

    def rearranged(self, secret: Secret, rearrange: Rearrange) -> Secret:
        n = secret.number
        values = rearrange(secret.share)
        item = RecipeItem(values.shape, values.dtype, False, lambda v: rearrange(v[n]), dealt=False)
        return self._put(item)

    def renamed(self, number: int, rearrange: Rearrange, shape: tuple[int, ...]) -> int:
        moving = RecipeItem(shape, WORD, False, lambda v: rearrange(v[number]), dealt=False)
        return self._put(moving).number


@dataclass(frozen=True, slots=True)
class Recipe:
    """All that a circuit needs, in the order of its asking, and how many rounds it takes.

    `opened` is how many bytes each server sends, and `sent` how many the first one sends besides.
    """

    items: tuple[RecipeItem, ...] = field(repr=False)
    rounds: int
    opened: int
    sent: int = 0
    uniform_bytes: int = field(init=False)
    first_bytes: int = field(init=False)
    correction_bytes: int = field(init=False)

    def __post_init__(self) -> None:
        drawn = [item for item in self.items if item.compute is None]
        dealt = [item for item in self.items if item.is_dealt]
        uniform = sum(item.size for item in drawn if item.of == "both")
        # The first server draws its shares of what is dealt, and what is its own.
        first = sum(item.size for item in drawn if item.of == "first")
        first += sum(item.size for item in dealt if item.of == "both")
        object.__setattr__(self, "uniform_bytes", uniform)
        object.__setattr__(self, "first_bytes", first)
        object.__setattr__(self, "correction_bytes", sum(item.size for item in dealt))

    @classmethod
    def of(cls, circuit: Callable[[Engine], Circuit[object]]) -> "Recipe":
        """What a circuit asks for, which must not depend on any value."""
        tape = TracingEngine()
        steps = circuit(tape)
        rounds = opened = incoming = 0
        try:
            asked = next(steps)
            while True:
                rounds += 1
                opened += sum(part.share.nbytes for part in asked)
                incoming += due(asked)
                asked = steps.send([_zeros(part) for part in asked])
        except StopIteration:
            return cls(tuple(tape.items), rounds, opened, incoming - opened)

    def pad_bytes(self, *, first: bool) -> int:
        """How long a server's stream is: the first draws its shares of what is dealt as well."""
        return self.uniform_bytes + (self.first_bytes if first else 0)

    def deal(self, first: Pads, second: Pads, *, given: Sequence[Bits] = ()) -> bytes:
        """The second server's shares of what is dealt, all in one.

        `given` are the values that the circuit asks for and somebody gave the dealer, in order.
        """
        values: list[Bits] = []
        known = iter(given)
        corrections = bytearray(self.correction_bytes)
        position = 0
        for item in self.items:
            if item.compute is None:
                if item.of == "both":
                    ours, theirs = (pads.bits(item.shape, item.dtype) for pads in (first, second))
                    values.append(ours ^ theirs if item.xor else ours + theirs)
                else:
                    values.append(
                        next(known) if item.of == "dealer" else first.bits(item.shape, item.dtype)
                    )
                continue
            value = item.compute(values)
            values.append(value)
            if item.dealt:
                share: Bits = np.ndarray(item.shape, item.dtype, corrections, position)
                if item.of == "second":
                    share[...] = value
                else:
                    ours = first.bits(item.shape, item.dtype)
                    (np.bitwise_xor if item.xor else np.subtract)(value, ours, out=share)
                position += item.size
        return bytes(corrections)


def _zeros(part: OpeningShare) -> Bits:
    return np.zeros(part.share.shape if part.theirs is None else part.theirs, part.share.dtype)
