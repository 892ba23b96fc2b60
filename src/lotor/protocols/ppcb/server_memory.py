"""What a computing server writes down: keys, shares, and how far a step is."""

import msgspec
import numpy as np

from lotor.crypto.sharing import Bits, Shared, SharedBits, Words
from lotor.protocols.memory import Memory
from lotor.protocols.ppcb.shape import Chosen, Gains, StepShape
from lotor.protocols.two_server.server import SharingKeys

# How far a step is: its context is there, or its reward too, and the context of the next.
CONTEXT, REWARDED = range(2)


class WaitingStep(msgspec.Struct, array_like=True):
    """Shares of a step whose reward has not come: its context and arm, and what learning needs."""

    x: bytes
    one_hot: bytes = b""
    outer: bytes = b""
    k: bytes = b""
    s: bytes = b""
    reward: bytes = b""

    def __repr__(self) -> str:
        return "<WaitingStep>"

    def keep(self, chosen: Chosen) -> None:
        self.one_hot = chosen.one_hot.share.tobytes()
        if chosen.gains is not None:
            self.outer = chosen.gains.outer.share.tobytes()
            self.k = chosen.gains.k.share.tobytes()
            self.s = chosen.gains.s.share.tobytes()

    def chosen(self, shape: StepShape, *, first: bool) -> Chosen:
        gains = None
        if self.outer:
            gains = Gains(
                words_in(self.outer, shape.arms, shape.entries, first=first),
                words_in(self.k, shape.arms, shape.features, first=first),
                words_in(self.s, shape.arms, 1, first=first),
            )
        return Chosen(
            words_in(self.x, shape.features, first=first),
            SharedBits(self.one_hot_share(), first=first),
            gains,
        )

    def one_hot_share(self) -> Bits:
        return np.frombuffer(self.one_hot, np.uint8)


def words_in(data: bytes, *shape: int, first: bool) -> Shared:
    words: Words = np.frombuffer(data, np.uint64)
    return Shared(words.reshape(shape), first=first)


class PPCBServerMemory(Memory, tag="ppcb/3/server"):
    """Keys and shares, none of which tells anything without the other server's.

    `waiting` are the steps whose reward is still to come, the oldest first.
    """

    draw_key: bytes
    keys: SharingKeys
    stage: int = CONTEXT
    waiting: list[WaitingStep] = msgspec.field(default_factory=list)
    weights: bytes = b""
