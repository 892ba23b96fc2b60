"""As much work at a time as there are workers; the calling thread is the first of them."""

import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Self, TypeVar

from lotor.core.errors import InputError
from lotor.crypto.workers.processes import Job, WorkerProcesses

T = TypeVar("T")
R = TypeVar("R")


class Workers:
    """The threads and processes of one party; `Workers(1)` has none and uses the calling thread.

    Close it, or use it in a `with`.

    >>> with Workers(2) as workers:
    ...     workers.map(len, ["one", "eleven"])
    [3, 6]
    """

    def __init__(self, count: int | None = None) -> None:
        if count is None:
            count = _cores()
        if type(count) is not int or count < 1:
            raise InputError(
                f"count={count}: work needs at least one worker; leave the count out to use "
                "every core"
            )
        self.count = count
        self._threads: ThreadPoolExecutor | None = None
        self._thread_seconds = 0.0
        self._started: list[WorkerProcesses] = []

    def map(self, function: Callable[[T], R], parts: Sequence[T]) -> list[R]:
        """The function's results in the order of the parts, computed by threads.

        It only gains time if the function lets go of the interpreter's lock.
        """
        if self.count == 1 or len(parts) < 2:
            return [function(part) for part in parts]
        if self._threads is None:
            self._threads = ThreadPoolExecutor(self.count - 1, "lotor-workers")
        # The calling thread takes every count-th part, so that Workers(2) is two busy threads.
        own = range(0, len(parts), self.count)
        others = [place for place in range(len(parts)) if place not in own]
        futures = {place: self._threads.submit(_timed, function, parts[place]) for place in others}
        results = {place: function(parts[place]) for place in own}
        for place, future in futures.items():
            results[place], seconds = future.result()
            self._thread_seconds += seconds
        return [results[place] for place in range(len(parts))]

    def start(self, job: type[Job], setups: Sequence[bytes]) -> WorkerProcesses:
        """A process for each setup, beside the calling thread."""
        if len(setups) >= self.count:
            raise InputError(
                f"{len(setups)} processes beside the caller are too many for {self.count} workers: "
                f"start at most {self.count - 1}"
            )
        processes = WorkerProcesses(job, setups)
        self._started.append(processes)
        return processes

    @property
    def cpu_seconds(self) -> float:
        """What the other threads and processes have used; the calling thread is not in it."""
        return self._thread_seconds + sum(processes.cpu_seconds for processes in self._started)

    def close(self) -> None:
        """End the threads and processes."""
        if self._threads is not None:
            self._threads.shutdown()
            self._threads = None
        for processes in self._started:
            processes.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _timed(function: Callable[[T], R], part: T) -> tuple[R, float]:
    before = time.thread_time()
    result = function(part)
    return result, time.thread_time() - before
