"""What circuits are written for: AND and NOT on arrays of wires; XOR is numpy's own.

Wires are arrays (bits, places, ...): lowest bits first, and behind the places whatever a backend
keeps of a wire: for labels (batch, 2).
"""

from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

Wires: TypeAlias = NDArray[np.uint64]
Pair: TypeAlias = tuple[Wires, Wires]


class Gates(Protocol):
    """A backend."""

    def both(self, *pairs: Pair) -> list[Wires]:
        """a AND b of each pair, all on one level; a may have one row where b has several.

        The results are the caller's, who may overwrite them.
        """
        ...

    def inverted(self, wires: Wires) -> Wires:
        """NOT."""
        ...


class PlainGates:
    """Bits in the clear, for tests: wires are (bits, places, batch) of 0 and 1.

    >>> PlainGates().inverted(np.array([[[0]], [[1]]], np.uint64)).ravel().tolist()
    [1, 0]
    """

    def both(self, *pairs: Pair) -> list[Wires]:
        return [a & b for a, b in pairs]

    def inverted(self, wires: Wires) -> Wires:
        return wires ^ np.uint64(1)


class CountingGates:
    """Notes the pairs of each level, on wires that hold nothing: (bits, places, 0)."""

    def __init__(self) -> None:
        self.levels: list[tuple[tuple[int, int], ...]] = []

    def both(self, *pairs: Pair) -> list[Wires]:
        self.levels.append(tuple((b.shape[0], b.shape[1]) for _, b in pairs))
        return [np.empty(b.shape, np.uint64) for _, b in pairs]

    def inverted(self, wires: Wires) -> Wires:
        return wires
