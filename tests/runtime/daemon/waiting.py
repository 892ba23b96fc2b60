"""Waiting for what happens in an event loop."""

import asyncio
from collections.abc import Callable


async def until(true: Callable[[], object]) -> None:
    """Wait until something is so; the test fails if that takes far too long."""
    async with asyncio.timeout(90):
        while not true():
            await asyncio.sleep(0.005)
