"""Jobs that answer, or fail in the way they are asked to."""

import os
import time

from lotor.core.errors import IntegrityError, LevelsExhaustedError


class Adder:
    """Adds its number to what it is asked; some requests make it fail."""

    def __init__(self, number: int) -> None:
        self._number = number

    @classmethod
    def from_bytes(cls, data: bytes) -> "Adder":
        if data == b"unusable":
            raise IntegrityError("this setup is unusable")
        return cls(int(data))

    def answer(self, request: bytes) -> bytes:
        if request == b"refuse":
            raise LevelsExhaustedError("none left")
        if request == b"fault":
            raise ZeroDivisionError("the secret is 42")
        if request == b"wait":
            time.sleep(600)
        if request == b"end":
            os._exit(3)
        if request == b"process":
            return b"%d" % os.getpid()
        if request == b"print":
            print("a stray line")  # noqa: T201  the point of the test
        number = int(request) if request.strip().isdigit() else 0
        return str(self._number + number).encode() * (1 + number)


class Aborting:
    """Ends its process as C++ does."""

    @classmethod
    def from_bytes(cls, data: bytes) -> "Aborting":
        return cls()

    def answer(self, request: bytes) -> bytes:
        os.abort()
