"""A worker process: `python -m lotor.crypto.workers MODULE CLASS` does one job on two pipes."""

import os
import signal
import sys
import time
from importlib import import_module

from lotor.core.errors import LotorError
from lotor.crypto.workers.processes import Reply, read_frame, write_frame


def main(module: str, name: str) -> None:
    """Make the job from the first byte string, then answer the others until they end."""
    # The caller decides what an interrupt means; a worker ends with its input.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    source, target = sys.stdin.buffer, sys.stdout.buffer
    # A stray print must not end up among the answers.
    sys.stdout = sys.stderr
    make = getattr(import_module(module), name).from_bytes
    job = None
    while (data := read_frame(source)) is not None:
        answer, kind, reason = b"", "", ""
        try:
            if job is None:
                job = make(data)
            else:
                answer = job.answer(data)
        except LotorError as error:
            kind, reason = type(error).__name__, str(error)
        except Exception as error:
            kind = type(error).__name__
        try:
            write_frame(target, Reply(time.process_time(), answer, kind, reason).to_bytes())
        except BrokenPipeError:
            # The caller has gone, and the interpreter would try to flush once more.
            os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
