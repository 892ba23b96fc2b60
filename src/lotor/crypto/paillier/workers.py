"""Work spread over cores: threads where gmpy2 lets go of the interpreter, processes where not.

Long powers run outside the interpreter's lock, so threads share them well (`map`). Modular
products are too short for that: each would take the lock again, and two threads were no faster
than one. They go to processes that keep their part of the tables (`place`).

A process is a fresh interpreter that reads its part and its tasks from a pipe as plain bytes.
Nothing is pickled, nothing is on its command line, and the caller's program is not run again.
"""

import os
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Protocol, Self, TypeVar, cast

import gmpy2

from lotor.core import errors
from lotor.core.errors import CryptoError, InputError, LotorError
from lotor.crypto.paillier.frames import Reply, read_frame, reply_from_bytes, write_frame

T = TypeVar("T")
R = TypeVar("R")


class Share(Protocol):
    """One part of some work: made once from bytes, then asked again and again."""

    @classmethod
    def from_bytes(cls, data: bytes) -> Self: ...

    def answer(self, request: bytes) -> bytes: ...


class Workers:
    """So many cores' worth of work at a time; the calling thread is the first worker.

    `Workers(1)` does everything in the calling thread. Close it, or use it in a `with`.
    """

    def __init__(self, count: int | None = None) -> None:
        if count is None:
            count = _cores()
        if type(count) is not int or count < 1:
            raise InputError(f"count={count}: work needs at least one worker; leave it out for all")
        self.count = count
        self._threads: ThreadPoolExecutor | None = None
        self._crews: list[Crew] = []
        self._thread_seconds = 0.0

    def map(self, function: Callable[[T], R], parts: Sequence[T]) -> list[R]:
        """The function's results in the order of the parts; it should spend its time in gmpy2."""
        if self.count == 1 or len(parts) < 2:
            return [function(part) for part in parts]
        if self._threads is None:
            self._threads = ThreadPoolExecutor(self.count - 1, "lotor-workers")
        # The calling thread takes every count-th part, so that Workers(2) is two busy threads.
        own = range(0, len(parts), self.count)
        others = [place for place in range(len(parts)) if place not in own]
        futures = {place: self._threads.submit(_timed, function, parts[place]) for place in others}
        results = {place: _released(function, parts[place]) for place in own}
        for place, future in futures.items():
            results[place], seconds = future.result()
            self._thread_seconds += seconds
        return [results[place] for place in range(len(parts))]

    def place(self, kind: type[Share], parts: Sequence[bytes]) -> "Crew":
        """Give each part to a worker of its own; the calling thread keeps the first."""
        if not 1 <= len(parts) <= self.count:
            raise InputError(f"{len(parts)} parts for {self.count} workers: make one for each")
        crew = Crew(kind, parts)
        self._crews.append(crew)
        return crew

    @property
    def cpu_seconds(self) -> float:
        """What the other threads and processes have used; the calling thread is not in it."""
        return self._thread_seconds + sum(crew.cpu_seconds for crew in self._crews)

    def close(self) -> None:
        """End the threads and processes."""
        if self._threads is not None:
            self._threads.shutdown()
            self._threads = None
        for crew in self._crews:
            crew.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _released(function: Callable[[T], R], part: T) -> R:
    with gmpy2.context(gmpy2.get_context(), allow_release_gil=True):
        return function(part)


def _timed(function: Callable[[T], R], part: T) -> tuple[R, float]:
    before = time.thread_time()
    result = _released(function, part)
    return result, time.thread_time() - before


