"""A clock that a test sets."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(eq=False)
class ManualAlarm:
    moment: float
    then: Callable[[], None]
    cancelled: bool = False

    def cancel(self) -> None:
        self.cancelled = True


@dataclass
class ManualClock:
    """Time passes only when a test says so; who sleeps, sleeps for good."""

    time: float = 100.0
    alarms: list[ManualAlarm] = field(default_factory=list)

    def now(self) -> float:
        return self.time

    async def sleep(self, seconds: float) -> None:
        await asyncio.Event().wait()

    def call_at(self, moment: float, then: Callable[[], None]) -> ManualAlarm:
        self.alarms.append(ManualAlarm(moment, then))
        return self.alarms[-1]

    def upcoming(self) -> float | None:
        """When somebody wants to be called."""
        return min((alarm.moment for alarm in self.alarms if not alarm.cancelled), default=None)

    def set(self, moment: float) -> None:
        """Let time pass, and ring what is due."""
        while (due := self.upcoming()) is not None and due <= moment:
            self.time = max(self.time, due)
            ringing = [one for one in self.alarms if one.moment == due and not one.cancelled]
            for alarm in ringing:
                if not alarm.cancelled:
                    alarm.cancel()
                    alarm.then()
        self.alarms = [alarm for alarm in self.alarms if not alarm.cancelled]
        self.time = max(self.time, moment)
