"""What leaves a party, and when: at the same time, pulled or not."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lotor.core.errors import ProtocolError
from lotor.runtime.daemon.departures import Departures
from lotor.runtime.durable.link import MESSAGES_AHEAD
from runtime.daemon.clocks import ManualClock

BEGAN, TICK = 100.0, 0.5


@dataclass
class Bench:
    tick: float = TICK
    clock: ManualClock = field(default_factory=ManualClock)
    left: list[tuple[float, str]] = field(default_factory=list)
    opened: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.gate = Departures(self.tick, self.clock, self.opened.append)

    def send(self, what: str, seat: str = "controller") -> None:
        self.gate.hold(seat, lambda: self.left.append((self.clock.now(), what)))

    def answer(self, took: float) -> float | None:
        """The answer comes after so long, and two messages follow from it."""
        self.clock.set(BEGAN + took)
        self.send("first")
        self.send("second", "comp")
        return self.gate.answered()


@given(took=st.floats(0, TICK - 0.02), began=st.floats(0, 0.01))
def test_all_leaves_together_a_tick_after_the_question_in_its_order(
    took: float, began: float
) -> None:
    """`began` is when the message came, a little before anything could be done about it."""
    bench = Bench(clock=ManualClock(BEGAN))
    bench.gate.close(BEGAN - began)
    due = BEGAN - began + TICK
    assert bench.answer(took) is None
    bench.clock.set(due - 1e-6)
    assert bench.left == []
    assert bench.gate.closed
    bench.clock.set(due)
    assert bench.left == [(due, "first"), (due, "second")]
    assert bench.gate.open
    assert bench.opened == [due]


def test_without_a_tick_nothing_is_held() -> None:
    bench = Bench(tick=0.0)
    bench.gate.close(BEGAN)
    assert bench.gate.open
    bench.send("at once")
    assert bench.gate.answered() is None
    assert bench.left == [(BEGAN, "at once")]
    assert bench.clock.alarms == []


@pytest.mark.parametrize(("took", "leaves"), [(0.501, 101.0), (0.9, 101.0), (7.2, 107.5)])
def test_a_late_answer_is_told_and_leaves_at_a_whole_tick(took: float, leaves: float) -> None:
    bench = Bench()
    bench.gate.close(BEGAN)
    assert bench.answer(took) == pytest.approx(took)
    assert bench.left == []
    bench.clock.set(leaves - 1e-6)
    assert bench.left == []
    assert bench.opened == []
    bench.clock.set(leaves)
    assert bench.left == [(leaves, "first"), (leaves, "second")]
    assert bench.opened == [leaves]


def test_an_answer_that_was_in_time_but_used_too_late_is_late() -> None:
    """The loop was busy until after the deadline: then nothing may leave in between."""
    bench = Bench()
    bench.gate.close(BEGAN)
    bench.send("first")
    bench.clock.time = BEGAN + 0.6  # no alarm could ring
    assert bench.gate.answered() == pytest.approx(0.6)
    bench.clock.set(BEGAN + 0.9)
    assert bench.left == []
    bench.clock.set(BEGAN + 1.0)
    assert bench.left == [(BEGAN + 1.0, "first")]


def test_while_an_answer_is_late_what_else_is_due_leaves_at_whole_ticks() -> None:
    bench = Bench()
    bench.gate.close(BEGAN)
    bench.send("before the end of the first tick")
    bench.clock.set(BEGAN + 0.7)
    bench.send("in the second")
    assert bench.clock.upcoming() == BEGAN + 1.0
    bench.clock.set(BEGAN + 1.0)
    assert bench.clock.upcoming() is None  # nobody wakes up in vain
    bench.clock.set(BEGAN + 60.1)
    assert bench.answer(60.1) is not None
    bench.clock.set(BEGAN + 60.5)
    assert [when - BEGAN for when, _ in bench.left] == [0.5, 1.0, 60.5, 60.5]
    assert bench.opened == [BEGAN + 60.5]


def test_what_came_meanwhile_is_taken_after_all_has_left() -> None:
    """Else a peer could send much, and see by how late the answer is who was asked."""
    bench = Bench()
    bench.gate.close(BEGAN)
    for number in range(3):
        bench.gate.take("comp", 1, partial(bench.left.append, (0.0, f"came {number}")))
    bench.answer(0.1)
    bench.clock.set(BEGAN + TICK)
    due = BEGAN + TICK
    assert bench.left[:2] == [(due, "first"), (due, "second")]
    assert [what for _, what in bench.left[2:]] == ["came 0", "came 1", "came 2"]


def test_what_is_for_a_seat_that_is_gone_is_dropped() -> None:
    bench = Bench()
    bench.gate.close(BEGAN)
    bench.answer(0.1)
    bench.gate.forget("controller")
    bench.send("join")
    bench.clock.set(BEGAN + TICK)
    assert [what for _, what in bench.left] == ["second", "join"]


def test_after_the_end_nothing_leaves() -> None:
    bench = Bench()
    bench.gate.close(BEGAN)
    bench.answer(0.1)
    bench.gate.clear()
    bench.clock.set(BEGAN + 10)
    assert bench.left == []
    assert bench.opened == []
    assert bench.gate.open


@pytest.mark.parametrize("answered", [True, False])
def test_what_ends_the_run_while_all_leaves_keeps_the_rest_back(answered: bool) -> None:
    bench = Bench()
    bench.gate.close(BEGAN)
    bench.send("last words")
    bench.gate.hold("controller", bench.gate.clear)
    bench.send("too late")
    if answered:
        bench.gate.answered()
    bench.clock.set(BEGAN + 10)
    assert [what for _, what in bench.left] == ["last words"]
    assert bench.opened == []
    assert bench.gate.open


@pytest.mark.parametrize("answered", [True, False])
def test_what_is_sent_while_all_leaves_is_not_held_again(answered: bool) -> None:
    bench = Bench()
    bench.gate.close(BEGAN)
    bench.gate.hold("controller", lambda: bench.send("at the same time"))
    if answered:
        bench.gate.answered()
    bench.clock.set(BEGAN + TICK)
    assert bench.left == [(BEGAN + TICK, "at the same time")]
    assert bench.gate.open is answered


def test_a_seat_cannot_fill_the_memory_meanwhile() -> None:
    bench = Bench()
    bench.gate.close(BEGAN)
    nothing: Callable[[], None] = lambda: None  # noqa: E731

    def flood() -> None:
        for _ in range(2 * MESSAGES_AHEAD + 1):
            bench.gate.take("lyon", 0, nothing)

    with pytest.raises(ProtocolError, match="lyon does not wait for this party's answers"):
        flood()
    bench.gate.take("porto", 0, nothing)
    bench.gate.forget("lyon")
    bench.gate.take("lyon", 0, nothing)
