"""Which circuits a run computes, and what the dealer deals for them in which of its messages.

The dealer and both servers derive all of it from the terms, so that nobody has to tell the others.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar, TypeVarTuple

from lotor.core.errors import InputError
from lotor.crypto.sharing import Circuit, Engine, Recipe

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

# At most so many bytes of corrections are under way, and so many of the dealer's messages.
BYTES_AHEAD = 4 << 20
MOST_AHEAD = 16


class ServerSeats(NamedTuple):
    """The names of the two servers and their dealer in a run."""

    first: str
    second: str
    dealer: str = "dealer"


@dataclass(frozen=True)
class StepCircuit(Generic[T, *Ts]):
    """A circuit that both servers compute once in each step from `first` to `last`.

    - `number`: tells it from the other circuits of a step, whose pads and messages are others;
    - `compute`: the circuit, which takes an engine and then its inputs;
    - `zeros`: inputs of the right shapes, on which the dealer runs it to find what it asks for;
    - `later`: what it needs in step t comes in the dealer's message t + later. It is 1 if no
      checkpoint lies between this circuit and those of the next step.
    """

    number: int
    compute: Callable[[Engine, *Ts], Circuit[T]]
    zeros: tuple[*Ts]
    first: int
    last: int
    later: int = 0

    @cached_property
    def recipe(self) -> Recipe:
        """All that it needs of the dealer in one step."""
        return Recipe.of(lambda engine: self.compute(engine, *self.zeros))

    @property
    def times(self) -> int:
        """How often a run computes it."""
        return max(0, self.last - self.first + 1)


AnyCircuit: TypeAlias = StepCircuit[Any, *tuple[Any, ...]]


class CircuitUse(NamedTuple):
    """One circuit in one step."""

    t: int
    circuit: AnyCircuit


class DealerSchedule:
    """The circuits of a run, in the order in which the dealer's messages serve them.

    Message n has what is computed between two checkpoints: first the circuits of step n - 1 that
    are dealt `later`, and then the others of step n.
    """

    def __init__(self, *circuits: AnyCircuit) -> None:
        self.circuits = sorted(circuits, key=lambda circuit: (-circuit.later, circuit.number))
        if len({circuit.number for circuit in circuits}) < len(circuits):
            raise InputError(
                "two circuits of a step have the same number, and would use the same pads: number "
                "them differently"
            )

    @cached_property
    def messages(self) -> int:
        """How many messages the dealer sends in the whole run."""
        return max(
            (circuit.last + circuit.later for circuit in self.circuits if circuit.times), default=0
        )

    def uses(self, message: int) -> list[CircuitUse]:
        """What a message of the dealer serves, in this order."""
        return [
            CircuitUse(message - circuit.later, circuit)
            for circuit in self.circuits
            if circuit.first <= message - circuit.later <= circuit.last
        ]

    @cached_property
    def batch(self) -> int:
        """How many messages the dealer sends in one go: while one batch is used the next comes."""
        size = sum(circuit.recipe.correction_bytes for circuit in self.circuits)
        return max(1, min(MOST_AHEAD, BYTES_AHEAD // max(size, 1)) // 2)

    def begins_batch(self, message: int) -> bool:
        return (message - 1) % self.batch == 0

    @property
    def rounds(self) -> int:
        """How many rounds one step takes."""
        return sum(circuit.recipe.rounds for circuit in self.circuits)
