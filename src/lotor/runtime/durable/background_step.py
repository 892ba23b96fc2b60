"""One step of a slow party, taken in a thread while the daemon's event loop goes on."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future


class BackgroundStep:
    """One call that may take seconds.

    Any one thread may call `run`; only the thread that drives the party uses the rest.
    """

    def __init__(self, work: Callable[[], object]) -> None:
        self._work = work
        self._result: object = None
        self._error: BaseException | None = None
        self.done = False
        self.party_ended = False

    def run(self) -> None:
        """Do the work, and keep its result or its error."""
        try:
            self._result = self._work()
        except StopIteration as end:
            self.party_ended, self._result = True, end.value
        except BaseException as error:
            self._error = error
        self.done = True

    def result(self) -> object:
        """Return the work's result or raise its error; with `party_ended`, the party's output."""
        if self._error is not None:
            raise self._error
        return self._result


async def run_in_thread(step: BackgroundStep) -> None:
    """Run a step in a thread of its own; cancelling this call does not wait for the thread.

    The standard executors do not help: their threads keep the process alive until they end.
    """
    future: Future[None] = Future()

    def run() -> None:
        if future.set_running_or_notify_cancel():
            step.run()
            future.set_result(None)

    threading.Thread(target=run, name="lotor-step", daemon=True).start()
    await asyncio.wrap_future(future)
