"""Circuits that know what they cost before they run."""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from lotor.core.errors import InputError
from lotor.crypto.garbling.gates import CountingGates, Gates, Wires
from lotor.crypto.garbling.tournament import argmax
from lotor.crypto.ot import LABEL_BYTES

Formula: TypeAlias = Callable[..., Wires]
"""formula(gates, *inputs): wires to wires."""

Shape: TypeAlias = tuple[int, int]
"""Bits and places of an input."""

AND_BYTES = 2 * LABEL_BYTES


class BooleanCircuit:
    """A formula on inputs of given shapes (bits, places), which decide all that it does.

    >>> from lotor.crypto.garbling.arithmetic import add
    >>> eight = BooleanCircuit(add, (8, 1), (8, 1))
    >>> eight.ands, eight.levels, eight.table_bytes, eight.output
    (13, 5, 416, (8, 1))
    """

    __slots__ = ("ands", "formula", "gates", "inputs", "output", "table_bytes")

    def __init__(self, formula: Formula, *inputs: Shape) -> None:
        self.formula = formula
        self.inputs = inputs
        counting = CountingGates()
        made = self.run(counting, *(np.empty((*shape, 0), np.uint64) for shape in inputs))
        self.output = made.shape[:-1]
        self.gates = tuple(counting.levels)
        self.ands = sum(bits * places for level in self.gates for bits, places in level)
        self.table_bytes = AND_BYTES * self.ands

    @property
    def levels(self) -> int:
        """In how many levels AND gates are computed, one after the other."""
        return len(self.gates)

    def run(self, gates: Gates, *inputs: Wires) -> Wires:
        """The formula, on whatever a backend keeps of wires."""
        return self.formula(gates, *inputs)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.ands} AND gates on {self.levels} levels>"


class ArgmaxCircuit(BooleanCircuit):
    """Where the largest of some unsigned numbers is: the first of equals wins.

    Each number is the XOR of its shares, one input each. The output is one-hot, (places,).

    >>> ArgmaxCircuit(10, 63)
    <ArgmaxCircuit of 1592 AND gates on 30 levels>
    """

    __slots__ = ("places", "shares", "width")

    def __init__(self, places: int, width: int, *, shares: int = 1) -> None:
        if places < 1 or width < 1 or shares < 1:
            raise InputError(
                f"an argmax of {places} numbers of {width} bits in {shares} shares: there must be "
                "at least one of each"
            )
        self.places, self.width, self.shares = places, width, shares
        super().__init__(_argmax_of_shares, *[(width, places)] * shares)


def _argmax_of_shares(gates: Gates, first: Wires, *others: Wires) -> Wires:
    for other in others:
        first = first ^ other
    return argmax(gates, first)
