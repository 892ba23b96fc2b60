"""Processes that remember: SEAL holds the interpreter's lock, so that threads would not help.

Each has its own place and requests and keeps what it was told before; the caller computes its share
meanwhile.
"""

from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Self, TypeVar

from lotor.core.errors import CryptoError, InputError
from lotor.crypto.ckks.processes import Process
from lotor.crypto.paillier.workers import Share

T = TypeVar("T")


class Crew:
    """`count` processes beside the caller; `kind.from_bytes(setup)` makes the worker in each."""

    def __init__(self, kind: type[Share], setup: bytes, count: int) -> None:
        if count < 1:
            raise InputError(f"count={count}: a crew has at least one process")
        self._processes = [Process(kind) for _ in range(count)]
        self._closed = False
        self.ask([setup] * count, lambda: None)

    def ask(self, requests: Sequence[bytes], meanwhile: Callable[[], T]) -> tuple[T, list[bytes]]:
        """What the caller computes meanwhile, and each process's answer to its own request.

        Whatever goes wrong ends the processes: no later answer could be trusted to be the next.
        """
        if self._closed:
            raise CryptoError(
                "these worker processes have ended, because they were closed or one of them "
                "failed: start again"
            )
        try:
            for process, request in zip(self._processes, requests, strict=True):
                process.send(request)
            own = meanwhile()
            return own, [process.receive() for process in self._processes]
        except BaseException:
            self._kill()
            raise

    @property
    def cpu_seconds(self) -> list[float]:
        """Of each process, until its last answer."""
        return [process.cpu_seconds for process in self._processes]

    def _kill(self) -> None:
        for process in self._processes:
            process.kill()
        self.close()

    def close(self) -> None:
        """End the processes."""
        if not self._closed:
            self._closed = True
            for process in self._processes:
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
