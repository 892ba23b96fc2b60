"""Data of any length under AES-256-GCM, in chunks that have their places.

Each chunk is bound to a header, to its number, and to whether it is the last one, so that none can
be swapped, left out, repeated or added, and the data cannot be cut (STREAM: Hoang, Reyhanitabar,
Rogaway and Vizár, 2015; here with random nonces). The key is for this data alone.
"""

from collections.abc import Callable, Iterable, Iterator
from hashlib import sha256
from typing import Final

import msgspec

from lotor.core.errors import IntegrityError
from lotor.crypto.aead import OVERHEAD, Aead

CHUNK_BYTES: Final = 1 << 20


def seal_chunks(
    key: bytes, header: bytes, pieces: Iterable[bytes], size: int = CHUNK_BYTES
) -> Iterator[bytes]:
    """Encrypt data that comes in pieces of any lengths; all chunks but the last have `size` bytes.

    >>> import io, os
    >>> key = os.urandom(32)
    >>> sealed = b"".join(seal_chunks(key, b"a file", [b"some ", b"data"]))
    >>> b"".join(open_chunks(key, b"a file", io.BytesIO(sealed).read))
    b'some data'
    """
    aead, head, buffer, number = Aead(key), sha256(header).digest(), bytearray(), 0
    for piece in pieces:
        buffer += piece
        # What is left at the end is the last chunk, and is never empty unless all is.
        while len(buffer) > size:
            yield aead.seal([bytes(buffer[:size])], _bound(head, number, last=False))
            del buffer[:size]
            number += 1
    yield aead.seal([bytes(buffer)], _bound(head, number, last=True))


def open_chunks(
    key: bytes, header: bytes, read: Callable[[int], bytes], size: int = CHUNK_BYTES
) -> Iterator[bytes]:
    """Decrypt what `read` returns, which is less than it is asked for only at the end.

    IntegrityError for anything but the whole; nothing may be done with the data before its end.
    """
    aead, head, number = Aead(key), sha256(header).digest(), 0
    sealed = read(size + OVERHEAD)
    while True:
        following = read(size + OVERHEAD)
        if len(sealed) < OVERHEAD:
            raise IntegrityError("the data was cut within a chunk, or before its end")
        bound = _bound(head, number, last=not following)
        yield aead.open(sealed, len(sealed) - OVERHEAD, bound)[0]
        if not following:
            return
        sealed, number = following, number + 1


def _bound(head: bytes, number: int, *, last: bool) -> bytes:
    return msgspec.msgpack.encode(["lotor chunk 1", head, number, last])
