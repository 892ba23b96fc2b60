"""One worker process: bytes in, bytes out, one request at a time."""

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import IO, cast

from lotor.core import errors
from lotor.core.errors import CryptoError, LotorError
from lotor.crypto.ckks import errors as ckks_errors
from lotor.crypto.paillier.frames import Reply, read_frame, reply_from_bytes, write_frame
from lotor.crypto.paillier.workers import Share

_SERVE = "lotor.crypto.paillier.serve_share"


class Process:
    """A fresh interpreter that makes `kind` from the first bytes and answers all others."""

    def __init__(self, kind: type[Share]) -> None:
        package = Path(errors.__file__).parents[2]
        paths = [str(package), *filter(None, [os.environ.get("PYTHONPATH")])]
        self._popen = subprocess.Popen(  # noqa: S603  our own module, in our own interpreter
            [sys.executable, "-P", "-m", _SERVE, kind.__module__, kind.__qualname__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        )
        self._input = cast(IO[bytes], self._popen.stdin)
        self._output = cast(IO[bytes], self._popen.stdout)
        self.is_ready = False
        self.served = 0
        self.cpu_seconds = self._told = 0.0

    def set_up(self, setup: bytes) -> None:
        self.send(setup)
        self.receive()
        self.is_ready = True

    def ask(self, request: bytes) -> bytes:
        self.served += 1
        self.send(request)
        return self.receive()

    def cpu_since(self) -> float:
        """The CPU seconds that it has used since this was asked before."""
        since, self._told = self.cpu_seconds - self._told, self.cpu_seconds
        return since

    def send(self, data: bytes) -> None:
        """Begin a request; `receive` must come before the next one."""
        try:
            write_frame(self._input, data)
        except (OSError, ValueError):
            raise self._gone() from None

    def receive(self) -> bytes:
        """The answer to what was sent."""
        try:
            received = read_frame(self._output)
        except (OSError, ValueError):
            received = None
        if received is None:
            raise self._gone()
        reply = reply_from_bytes(received)
        self.cpu_seconds = reply.cpu_seconds
        if reply.error:
            raise _carried(reply)
        return reply.answer

    def _gone(self) -> CryptoError:
        self.is_ready = False
        return CryptoError(
            "a worker process has ended: it was killed, perhaps for want of memory; start "
            "again, with fewer processes if memory is short"
        )

    def kill(self) -> None:
        self._popen.kill()

    def close(self) -> None:
        for pipe in (self._input, self._output):
            # What is left in the buffer of a process that has gone cannot be written.
            with suppress(OSError):
                pipe.close()
        # The end of its input ends it, unless it is in the middle of something long.
        try:
            self._popen.wait(timeout=1)
        except subprocess.TimeoutExpired:
            self._popen.kill()
            self._popen.wait()


def _carried(reply: Reply) -> LotorError:
    kind = getattr(errors, reply.error, None) or getattr(ckks_errors, reply.error, None)
    if isinstance(kind, type) and issubclass(kind, LotorError):
        return kind(reply.reason)
    # The text of another exception may hold numbers that are nobody's business.
    return CryptoError(
        f"a worker process failed with a {reply.error}: this is a fault in lotor; please report it"
    )
