"""What a computing server writes down: keys, shares, and how far a step is."""

import msgspec

from lotor.protocols.memory import Memory

# How far a step is: its context is there, or its reward too, and the context of the next.
CONTEXT, REWARDED = range(2)


class Choice(msgspec.Struct, array_like=True):
    """Shares of a step whose reward has not come: its context and arm, and what learning needs."""

    x: bytes
    one_hot: bytes = b""
    outer: bytes = b""
    k: bytes = b""
    s: bytes = b""
    reward: bytes = b""

    def __repr__(self) -> str:
        return "<Choice>"


class ServerMemory(Memory, tag="ppcb/1/server"):
    """Keys and shares, none of which tells anything without the other server's.

    `waiting` are the steps whose reward is still to come, the oldest first.
    """

    draw_key: bytes
    blind_key: bytes
    pad_key: bytes = b""
    input_keys: dict[str, bytes] = msgspec.field(default_factory=dict)
    stage: int = CONTEXT
    waiting: list[Choice] = msgspec.field(default_factory=list)
    weights: bytes = b""
