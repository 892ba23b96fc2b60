"""Somebody on the way of messages who changes some."""

from collections.abc import Callable

import msgspec

from lotor.core.effects import Message
from lotor.transport import MemoryTransport

Change = Callable[[Message, dict[type, list[Message]]], Message | bytes]


class Mallory(MemoryTransport):
    """Changes the n-th message of one kind on its way; has kept all that passed before."""

    def __init__(self, kind: type[Message], change: Change, after: int = 3) -> None:
        super().__init__()
        self._kind = kind
        self._change = change
        self._left = after
        self._passed: dict[type, list[Message]] = {}

    def send(self, sender: str, to: str, payload: bytes) -> None:
        tag = msgspec.msgpack.decode(payload)[0]
        if tag == self._kind.__struct_config__.tag:
            message = msgspec.msgpack.decode(payload, type=self._kind)
            if self._left == 0:
                changed = self._change(message, self._passed)
                payload = changed if isinstance(changed, bytes) else msgspec.msgpack.encode(changed)
            self._left -= 1
            self._passed.setdefault(self._kind, []).append(message)
        super().send(sender, to, payload)


def replaced(**fields: object) -> Change:
    return lambda message, _: msgspec.structs.replace(message, **fields)


def altered(field: str, change: Callable[[bytes], bytes]) -> Change:
    def alter(message: Message, _: object) -> Message:
        return msgspec.structs.replace(message, **{field: change(getattr(message, field))})

    return alter


def flipped(data: bytes, position: int = 0) -> bytes:
    return data[:position] + bytes([data[position] ^ 1]) + data[position + 1 :]


def cut(message: Message, _: object) -> bytes:
    return msgspec.msgpack.encode(message)[:-1]


def previous(message: Message, passed: dict[type, list[Message]]) -> Message:
    return passed[type(message)][0]
