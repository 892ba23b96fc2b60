"""What the dealer deals for a circuit, found by running the circuit once on zeros."""

from collections.abc import Callable
from dataclasses import dataclass, field
from math import prod

import numpy as np

from lotor.crypto.sharing.circuits import Circuit
from lotor.crypto.sharing.engine import WORD, Compute, Engine
from lotor.crypto.sharing.masked import Rearrange, Secret
from lotor.crypto.sharing.pads import DType, Pads, aligned
from lotor.crypto.sharing.words import Bits


@dataclass(frozen=True, slots=True)
class RecipeItem:
    """One secret of a circuit.

    Without `compute` it is uniform. If it is not `dealt`, both servers derive it by themselves.
    """

    shape: tuple[int, ...]
    dtype: DType
    xor: bool
    compute: Compute | None = None
    dealt: bool = True
    size: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", aligned(prod(self.shape) * self.dtype.itemsize))


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

    `opened` is how many bytes each server sends.
    """

    items: tuple[RecipeItem, ...] = field(repr=False)
    rounds: int
    opened: int
    uniform_bytes: int = field(init=False)
    correction_bytes: int = field(init=False)

    def __post_init__(self) -> None:
        dealt = sum(item.size for item in self.items if item.compute is not None and item.dealt)
        uniform = sum(item.size for item in self.items if item.compute is None)
        object.__setattr__(self, "uniform_bytes", uniform)
        object.__setattr__(self, "correction_bytes", dealt)

    @classmethod
    def of(cls, circuit: Callable[[Engine], Circuit[object]]) -> "Recipe":
        """What a circuit asks for, which must not depend on any value."""
        tape = TracingEngine()
        steps = circuit(tape)
        rounds = opened = 0
        try:
            asked = next(steps)
            while True:
                rounds += 1
                opened += sum(part.share.nbytes for part in asked)
                asked = steps.send([np.zeros_like(part.share) for part in asked])
        except StopIteration:
            return cls(tuple(tape.items), rounds, opened)

    def pad_bytes(self, *, first: bool) -> int:
        """How long a server's stream is: the first draws its shares of what is dealt as well."""
        return self.uniform_bytes + (self.correction_bytes if first else 0)

    def deal(self, first: Pads, second: Pads) -> bytes:
        """The second server's shares of what is dealt, all in one."""
        values: list[Bits] = []
        corrections = bytearray(self.correction_bytes)
        position = 0
        for item in self.items:
            if item.compute is None:
                ours, theirs = (pads.bits(item.shape, item.dtype) for pads in (first, second))
                values.append(ours ^ theirs if item.xor else ours + theirs)
                continue
            value = item.compute(values)
            values.append(value)
            if item.dealt:
                ours = first.bits(item.shape, item.dtype)
                share: Bits = np.ndarray(item.shape, item.dtype, corrections, position)
                (np.bitwise_xor if item.xor else np.subtract)(value, ours, out=share)
                position += item.size
        return bytes(corrections)
