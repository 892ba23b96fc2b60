"""A worker that answers, or fails in the way it is asked to."""

import os
import time

from lotor.core.errors import IntegrityError, LevelsExhaustedError


class Echo:
    """Answers with its process and the request; some requests make it fail."""

    @classmethod
    def from_bytes(cls, data: bytes) -> "Echo":
        if data == b"unusable":
            raise IntegrityError("this setup is unusable")
        return cls()

    def answer(self, request: bytes) -> bytes:
        if request == b"levels":
            raise LevelsExhaustedError("none left")
        if request == b"fault":
            raise ZeroDivisionError("the secret is 42")
        if request == b"wait":
            time.sleep(600)
        if request == b"end":
            os._exit(3)
        return b"%d %s" % (os.getpid(), request)
