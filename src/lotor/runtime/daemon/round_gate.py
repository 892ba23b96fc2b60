"""Lets the rounds of one run begin at one party: when they are due, granted, and not paused."""

import time
from collections.abc import Callable

from lotor.runtime.daemon.clock import Alarm, Clock
from lotor.runtime.daemon.pace import Pace
from lotor.runtime.durable.pacing import SavedPace


class RoundGate:
    """A round that waits is `held` (0 if none does); with a pace, it `opens` at that moment.

    Rounds that had begun before a restart begin again at once. With a pace, a round begins so many
    seconds after the one before has begun here; after a restart, by the time of day that was
    written down, but a clock that was set wrong makes it wait no longer than that. `pausing` are
    the other seats that have paused the run.
    """

    def __init__(
        self,
        pace: Pace,
        first_rounds: int,
        saved: SavedPace,
        clock: Clock,
        *,
        begins: Callable[[int, float], None],
        opened: Callable[[], None],
        time_of_day: Callable[[], float] = time.time,
    ) -> None:
        """`begins` writes down which round begins, and when; `opened`: the time has come."""
        self.granted = saved.granted
        self.paused = saved.paused
        self.pausing: set[str] = set()
        self.held, self.opens = 0, 0.0
        self.begun, self.passed = saved.begun, saved.passed
        self._pace = pace
        self._first_rounds = first_rounds
        self._clock = clock
        self._begins = begins
        self._opened = opened
        self._time_of_day = time_of_day
        self._alarm: Alarm | None = None
        ago = min(max(time_of_day() - saved.began, 0.0), pace.every)
        self._began = clock.now() - ago

    @property
    def allowed(self) -> int:
        """The last round that may have begun, on demand."""
        return self._first_rounds + self.granted

    def may_begin(self, t: int) -> bool:
        if t <= self.begun or self._is_open(t):
            self._begin(t)
            return True
        self.held = t
        return False

    def may_go_on(self, t: int) -> bool:
        if self.paused is not None and t > max(self.begun, self.passed):
            return False
        self.passed = max(self.passed, t)
        return True

    def close(self) -> None:
        """The party is gone."""
        self.held = 0
        self._forget_alarm()

    def _is_open(self, t: int) -> bool:
        self._forget_alarm()
        if self.paused is not None or self.pausing:
            self.opens = 0.0
            return False
        if self._pace.on_demand:
            return t <= self.allowed
        return not self._pace.every or not self.begun or self._is_due(t)

    def _is_due(self, t: int) -> bool:
        # Not all parties take part in every round.
        due = self._began + (t - self.begun) * self._pace.every
        wait = due - self._clock.now()
        if wait <= 0:
            return True
        if self.held != t or not self.opens:
            self.opens = self._time_of_day() + wait
        self._alarm = self._clock.call_at(due, self._opened)
        return False

    def _begin(self, t: int) -> None:
        self._forget_alarm()
        self.held, self.opens = 0, 0.0
        if t > self.begun:
            if self._pace.every:
                self._begins(t, self._time_of_day())
            self.begun, self._began = t, self._clock.now()

    def _forget_alarm(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None
