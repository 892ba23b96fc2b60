"""Shares that count, fail and end, for the tests of workers."""

import os

from lotor.core.errors import IntegrityError


class Adder:
    """Adds its number to what it is asked; some requests make it fail."""

    def __init__(self, number: int) -> None:
        self._number = number

    @classmethod
    def from_bytes(cls, data: bytes) -> "Adder":
        if data == b"unusable":
            raise IntegrityError("this part is unusable")
        return cls(int(data))

    def answer(self, request: bytes) -> bytes:
        if request == b"refuse":
            raise IntegrityError("this request is refused")
        if request == b"fault":
            raise ZeroDivisionError("the secret is 42")
        if request == b"end":
            os._exit(3)
        if request == b"print":
            print("a stray line")  # noqa: T201  the point of the test
        number = int(request) if request.strip().isdigit() else 0
        return str(self._number + number).encode() * (1 + number)
