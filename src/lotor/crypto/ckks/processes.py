"""One worker process: bytes in, bytes out, one request at a time.

Nothing is pickled, nothing is on its command line, and the caller's program is not run again.
"""

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import IO, cast

from lotor.core import errors
from lotor.core.errors import CryptoError, LotorError
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
        self.cpu_seconds = 0.0

    def send(self, data: bytes) -> None:
        """Begin a request; `receive` must come before the next one."""
        try:
            write_frame(self._input, data)
        except (OSError, ValueError):
            raise _gone() from None

    def receive(self) -> bytes:
        """The answer to what was sent."""
        try:
            received = read_frame(self._output)
        except (OSError, ValueError):
            received = None
        if received is None:
            raise _gone()
        reply = reply_from_bytes(received)
        self.cpu_seconds = reply.cpu_seconds
        if reply.error:
            raise _carried(reply)
        return reply.answer

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


def _gone() -> CryptoError:
    return CryptoError(
        "a worker process has ended: it was killed, perhaps for want of memory; start again, with "
        "fewer processes if memory is short"
    )


def _carried(reply: Reply) -> LotorError:
    kind = getattr(errors, reply.error, None)
    if isinstance(kind, type) and issubclass(kind, LotorError):
        return kind(reply.reason)
    # The text of another exception may hold numbers that are nobody's business.
    return CryptoError(
        f"a worker process failed with a {reply.error}: this is a fault in lotor; please report it"
    )
