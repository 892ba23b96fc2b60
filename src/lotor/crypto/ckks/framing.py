"""Keys and ciphertexts as bytes that are checked before SEAL sees them.

SEAL loads an altered byte silently and decrypts another key's ciphertext to noise. A frame is

    magic, version, kind, seal | fingerprints of parameters and key | level, scale | parts | check

The check is an HMAC-SHA-256 under a key that both sides have, or a SHA-256 for channels that
authenticate what they carry; the reader says which of the two it wants.
"""

import hmac
import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import IntEnum
from hashlib import sha256
from struct import Struct
from typing import Final

from lotor.core.errors import (
    FormatError,
    InputError,
    IntegrityError,
    KeyMismatchError,
    VersionError,
)
from lotor.crypto.ckks.parameters import FINGERPRINT_BYTES, Parameters

_MAGIC, _VERSION = b"LCks", 1
_HEADER = Struct(f">4sBBB{FINGERPRINT_BYTES}s{FINGERPRINT_BYTES}sHdB")
_LENGTH = Struct(">Q")
_CHECK_BYTES = 32
_LABEL = b"lotor ckks frame v1\0"
_SEAL_HEADER = Struct("<HBBBBHQ")
_SEAL_MAGIC = 0xA15E
SMALLEST_MAC_KEY: Final = 16


class FrameKind(IntEnum):
    """What a frame holds."""

    SECRET_KEY = 1
    PUBLIC_KEY = 2
    EVALUATION_KEYS = 3
    CIPHERTEXT = 4

    @property
    def title(self) -> str:
        return "CKKS " + self.name.lower().replace("_", " ")


@dataclass(frozen=True, slots=True)
class CKKSFrame:
    """A checked frame; its parts are not yet loaded."""

    kind: FrameKind
    parameters: str
    key: str
    parts: tuple[bytes | memoryview, ...] = field(repr=False)
    level: int = 0
    scale: float = 0.0

    def to_bytes(self, mac_key: bytes | None = None) -> bytes:
        header = _HEADER.pack(
            _MAGIC,
            _VERSION,
            self.kind,
            int(mac_key is not None),
            bytes.fromhex(self.parameters),
            bytes.fromhex(self.key),
            self.level,
            self.scale,
            len(self.parts),
        )
        lengths = (_LENGTH.pack(len(part)) for part in self.parts)
        content = (header, *lengths, *self.parts)
        return b"".join((*content, _check(content, mac_key)))


def read_frame(
    kind: FrameKind,
    data: bytes,
    parameters: Parameters,
    *,
    key: str | None = None,
    mac_key: bytes | None = None,
) -> CKKSFrame:
    """The frame in these bytes, if it is whole, of this kind and for these parameters and key."""
    if len(data) < _HEADER.size + _CHECK_BYTES or not data.startswith(_MAGIC):
        raise FormatError(
            f"these {len(data)} bytes do not begin like a {kind.title}: they are truncated or "
            "something else; pass what to_bytes returned"
        )
    _, version, found, sealed, parameters_, key_, level, scale, count = _HEADER.unpack_from(data)
    if version != _VERSION:
        raise VersionError(
            f"this {kind.title} is of format {version} and this release reads {_VERSION}: it was "
            "altered or a newer release wrote it; upgrade lotor"
        )
    view = memoryview(data)
    # The check comes before everything that the header says about the rest.
    if sealed != int(mac_key is not None) or not hmac.compare_digest(
        _check((view[:-_CHECK_BYTES],), mac_key), data[-_CHECK_BYTES:]
    ):
        raise IntegrityError(
            f"the check of this {kind.title} fails: it was altered or cut on its way, or its "
            "sender and its reader use different authentication keys; ask for it again"
        )
    frame = CKKSFrame(
        _known(kind, found), parameters_.hex(), key_.hex(), _parts(kind, view, count), level, scale
    )
    _check_names(frame, parameters, key)
    return frame


def _check(content: Iterable[bytes | memoryview], mac_key: bytes | None) -> bytes:
    if mac_key is None:
        digest = sha256(_LABEL)
        for part in content:
            digest.update(part)
        return digest.digest()
    if len(mac_key) < SMALLEST_MAC_KEY:
        raise InputError(
            f"an authentication key of {len(mac_key)} bytes can be guessed: take 32 random bytes"
        )
    mac = hmac.new(mac_key, _LABEL, sha256)
    for part in content:
        mac.update(part)
    return mac.digest()


def _known(kind: FrameKind, found: int) -> FrameKind:
    if found != kind:
        name = FrameKind(found).title if found in set(FrameKind) else "something unknown"
        raise FormatError(f"expected a {kind.title} and got {name}: pass the right object")
    return kind


def _parts(kind: FrameKind, view: memoryview, count: int) -> tuple[memoryview, ...]:
    start = _HEADER.size + count * _LENGTH.size
    end = len(view) - _CHECK_BYTES
    parts = []
    if start <= end:
        for place in range(count):
            (length,) = _LENGTH.unpack_from(view, _HEADER.size + place * _LENGTH.size)
            parts.append(view[start : min(start + length, end)])
            start += length
    if start != end:
        raise FormatError(f"the lengths in this {kind.title} do not add up: transfer it again")
    return tuple(parts)


def _check_names(frame: CKKSFrame, parameters: Parameters, key: str | None) -> None:
    if frame.parameters != parameters.fingerprint:
        raise KeyMismatchError(
            f"this {frame.kind.title} is for parameters {frame.parameters} and "
            f"{parameters.fingerprint} are in use: it comes from another run; use the same "
            "parameter set on all sides"
        )
    if key is not None and frame.key != key:
        raise KeyMismatchError(
            f"this {frame.kind.title} is under key {frame.key} and {key} is needed: it comes from "
            "another run or party; use the key that it was made with"
        )
    if frame.level > parameters.levels or not (math.isfinite(frame.scale) and frame.scale >= 0):
        raise FormatError(
            f"this {frame.kind.title} names an impossible level or scale: ask for it again"
        )


def check_payload(kind: FrameKind, payload: bytes | memoryview, most: int) -> bytes | memoryview:
    """Refuse bytes that SEAL did not write, or that are too long, before SEAL reads them."""
    if _SEAL_HEADER.size <= len(payload) <= most:
        magic, header, *_, length = _SEAL_HEADER.unpack_from(payload)
        if magic == _SEAL_MAGIC and header == _SEAL_HEADER.size and length == len(payload):
            return payload
    raise FormatError(
        f"the inner part of this {kind.title} is not what SEAL writes: its sender made it in "
        "another way; ask for it again"
    )
