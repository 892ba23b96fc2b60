"""The dealer's messages serve each circuit of each step once, in the order in which it is used."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lotor.core.errors import InputError
from lotor.crypto.sharing import Circuit, Engine, Shared, mask
from lotor.protocols.two_server import schedule
from lotor.protocols.two_server.schedule import DealerSchedule, StepCircuit


def masked(engine: Engine, x: Shared) -> Circuit[object]:
    return (yield from mask(engine, x))


def circuit(
    number: int, first: int = 1, last: int = 9, later: int = 0, size: int = 1
) -> StepCircuit[object, Shared]:
    zeros = Shared(np.zeros(size, np.uint64), first=False)
    return StepCircuit(number, masked, (zeros,), first, last, later)


@given(
    st.lists(st.tuples(st.integers(1, 6), st.integers(0, 9), st.integers(0, 1)), max_size=4),
)
def test_every_use_is_served_once_and_in_order(ways: list[tuple[int, int, int]]) -> None:
    circuits = [circuit(number, *way) for number, way in enumerate(ways)]
    plan = DealerSchedule(*reversed(circuits))
    served = [
        (number, use.t, use.circuit)
        for number in range(1, plan.messages + 1)
        for use in plan.uses(number)
    ]
    uses = [(t, made.number) for _, t, made in served]
    due = [(t, made.number) for made in circuits for t in range(made.first, made.last + 1)]
    assert sorted(uses) == sorted(due)
    assert all(number == t + made.later for number, t, made in served)
    assert plan.uses(plan.messages + 1) == []
    # What was begun a step ago comes first, so that steps are served one after the other.
    assert all(
        one[0] < next_[0] or (one[1], one[2].number) < (next_[1], next_[2].number)
        for one, next_ in pairwise(served)
    )


def test_how_often_a_circuit_is_computed() -> None:
    assert [circuit(0, first, 9).times for first in (1, 9, 10, 30)] == [9, 1, 0, 0]


def test_circuits_of_one_step_have_numbers_of_their_own() -> None:
    with pytest.raises(InputError, match="two circuits of a step have the same number"):
        DealerSchedule(circuit(1), circuit(2), circuit(1))


def dealing(size: int) -> StepCircuit[object, Shared]:
    """A circuit for which so many words are dealt."""

    def squared(engine: Engine, x: Shared) -> Circuit[object]:
        a = yield from mask(engine, x)
        return engine.product(a.terms[0], a.terms[0], x.shape)

    return StepCircuit(0, squared, (Shared(np.zeros(size, np.uint64), first=False),), 1, 9)


def test_a_batch_is_half_of_what_may_be_under_way() -> None:
    assert schedule.MOST_AHEAD == 16
    assert schedule.BYTES_AHEAD == 4 << 20
    assert [DealerSchedule(dealing(words)).batch for words in (1, 1 << 15, 1 << 16)] == [8, 8, 4]
    assert [DealerSchedule(dealing(words)).batch for words in (1 << 17, 1 << 20)] == [2, 1]
    assert DealerSchedule(circuit(0)).batch == 8  # nothing is dealt
    begun = [number for number in range(1, 20) if DealerSchedule(circuit(0)).begins_batch(number)]
    assert begun == [1, 9, 17]
