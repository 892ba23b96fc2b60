"""Lets a slow party think while its daemon goes on."""

import asyncio
import threading
from concurrent.futures import Future

from lotor.runtime.durable.thought import Thought


async def think(thought: Thought) -> None:
    """In a thread of its own. Who no longer waits for it is not kept from anything by it.

    A thread of the standard executors would keep the process alive until it is done.
    """
    future: Future[None] = Future()

    def run() -> None:
        if future.set_running_or_notify_cancel():
            thought.think()
            future.set_result(None)

    threading.Thread(target=run, name="lotor-think", daemon=True).start()
    await asyncio.wrap_future(future)
