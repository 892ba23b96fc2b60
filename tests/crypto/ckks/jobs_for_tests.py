"""A job that squares what it is sent, and some that fail."""

import os
import time

from crypto.ckks.small import parameters
from lotor.core.errors import IntegrityError, LevelsExhaustedError
from lotor.crypto.ckks import (
    Ciphertext,
    Encrypted,
    EvaluationKeys,
    Evaluator,
)


class Squarer:
    """Squares ciphertexts under the keys that it was set up with."""

    def __init__(self, server: Evaluator) -> None:
        self._server = server

    @classmethod
    def from_bytes(cls, data: bytes) -> "Squarer":
        key = data[:16].hex()
        return cls(Evaluator(EvaluationKeys.from_bytes(data[16:], parameters(2), key)))

    def answer(self, request: bytes) -> bytes:
        keys = self._server.keys
        x = Encrypted(self._server, Ciphertext.from_bytes(request, parameters(2), keys.fingerprint))
        return (x * x).ciphertext.to_bytes()


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
