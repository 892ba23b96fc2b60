"""Messages to bytes and back: msgpack, typed, refused when they are of another kind."""

from functools import cache

import msgspec

from lotor.core.effects import Message, Receive
from lotor.core.errors import ProtocolError
from lotor.core.unreadable import UNREADABLE

encode = msgspec.msgpack.Encoder().encode


@cache
def _decoder(kind: type[Message], other: type[Message] | None) -> msgspec.msgpack.Decoder[Message]:
    return msgspec.msgpack.Decoder(kind if other is None else kind | other)


def decode(payload: bytes, expected: Receive, receiver: str) -> Message:
    """The message that `receiver` waits for, or an error that names who sent something else."""
    try:
        return _decoder(expected.kind, expected.other).decode(payload)
    except UNREADABLE:
        raise ProtocolError(
            f"{receiver} waits for {expected.awaited} from {expected.sender}, but got "
            f"{len(payload)} bytes that are not one: the message was altered, or "
            f"{expected.sender} runs another protocol or version"
        ) from None
