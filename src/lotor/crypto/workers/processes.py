"""Processes that keep a job each and answer requests while the caller computes."""

import os
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from struct import Struct
from typing import IO, Protocol, Self, TypeVar, cast

import msgspec

from lotor.core import errors
from lotor.core.errors import CryptoError, LotorError

T = TypeVar("T")

_LENGTH = Struct(">Q")
_PACKAGE_PATH = str(Path(errors.__file__).parents[2])
# A process ends with its input; one that is still computing after so many seconds is killed.
_PATIENCE = 1


class Job(Protocol):
    """What a worker process does: a class at the top of its module, with its own encoding."""

    @classmethod
    def from_bytes(cls, data: bytes) -> Self: ...

    def answer(self, request: bytes) -> bytes: ...


class WorkerProcesses:
    """A process for each setup; `job.from_bytes(setup)` makes what answers its requests.

    They prepare while the caller goes on: `wait` for all of them, or let the first `ask` wait.
    Any failure ends all of them: what one has missed, the others may already have done.
    """

    def __init__(self, job: type[Job], setups: Sequence[bytes]) -> None:
        self._owner = os.getpid()
        self._one_at_a_time = threading.Lock()
        self._processes: list[_Process] = []
        self._prepared = False
        self._kill = weakref.finalize(self, _kill, self._processes)
        with self._use():
            for _ in setups:
                self._processes.append(_Process(job))
            self._send(setups)

    def wait(self) -> None:
        """Return when all are prepared; raise what went wrong in one of them."""
        with self._use():
            self._finish_preparing()

    def ask(self, requests: Sequence[bytes], meanwhile: Callable[[], T]) -> tuple[T, list[bytes]]:
        """What the caller computes meanwhile, and each process's answer to its own request."""
        with self._use():
            self._finish_preparing()
            self._send(requests)
            return meanwhile(), self._receive()

    @property
    def cpu_seconds(self) -> float:
        """What all processes have used until their last answers."""
        return sum(self.cpu_by_process)

    @property
    def cpu_by_process(self) -> list[float]:
        """What each process has used until its last answer."""
        return [process.cpu_seconds for process in self._processes]

    def close(self) -> None:
        """End the processes."""
        if self._kill.detach():
            _end(self._processes)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()

    @contextmanager
    def _use(self) -> Iterator[None]:
        if os.getpid() != self._owner:
            raise CryptoError(
                "these worker processes belong to the process that this one was forked from: "
                "start new ones here"
            )
        with self._one_at_a_time:
            if not self._kill.alive:
                raise CryptoError(
                    "these worker processes have ended, because they were closed or one of them "
                    "failed: start again"
                )
            try:
                yield
            except BaseException:
                self._kill()
                raise

    def _finish_preparing(self) -> None:
        if not self._prepared:
            self._receive()
            self._prepared = True

    def _send(self, requests: Sequence[bytes]) -> None:
        for process, request in zip(self._processes, requests, strict=True):
            process.send(request)

    def _receive(self) -> list[bytes]:
        return [process.receive() for process in self._processes]


class _Process:
    """One process; each `send` is followed by one `receive`."""

    def __init__(self, job: type[Job]) -> None:
        paths = [_PACKAGE_PATH, *filter(None, [os.environ.get("PYTHONPATH")])]
        command = [sys.executable, "-P", "-m", "lotor.crypto.workers"]
        try:
            self._popen = subprocess.Popen(  # noqa: S603  our own module, in our own interpreter
                [*command, job.__module__, job.__qualname__],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
            )
        except OSError as error:
            raise CryptoError(
                f"a worker process cannot be started ({error.strerror}): the machine may be out of "
                "memory or processes; start again with fewer workers"
            ) from None
        self._input = cast(IO[bytes], self._popen.stdin)
        self._output = cast(IO[bytes], self._popen.stdout)
        self.cpu_seconds = 0.0

    def send(self, data: bytes) -> None:
        try:
            write_frame(self._input, data)
        except (OSError, ValueError):
            raise self._ended() from None

    def receive(self) -> bytes:
        try:
            data = read_frame(self._output)
        except (OSError, ValueError):
            data = None
        if data is None:
            raise self._ended()
        reply = msgspec.msgpack.decode(data, type=Reply)
        self.cpu_seconds = reply.cpu_seconds
        if reply.error:
            raise _carried(reply)
        return reply.answer

    def kill(self) -> None:
        self._popen.kill()

    def close_pipes(self) -> None:
        for pipe in (self._input, self._output):
            # What is left in the buffer of a process that has gone cannot be written.
            with suppress(OSError):
                pipe.close()

    def end(self) -> None:
        try:
            self._popen.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            self.kill()
            self._popen.wait()

    def _ended(self) -> CryptoError:
        # Its pipe is closed, so it is about to end.
        with suppress(subprocess.TimeoutExpired):
            self._popen.wait(_PATIENCE)
        return CryptoError(
            f"a worker process has ended ({_manner(self._popen.returncode)}): start again, with "
            "fewer workers if the machine is short of memory"
        )


def _kill(processes: Sequence[_Process]) -> None:
    # First of all: a pipe cannot be closed while it is full and nobody reads it.
    for process in processes:
        process.kill()
    _end(processes)


def _end(processes: Sequence[_Process]) -> None:
    for process in processes:
        process.close_pipes()
    for process in processes:
        process.end()


def _manner(code: int | None) -> str:
    if code is None:
        return "it closed its pipe"
    return f"killed by signal {-code}" if code < 0 else f"with status {code}"


class Reply(msgspec.Struct, frozen=True, array_like=True):
    """An answer, or the name and text of an error, and the CPU seconds used until now."""

    cpu_seconds: float
    answer: bytes = b""
    error: str = ""
    reason: str = ""

    def to_bytes(self) -> bytes:
        return msgspec.msgpack.encode(self)


def _carried(reply: Reply) -> LotorError:
    kind = getattr(errors, reply.error, None)
    if isinstance(kind, type) and issubclass(kind, LotorError):
        return kind(reply.reason)
    # The text of another exception may hold numbers that are nobody's business.
    return CryptoError(
        f"a worker process failed with a {reply.error}: this is a fault in lotor; please report it"
    )


def write_frame(stream: IO[bytes], data: bytes) -> None:
    """Write a byte string with its length first."""
    stream.write(_LENGTH.pack(len(data)))
    stream.write(data)
    stream.flush()


def read_frame(stream: IO[bytes]) -> bytes | None:
    """The next byte string; None when the other side has gone."""
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(head)
    data = stream.read(length)
    return data if len(data) == length else None
