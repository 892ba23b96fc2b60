"""Time as the daemon sees it, so that tests can bring their own."""

import asyncio
import time
from collections.abc import Callable
from typing import Protocol as Interface

# An event loop wakes up whole milliseconds after it went to sleep, and somewhat late.
EARLY = 0.002


class Alarm(Interface):
    def cancel(self) -> None: ...


class Clock(Interface):
    def now(self) -> float:
        """Seconds that never go back."""

    async def sleep(self, seconds: float) -> None: ...

    def call_at(self, moment: float, then: Callable[[], None]) -> Alarm:
        """Call `then` at this moment, as exactly as can be, unless it is cancelled before."""


class SystemClock:
    """The machine's own."""

    def now(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    def call_at(self, moment: float, then: Callable[[], None]) -> Alarm:
        """An event loop would be late by up to a millisecond, depending on what it did before.

        So it is woken early, and holds still for the rest.
        """

        def ring() -> None:
            time.sleep(max(0.0, moment - time.monotonic()))
            then()

        loop = asyncio.get_running_loop()
        return loop.call_later(moment - EARLY - time.monotonic(), ring)
