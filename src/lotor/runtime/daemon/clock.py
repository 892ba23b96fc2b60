"""Time as the daemon sees it, so that tests can bring their own."""

import asyncio
import time
from typing import Protocol as Interface


class Clock(Interface):
    def now(self) -> float:
        """Seconds that never go back."""

    async def sleep(self, seconds: float) -> None: ...


class SystemClock:
    """The machine's own."""

    def now(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
