"""When a round may begin, by a clock that the test sets."""

from dataclasses import dataclass, field
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lotor.core.errors import InputError
from lotor.runtime.daemon.pace import Pace
from lotor.runtime.daemon.round_gate import RoundGate
from lotor.runtime.durable.pacing import SavedPace
from runtime.daemon.clocks import ManualClock

FREE, ON_DEMAND = Pace(), Pace(on_demand=True)


@dataclass
class Party:
    """A party that begins its rounds as soon as it may; `begun` has each with its time."""

    pace: Pace
    first_rounds: int = 0
    clock: ManualClock = field(default_factory=ManualClock)
    saved: SavedPace = field(default_factory=SavedPace)
    hours_wrong: float = 0.0
    begun: list[tuple[int, float]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.t = self.first_rounds + 1
        self.restart(0)

    def restart(self, back: int) -> None:
        """Come back, and go on so many rounds earlier."""
        self.t = max(self.t - back, self.first_rounds + 1)
        self.gate = RoundGate(
            self.pace,
            self.first_rounds,
            self.saved,
            self.clock,
            begins=self._write,
            opened=self.go_on,
            time_of_day=lambda: self.clock.time + 1e9 + 3600 * self.hours_wrong,
        )

    def _write(self, t: int, moment: float) -> None:
        self.saved = SavedPace(self.gate.granted, b"", t, moment)

    def go_on(self, most: int = 1000) -> None:
        for _ in range(most):
            if not self.gate.may_begin(self.t):
                return
            if not self.begun or self.t > self.begun[-1][0]:
                self.begun.append((self.t, self.clock.time))
            self.t += 1


def test_without_a_pace_nothing_waits() -> None:
    party = Party(FREE)
    party.go_on(10)
    assert [t for t, _ in party.begun] == list(range(1, 11))
    assert party.saved == SavedPace()


@given(grants=st.lists(st.integers(0, 5), max_size=8), first=st.integers(0, 9))
def test_on_demand_as_many_begin_as_are_granted(grants: list[int], first: int) -> None:
    party = Party(ON_DEMAND, first)
    for count in grants:
        party.go_on()
        assert party.gate.held == party.t
        party.gate.granted += count
    party.go_on()
    assert [t for t, _ in party.begun] == list(range(first + 1, first + sum(grants) + 1))
    assert party.gate.held == first + sum(grants) + 1


@given(
    every=st.floats(0.01, 1e6),
    steps=st.lists(st.tuples(st.floats(0.0, 3.0), st.integers(0, 3) | st.none()), max_size=12),
)
def test_at_a_pace_rounds_neither_skip_nor_burst_whoever_restarts(
    every: float, steps: list[tuple[float, int | None]]
) -> None:
    party = Party(Pace(every))
    party.go_on()
    for paces, back in steps:
        if back is not None:
            party.restart(back)
            party.go_on()
        party.clock.set(party.clock.time + paces * every)
    assert [t for t, _ in party.begun] == list(range(1, len(party.begun) + 1))
    # To the accuracy of a time of day.
    moments = [moment for _, moment in party.begun]
    for before, after in pairwise(moments):
        assert abs(after - before - every) <= 1e-5 * max(every, 1.0)


def test_a_party_that_comes_late_to_a_round_does_not_hurry_after_it() -> None:
    party = Party(Pace(10.0))
    assert party.gate.may_begin(1)
    party.clock.time += 55.0
    assert party.gate.may_begin(2)
    assert not party.gate.may_begin(3)
    assert party.clock.upcoming() == 165.0


def test_after_a_long_absence_only_the_next_round_is_due_at_once() -> None:
    party = Party(Pace(10.0))
    party.go_on()
    party.clock.time += 1000.0
    party.restart(0)
    party.go_on()
    assert party.begun[1:] == [(2, 1100.0)]
    party.clock.set(1110.0)
    assert party.begun[2:] == [(3, 1110.0)]


@pytest.mark.parametrize("hours", [-5.0, 5.0])
def test_a_clock_that_was_set_wrong_costs_one_interval_at_most(hours: float) -> None:
    party = Party(Pace(600.0))
    party.go_on()
    party.hours_wrong = hours
    party.restart(0)
    party.go_on()
    party.clock.set(party.clock.time + 600.0)
    assert len(party.begun) >= 2


def test_a_party_that_takes_turns_counts_the_rounds_of_others() -> None:
    party = Party(Pace(10.0))
    assert party.gate.may_begin(2)
    assert not party.gate.may_begin(5)
    assert party.clock.upcoming() == 130.0


def test_a_pause_holds_what_has_not_begun_and_nothing_else() -> None:
    party = Party(FREE)
    party.go_on(4)
    assert party.gate.may_go_on(6)
    party.gate.paused = 1.0
    assert not party.gate.may_begin(5)
    assert party.gate.may_begin(4)
    assert party.gate.may_go_on(6)
    assert not party.gate.may_go_on(7)
    party.gate.paused = None
    party.gate.pausing.add("lyon")
    assert not party.gate.may_begin(5)
    assert party.gate.may_go_on(7)
    party.gate.pausing.clear()
    assert party.gate.may_begin(5)


def test_a_gate_that_is_closed_rings_nobody() -> None:
    party = Party(Pace(10.0))
    party.go_on()
    assert party.clock.upcoming() == 110.0
    party.gate.close()
    assert party.clock.upcoming() is None


@pytest.mark.parametrize(
    "pace",
    [Pace(-1.0), Pace(float("nan")), Pace(float("inf")), Pace(0.001), Pace(1e9), Pace(10.0, True)],
)
def test_a_pace_that_nobody_can_keep_is_refused(pace: Pace) -> None:
    with pytest.raises(InputError, match="every"):
        pace.check()
