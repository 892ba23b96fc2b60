"""Heavy work in processes: SEAL holds the interpreter's lock and gives memory back only at exit.

A process is a fresh interpreter that gets its keys and its requests as bytes on a pipe. Nothing
is pickled, nothing is on its command line, and the caller's program is not run again.
"""

import threading
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Self

from lotor.core.errors import InputError
from lotor.crypto.ckks.processes import Process
from lotor.crypto.paillier.workers import Share


class Jobs:
    """`count` processes that answer requests; each ends after `requests_each` of them.

    `kind.from_bytes(setup)` makes the worker in each process, `answer` serves one request.
    """

    def __init__(self, kind: type[Share], setup: bytes, count: int, requests_each: int = 1) -> None:
        if count < 1 or requests_each < 1:
            raise InputError(
                f"count={count}, requests_each={requests_each}: at least one process and request"
            )
        self.count = count
        self.cpu_seconds = 0.0
        self._kind = kind
        self._setup = setup
        self._requests_each = requests_each
        self._idle: list[Process] = []
        self._busy: set[Process] = set()
        self._lock = threading.Lock()

    def run(
        self, requests: Sequence[bytes], done: Callable[[int], None] | None = None
    ) -> list[bytes]:
        """The answers in the order of the requests; `done` hears how many there are so far."""
        batch = _Batch(requests, done)
        # The threads only wait on pipes.
        threads = [
            threading.Thread(target=batch.serve, args=(self._answer,))
            for _ in range(min(self.count, len(requests)))
        ]
        try:
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        except BaseException as interruption:
            self._stop(batch, interruption)
            raise
        if batch.failures:
            raise batch.failures[0]
        return [batch.answers[place] for place in range(len(requests))]

    def _answer(self, batch: "_Batch", request: bytes) -> bytes:
        with self._lock:
            if batch.failures:
                raise batch.failures[0]
            process = self._idle.pop() if self._idle else Process(self._kind)
            self._busy.add(process)
        try:
            if not process.is_ready:
                process.set_up(self._setup)
            return process.ask(request)
        finally:
            kept = process.is_ready and process.served < self._requests_each
            if not kept:
                process.close()
            with self._lock:
                self._busy.discard(process)
                self.cpu_seconds += process.cpu_since()
                if kept:
                    self._idle.append(process)

    def _stop(self, batch: "_Batch", reason: BaseException) -> None:
        with self._lock:
            batch.failures.append(reason)
            for process in self._busy:
                process.kill()

    def close(self) -> None:
        """End the processes."""
        with self._lock:
            idle, self._idle = self._idle, []
        for process in idle:
            process.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class _Batch:
    """Requests that several threads take one after another, until one of them fails."""

    def __init__(self, requests: Sequence[bytes], done: Callable[[int], None] | None) -> None:
        self.answers: dict[int, bytes] = {}
        self.failures: list[BaseException] = []
        self._requests = requests
        self._done = done
        self._waiting = iter(range(len(requests)))
        self._lock = threading.Lock()

    def serve(self, answer: "Callable[[_Batch, bytes], bytes]") -> None:
        while not self.failures:
            with self._lock:
                place = next(self._waiting, None)
            if place is None:
                return
            try:
                self._keep(place, answer(self, self._requests[place]))
            except BaseException as failure:
                self.failures.append(failure)

    def _keep(self, place: int, answer: bytes) -> None:
        with self._lock:
            self.answers[place] = answer
            if self._done is not None:
                self._done(len(self.answers))
