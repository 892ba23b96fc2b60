"""What SEAL wrote, unpacked and looked through before SEAL reads it.

SEAL ends its process, and cannot be kept from it, when an object within an object claims to be
packed and does not unpack (an exception within a destructor). What it writes is packed as a whole
and never within, so it is unpacked here, and whatever is packed within is refused.
"""

import sys
import zlib
from enum import IntEnum
from struct import Struct
from typing import Final

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

SEAL_HEADER: Final = Struct("<HBBBBHQ")
"""How SEAL begins: magic, header's size, two numbers of its version, packing, 0, length."""
SEAL_MAGIC: Final = 0xA15E

CIPHERTEXT: Final = Struct("<4Q?QQQdQ")
"""A ciphertext or public key: level, transformed, polynomials, degree, primes, scale, 1."""
PLAINTEXT: Final = Struct("<4QQd")
"""A plaintext or secret key: level, coefficients, scale."""


class Packing(IntEnum):
    """How SEAL packs an object."""

    NONE = 0
    ZLIB = 1
    ZSTD = 2


def is_whole(payload: bytes | memoryview, most: int) -> bool:
    """Whether it begins as SEAL does, names its own length, and is not longer than this."""
    if not SEAL_HEADER.size <= len(payload) <= most:
        return False
    magic, header, *_, length = SEAL_HEADER.unpack_from(payload)
    return bool(magic == SEAL_MAGIC and header == SEAL_HEADER.size and length == len(payload))


def unpacked(payload: bytes | memoryview, most: int, fields: Struct) -> bytes | None:
    """The same object not packed; None if SEAL did not write it, or if it is too long.

    `fields` are what it begins with: the rest of it are objects, one after another.
    """
    if not is_whole(payload, most):
        return None
    content = _content(payload, most)
    if content is None or not _plain_from(content, fields.size):
        return None
    magic, header, major, minor, _, reserved, _ = SEAL_HEADER.unpack_from(payload)
    length = SEAL_HEADER.size + len(content)
    return SEAL_HEADER.pack(magic, header, major, minor, Packing.NONE, reserved, length) + content


def _content(payload: bytes | memoryview, most: int) -> bytes | None:
    """What follows the header, at most so many bytes of it."""
    *_, packing, _, _ = SEAL_HEADER.unpack_from(payload)
    body = memoryview(payload)[SEAL_HEADER.size :]
    try:
        if packing == Packing.ZSTD:
            by_zstd = zstd.ZstdDecompressor()
            content = by_zstd.decompress(body, most)
            return content if by_zstd.eof and not by_zstd.unused_data else None
        if packing == Packing.ZLIB:
            by_zlib = zlib.decompressobj()
            content = by_zlib.decompress(body, most)
            return content if by_zlib.eof and not by_zlib.unused_data else None
    except (zstd.ZstdError, zlib.error, MemoryError):
        return None
    return bytes(body) if packing == Packing.NONE else None


def _plain_from(content: bytes, place: int) -> bool:
    """Whether objects that are not packed stand from here to the end, and at least one."""
    if place >= len(content):
        return False
    while place < len(content):
        if len(content) - place < SEAL_HEADER.size:
            return False
        magic, header, _, _, packing, _, length = SEAL_HEADER.unpack_from(content, place)
        if (magic, header, packing) != (SEAL_MAGIC, SEAL_HEADER.size, Packing.NONE):
            return False
        if not SEAL_HEADER.size <= length <= len(content) - place:
            return False
        place += length
    return True
