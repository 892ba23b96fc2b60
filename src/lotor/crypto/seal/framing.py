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
from typing import ClassVar, Final, Protocol, Self

from lotor.core.errors import (
    FormatError,
    InputError,
    IntegrityError,
    KeyMismatchError,
    VersionError,
)
from lotor.crypto.seal.payload import CIPHERTEXT, PLAINTEXT, is_whole, unpacked
from lotor.crypto.seal.rings import FINGERPRINT_BYTES

_VERSION = 1
_HEADER = Struct(f">4sBBB{FINGERPRINT_BYTES}s{FINGERPRINT_BYTES}sHdB")
_LENGTH = Struct(">Q")
_CHECK_BYTES = 32
SMALLEST_MAC_KEY: Final = 16


class FrameKind(IntEnum):
    """What a frame holds."""

    SECRET_KEY = 1
    PUBLIC_KEY = 2
    EVALUATION_KEYS = 3
    CIPHERTEXT = 4


_FIELDS: Final = {
    FrameKind.SECRET_KEY: PLAINTEXT,
    FrameKind.PUBLIC_KEY: CIPHERTEXT,
    FrameKind.CIPHERTEXT: CIPHERTEXT,
}


class ParameterSet(Protocol):
    """What a frame must know of a scheme's parameters."""

    @property
    def fingerprint(self) -> str: ...
    @property
    def levels(self) -> int: ...


@dataclass(frozen=True, slots=True)
class SealFrame:
    """A checked frame; its parts are not yet loaded. A scheme gives it its name and its magic."""

    scheme: ClassVar[str]
    magic: ClassVar[bytes]

    kind: FrameKind
    parameters: str
    key: str
    parts: tuple[bytes | memoryview, ...] = field(repr=False)
    level: int = 0
    scale: float = 0.0

    @classmethod
    def title(cls, kind: FrameKind) -> str:
        """What a frame of this kind is called in errors."""
        return f"{cls.scheme} {kind.name.lower().replace('_', ' ')}"

    def to_bytes(self, mac_key: bytes | None = None) -> bytes:
        header = _HEADER.pack(
            self.magic,
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
        return b"".join((*content, self._check(content, mac_key)))

    @classmethod
    def read(
        cls,
        kind: FrameKind,
        data: bytes,
        parameters: ParameterSet,
        *,
        key: str | None = None,
        mac_key: bytes | None = None,
    ) -> Self:
        """The frame in these bytes, if it is whole, of this kind, these parameters and this key."""
        title = cls.title(kind)
        if len(data) < _HEADER.size + _CHECK_BYTES or not data.startswith(cls.magic):
            raise FormatError(
                f"these {len(data)} bytes do not begin like a {title}: they are truncated or "
                "something else; pass what to_bytes returned"
            )
        _, version, found, sealed, set_name, key_name, level, scale, count = _HEADER.unpack_from(
            data
        )
        if version != _VERSION:
            raise VersionError(
                f"this {title} is of format {version} and this release reads {_VERSION}: it was "
                "altered or a newer release wrote it; upgrade lotor"
            )
        view = memoryview(data)
        # The check comes before everything that the header says about the rest.
        if sealed != int(mac_key is not None) or not hmac.compare_digest(
            cls._check((view[:-_CHECK_BYTES],), mac_key), data[-_CHECK_BYTES:]
        ):
            raise IntegrityError(
                f"the check of this {title} fails: it was altered or cut on its way, or its "
                "sender and its reader use different authentication keys; ask for it again"
            )
        if found != kind:
            name = cls.title(FrameKind(found)) if found in set(FrameKind) else "something unknown"
            raise FormatError(f"expected a {title} and got {name}: pass the right object")
        parts = _parts(title, view, count)
        frame = cls(kind, set_name.hex(), key_name.hex(), parts, level, scale)
        frame._check_names(parameters, key)
        return frame

    @classmethod
    def _check(cls, content: Iterable[bytes | memoryview], mac_key: bytes | None) -> bytes:
        label = f"lotor {cls.scheme.lower()} frame v1\0".encode()
        if mac_key is None:
            digest = sha256(label)
            for part in content:
                digest.update(part)
            return digest.digest()
        if len(mac_key) < SMALLEST_MAC_KEY:
            raise InputError(
                f"an authentication key of {len(mac_key)} bytes can be guessed: take 32 random "
                "bytes"
            )
        mac = hmac.new(mac_key, label, sha256)
        for part in content:
            mac.update(part)
        return mac.digest()

    def _check_names(self, parameters: ParameterSet, key: str | None) -> None:
        title = self.title(self.kind)
        if self.parameters != parameters.fingerprint:
            raise KeyMismatchError(
                f"this {title} is for parameters {self.parameters} and "
                f"{parameters.fingerprint} are in use: it comes from another run; use the same "
                "parameter set on all sides"
            )
        if key is not None and self.key != key:
            raise KeyMismatchError(
                f"this {title} is under key {self.key} and {key} is needed: it comes from "
                "another run or party; use the key that it was made with"
            )
        if self.level > parameters.levels or not (math.isfinite(self.scale) and self.scale >= 0):
            raise FormatError(f"this {title} names an impossible level or scale: ask for it again")

    def exactly(self, count: int) -> tuple[bytes | memoryview, ...]:
        """Its parts, if there are so many."""
        if len(self.parts) != count:
            raise FormatError(
                f"a {self.title(self.kind)} has {count} parts: ask its sender for it again"
            )
        return self.parts

    @classmethod
    def public_fingerprint(cls, parameters: ParameterSet, payload: bytes | memoryview) -> str:
        """The fingerprint of a key: a hash of its public part, as SEAL wrote it."""
        label = f"lotor {cls.scheme.lower()} public key v1\0".encode()
        digest = sha256(label + bytes.fromhex(parameters.fingerprint))
        digest.update(payload)
        return digest.digest()[:FINGERPRINT_BYTES].hex()

    def check_public(self, parameters: ParameterSet, payload: bytes | memoryview) -> None:
        """Refuse a public key that does not have the fingerprint in the header."""
        if self.public_fingerprint(parameters, payload) != self.key:
            raise FormatError(
                f"this {self.title(self.kind)} does not have the fingerprint {self.key} that it "
                "claims: somebody exchanged its public key; get it from its owner again"
            )

    @classmethod
    def check_payload(
        cls, kind: FrameKind, payload: bytes | memoryview, most: int
    ) -> bytes | memoryview:
        """What SEAL may read of an inner part; refuses what is too long or not written by SEAL.

        Evaluation keys stay packed: they have objects within objects within objects.
        """
        if kind is FrameKind.EVALUATION_KEYS:
            checked = payload if is_whole(payload, most) else None
        else:
            checked = unpacked(payload, most, _FIELDS[kind])
        if checked is None:
            raise FormatError(
                f"the inner part of this {cls.title(kind)} is not what SEAL writes: its sender "
                "made it in another way; ask for it again"
            )
        return checked


def _parts(title: str, view: memoryview, count: int) -> tuple[memoryview, ...]:
    start = _HEADER.size + count * _LENGTH.size
    end = len(view) - _CHECK_BYTES
    parts = []
    if start <= end:
        for place in range(count):
            (length,) = _LENGTH.unpack_from(view, _HEADER.size + place * _LENGTH.size)
            parts.append(view[start : min(start + length, end)])
            start += length
    if start != end:
        raise FormatError(f"the lengths in this {title} do not add up: transfer it again")
    return tuple(parts)
