"""A worker process: `python -m lotor.crypto.paillier.serve_share MODULE CLASS` on two pipes."""

import os
import signal
import sys
import time
from importlib import import_module

from lotor.core.errors import LotorError
from lotor.crypto.paillier.frames import Reply, read_frame, write_frame


def main(module: str, name: str) -> None:
    """Make the share from the first byte string, then answer the others until they end."""
    # The caller decides what an interrupt means; a worker ends with its input.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    source, target = sys.stdin.buffer, sys.stdout.buffer
    # A stray print must not end up among the answers.
    sys.stdout = sys.stderr
    kind = getattr(import_module(module), name)
    share = None
    while (data := read_frame(source)) is not None:
        answer, kind_of_error, reason = b"", "", ""
        try:
            if share is None:
                share = kind.from_bytes(data)
            else:
                answer = share.answer(data)
        except LotorError as error:
            kind_of_error, reason = type(error).__name__, str(error)
        except Exception as error:
            kind_of_error = type(error).__name__
        reply = Reply(time.process_time(), answer, kind_of_error, reason)
        try:
            write_frame(target, reply.to_bytes())
        except BrokenPipeError:
            # The caller has gone, and the interpreter would try to flush once more.
            os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
