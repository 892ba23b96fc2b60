"""What travels between a caller and its worker processes: byte strings with their length first."""

from struct import Struct
from typing import IO

import msgspec

_LENGTH = Struct(">Q")


class Reply(msgspec.Struct, frozen=True, array_like=True):
    """An answer, or the name and text of an error, and the CPU seconds used until now."""

    cpu_seconds: float
    answer: bytes = b""
    error: str = ""
    reason: str = ""

    def to_bytes(self) -> bytes:
        return msgspec.msgpack.encode(self)


def reply_from_bytes(data: bytes) -> Reply:
    return msgspec.msgpack.decode(data, type=Reply)


def write_frame(stream: IO[bytes], data: bytes) -> None:
    stream.write(_LENGTH.pack(len(data)))
    stream.write(data)
    stream.flush()


def read_frame(stream: IO[bytes]) -> bytes | None:
    """The next byte string; None when the other side has gone."""
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(head)
    data = stream.read(length)
    return data if len(data) == length else None
