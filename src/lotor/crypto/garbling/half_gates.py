"""What garbler and evaluator have in common: the plan of a circuit's AND gates.

Half gates with free XOR (Zahur, Rosulek and Evans, 2015; Kolesnikov and Schneider, 2008). The
gates of a level are worked on together, in steps that a core's cache can hold.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence

import numpy as np

from lotor.core.errors import InputError
from lotor.crypto.garbling.circuit import BooleanCircuit
from lotor.crypto.garbling.gates import Pair, Wires
from lotor.crypto.garbling.tracing import Calls, traced, untraced
from lotor.crypto.ot import Labels
from lotor.crypto.ot.hash import (
    Encrypt,
    HashKey,
    Place,
    fill_numbers,
    fill_rounds,
    octets,
    tweak_base,
)

# So many AND gates of a circuit are worked on together, if a level has them. Tables are in the
# order of steps: both parties must cut circuits alike.
STEP = 4096

EVERY_BIT = np.array([[0, 0], [2**64 - 1, 2**64 - 1]], np.uint64)
"""The mask of a colour."""


def buffer(rows: int) -> tuple[Labels, memoryview]:
    """Labels that AES may write, and the same as bytes; it wants room behind them."""
    room = np.empty((rows + 1, 2), np.uint64)
    return room[:rows], octets(room)


class GateStep(ABC):
    """Some AND gates at once: both inputs of each are put in `left` and `right`."""

    left: Labels
    right: Labels

    @abstractmethod
    def run(self) -> None:
        """From the inputs to the output."""


class HalfGates(ABC):
    """A backend whose wires are labels, (bits, places, batch, 2).

    It traces the formula of a circuit when it is made, and then runs it any number of times.
    """

    encrypt: Encrypt
    tables: Labels
    """(2 · gates, 2), of all circuits of a batch: for each step the rows of all its gates' halves
    for the garbler's input, then those for the evaluator's."""

    def __init__(self, circuit: BooleanCircuit, batch: int) -> None:
        self.circuit, self.batch = circuit, batch
        self._tweaks = np.empty((2 * circuit.ands, batch, 2), np.uint64)
        self._numbered: tuple[int, int] | None = None
        self._make_room(_most(circuit) * batch)
        self._row = 0
        self._calls: Calls = []
        self._inputs = [np.empty((*shape, batch, 2), np.uint64) for shape in circuit.inputs]
        wires = (traced(each, self._calls) for each in self._inputs)
        self._output = untraced(circuit.run(self, *wires))
        # Traced wires hold the list that holds them, where Python cannot see it: leave them an
        # empty one, or the buffers of this circuit would never be freed.
        traced_calls, self._calls = self._calls, self._calls.copy()
        traced_calls.clear()

    @abstractmethod
    def _make_room(self, most: int) -> None:
        """Make the buffers for the largest step."""

    @abstractmethod
    def _step(self, rows: slice, tweaks: Labels, output: Labels) -> GateStep:
        """The step that has these rows of the tables."""

    @abstractmethod
    def inverted(self, wires: Wires) -> Wires:
        """NOT."""

    def both(self, *pairs: Pair) -> list[Wires]:
        """Plan the AND gates of one level."""
        output = np.empty((sum(b.size // 2 for _, b in pairs), 2), np.uint64)
        done = 0
        for together in _steps(pairs):
            done += self._plan(together, output[done:])
        ends = np.cumsum([b.size // 2 for _, b in pairs])
        return [
            traced(rows.reshape(b.shape), self._calls)
            for rows, (_, b) in zip(np.split(output, ends[:-1]), pairs, strict=True)
        ]

    def _plan(self, pairs: Sequence[Pair], output: Labels) -> int:
        """One step: how many gates it has."""
        count = sum(b.size // 2 for _, b in pairs)
        rows = slice(self._row, self._row + 2 * count)
        self._row = rows.stop
        step = self._step(rows, self._tweaks.reshape(-1, 2)[rows], output[:count])
        at = 0
        for a, b in pairs:
            here = slice(at, at + b.size // 2)
            for room, wires in ((step.left, a), (step.right, b)):
                slot = room[here].reshape(b.shape)
                self._calls.append((slot.__setitem__, (..., untraced(wires))))
            at = here.stop
        self._calls.append((step.run, ()))
        return count

    def run(self, key: HashKey, place: Place, tables: Labels, inputs: Sequence[Labels]) -> Labels:
        """The output labels of the whole circuit."""
        tweak_base(place)
        if self._numbered != place[:2]:
            fill_numbers(self._tweaks, place)
            self._numbered = place[:2]
        fill_rounds(self._tweaks, place.round)
        self.encrypt, self.tables = key.encrypt, tables
        for kept, given in zip(self._inputs, inputs, strict=True):
            kept[...] = given
        for call, arguments in self._calls:
            call(*arguments)
        return self._output.copy()


def transposed_labels(labels: Labels) -> Labels:
    """(m, n, 2) to (n, m, 2): five times faster where each label is one item."""
    return (
        np.ascontiguousarray(labels.view("V16")[..., 0].T)
        .view(np.uint64)
        .reshape(labels.shape[1], labels.shape[0], 2)
    )


def check_inputs(circuit: BooleanCircuit, inputs: Sequence[Labels]) -> int:
    """How many circuits these labels are for."""
    shapes = [labels.shape for labels in inputs]
    batch = shapes[0][2] if shapes and len(shapes[0]) == 4 else 0
    if batch < 1 or shapes != [(*shape, batch, 2) for shape in circuit.inputs]:
        raise InputError(
            f"labels of shapes {shapes} do not fit a circuit whose inputs are (bits, places) = "
            f"{list(circuit.inputs)}: give each as (bits, places, circuits, 2)"
        )
    return batch


def _steps(pairs: Sequence[Pair]) -> Iterator[list[Pair]]:
    """The pairs of a level in one step, or if they have too many gates in several, by rows."""
    if sum(b.shape[0] * b.shape[1] for _, b in pairs) <= STEP:
        yield list(pairs)
        return
    for a, b in pairs:
        rows = max(STEP // b.shape[1], 1)
        for start in range(0, len(b), rows):
            here = slice(start, start + rows)
            yield [(a if len(a) == 1 else a[here], b[here])]


def _most(circuit: BooleanCircuit) -> int:
    """No step has more gates than this."""
    levels = [sum(bits * places for bits, places in level) for level in circuit.gates]
    widest = max((places for level in circuit.gates for _, places in level), default=0)
    return min(max(levels, default=0), max(STEP, widest))
