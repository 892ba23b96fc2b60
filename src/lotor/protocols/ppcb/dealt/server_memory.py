"""What a computing server writes down: keys, shares, and how far a step is."""

from collections.abc import Sequence

import msgspec
import numpy as np

from lotor.crypto.sharing import Bits, SharedBits
from lotor.protocols.ppcb.computing import PPCBComputingMemory
from lotor.protocols.ppcb.shape import Chosen, Gains, words_in
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
            self.keep_gains(chosen.gains)

    def keep_gains(self, gains: Gains) -> None:
        self.outer = gains.outer.share.tobytes()
        self.k = gains.k.share.tobytes()
        self.s = gains.s.share.tobytes()

    def chosen(self, features: int, gains: Sequence[tuple[int, ...]], *, first: bool) -> Chosen:
        """The step's shares; `gains` are the shapes of k uᵀ, k and w·x."""
        found = None
        if self.outer:
            parts = zip((self.outer, self.k, self.s), gains, strict=True)
            found = Gains(*(words_in(part, *shape, first=first) for part, shape in parts))
        return Chosen(
            words_in(self.x, features, first=first),
            SharedBits(self.one_hot_share(), first=first),
            found,
        )

    def one_hot_share(self) -> Bits:
        return np.frombuffer(self.one_hot, np.uint8)


class PPCBServerMemory(PPCBComputingMemory, kw_only=True, tag="ppcb/4/server"):
    """Keys and shares, none of which tells anything without the other server's.

    `waiting` are the steps whose reward is still to come, the oldest first.
    """

    keys: SharingKeys
    stage: int = CONTEXT
    waiting: list[WaitingStep] = msgspec.field(default_factory=list)
