"""Evaluation keys of somebody else, loaded in another process first.

SEAL ends its process, and cannot be kept from it, when it finds in the middle of some altered keys
that they do not unpack (an exception within a destructor, in about one of a hundred). Ciphertexts
and other keys are unpacked and looked through before SEAL reads them (`crypto.seal.payload`).
"""

import os
import warnings
from collections.abc import Sequence
from dataclasses import fields

import msgspec

from lotor.core.errors import CryptoError, FormatError
from lotor.crypto.ckks.context import Context, context_of
from lotor.crypto.ckks.framing import CKKSFrame
from lotor.crypto.ckks.parameters import Parameters
from lotor.crypto.seal.binding import SealKeySwitchKeys, load, seal
from lotor.crypto.seal.framing import FrameKind
from lotor.crypto.workers import WorkerProcesses


def relinearisation_key(part: bytes | memoryview, context: Context) -> SealKeySwitchKeys:
    return _loaded(seal().RelinKeys(), part, context)


def rotation_key(part: bytes | memoryview, context: Context) -> SealKeySwitchKeys:
    return _loaded(seal().GaloisKeys(), part, context)


def _loaded(
    keys: SealKeySwitchKeys, part: bytes | memoryview, context: Context
) -> SealKeySwitchKeys:
    parameters = context.parameters
    most = 2 * parameters.switching_key_bytes() + (parameters.degree + 4096) * 16
    load(keys, context.seal, CKKSFrame.check_payload(FrameKind.EVALUATION_KEYS, part, most))
    return keys


class KeyTrial:
    """What the other process does: the first request is a relinearisation key."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._load = relinearisation_key

    @classmethod
    def from_bytes(cls, data: bytes) -> "KeyTrial":
        # What C++ says when it ends a process is for nobody here.
        with open(os.devnull, "wb") as nowhere:
            os.dup2(nowhere.fileno(), 2)
        with warnings.catch_warnings(action="ignore"):
            return cls(context_of(Parameters(**msgspec.msgpack.decode(data))))

    def answer(self, request: bytes) -> bytes:
        self._load(request, self._context)
        self._load = rotation_key
        return b""


def try_keys(parameters: Parameters, parts: Sequence[bytes | memoryview]) -> None:
    """Refuse what SEAL cannot load: a relinearisation key, and rotation keys after it."""
    known = {one.name: getattr(parameters, one.name) for one in fields(parameters) if one.init}
    with WorkerProcesses(KeyTrial, [msgspec.msgpack.encode(known)]) as process:
        process.wait()
        for part in parts:
            try:
                process.ask([bytes(part)], lambda: None)
            except CryptoError as error:
                if isinstance(error, FormatError):
                    raise
                raise FormatError(
                    "SEAL cannot read these CKKS evaluation keys, and a process that tried to has "
                    "ended: they were altered; ask their sender for them again"
                ) from None