class Crew:
    """Shares of one kind: the first here, each other in a process of its own."""

    def __init__(self, kind: type[Share], parts: Sequence[bytes]) -> None:
        self._pid = os.getpid()
        self._one_at_a_time = threading.Lock()
        self._local: Share | None = None
        self._processes = [_Process(kind, part) for part in parts[1:]]
        try:
            # All prepare at the same time; what went wrong with one is known before the first use.
            self._local = kind.from_bytes(parts[0])
            _gather([process.receive for process in self._processes])
        except BaseException:
            self.close()
            raise

    def ask(self, requests: Sequence[bytes]) -> list[bytes]:
        """Each share's answer to its own request."""
        if os.getpid() != self._pid:
            raise CryptoError(
                "these workers belong to the process that this one was forked from: make new ones"
            )
        with self._one_at_a_time:
            return self._ask(requests)

    def _ask(self, requests: Sequence[bytes]) -> list[bytes]:
        local = self._local
        if local is None:
            raise _GoneError
        receive = [process.receive for process in self._processes]
        try:
            for process, request in zip(self._processes, requests[1:], strict=True):
                process.send(request)
            return _gather([lambda: local.answer(requests[0]), *receive])
        except LotorError as error:
            if isinstance(error, _GoneError):
                self.close()
            raise
        except BaseException:
            # Some answers were not read: the next ones would belong to other requests.
            self.close()
            raise

    @property
    def cpu_seconds(self) -> float:
        """What the other processes have used."""
        return sum(process.cpu_seconds for process in self._processes)

    def close(self) -> None:
        """End the processes and let go of what they and the first share held."""
        self._local = None
        for process in self._processes:
            process.close()


def _gather(calls: Sequence[Callable[[], bytes]]) -> list[bytes]:
    """All results. Every call is made, whatever fails: each answer belongs to one request."""
    results, failures = [], []
    for call in calls:
        try:
            results.append(call())
        except LotorError as failure:
            failures.append(failure)
    if failures:
        raise failures[0]
    return results


class _GoneError(CryptoError):
    def __init__(self) -> None:
        super().__init__(
            "a worker has ended: it was closed, or its process was killed, perhaps for want of "
            "memory; start again, with fewer workers if memory is short"
        )


class _Process:
    def __init__(self, kind: type[Share], part: bytes) -> None:
        package = Path(errors.__file__).parents[2]
        paths = [str(package), *filter(None, [os.environ.get("PYTHONPATH")])]
        module = "lotor.crypto.paillier.serve_share"
        popen = subprocess.Popen(  # noqa: S603  our own module, in our own interpreter
            [sys.executable, "-P", "-m", module, kind.__module__, kind.__qualname__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        )
        self._input = cast(IO[bytes], popen.stdin)
        self._output = cast(IO[bytes], popen.stdout)
        self.cpu_seconds = 0.0
        self._end = weakref.finalize(self, _end, popen, self._input, self._output)
        self.send(part)

    def send(self, data: bytes) -> None:
        try:
            write_frame(self._input, data)
        except (OSError, ValueError):
            raise _GoneError from None

    def receive(self) -> bytes:
        try:
            data = read_frame(self._output)
        except (OSError, ValueError):
            data = None
        if data is None:
            raise _GoneError
        reply = reply_from_bytes(data)
        self.cpu_seconds = reply.cpu_seconds
        if reply.error:
            raise _carried(reply)
        return reply.answer

    def close(self) -> None:
        self._end()


def _carried(reply: Reply) -> LotorError:
    kind = getattr(errors, reply.error, None)
    if isinstance(kind, type) and issubclass(kind, LotorError):
        return kind(reply.reason)
    # The text of another exception may hold numbers that are nobody's business.
    return CryptoError(
        f"a worker process failed with a {reply.error}: this is a fault in lotor; please report it"
    )


def _end(popen: "subprocess.Popen[bytes]", *pipes: IO[bytes]) -> None:
    for pipe in pipes:
        # What is left in the buffer of a process that has gone cannot be written.
        with suppress(OSError):
            pipe.close()
    # The end of its input ends it, unless it is in the middle of something long.
    try:
        popen.wait(timeout=1)
    except subprocess.TimeoutExpired:
        popen.kill()
        popen.wait()
