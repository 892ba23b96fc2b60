"""Masks that two parties derive from a common key, each of them for one value only."""

from math import prod

import numpy as np

from lotor.core.errors import CryptoError
from lotor.crypto.sharing import Bits, PadCipher, Pads, Shared, Words
from lotor.crypto.sharing.pads import aligned
from lotor.protocols.two_server.checks import ATTEMPT


class MaskOrder:
    """Refuses a second value for a mask: places must come in order, each of them once.

    After a crash a party is built anew, and repeats places with the values that they had.
    """

    __slots__ = ("_latest", "_what")

    def __init__(self, what: str) -> None:
        self._what = what
        self._latest = (0, 0, -1)

    def take(self, t: int, number: int, later: int = 0) -> None:
        """Use the mask of step t with this number; what is `later` comes before the next step."""
        place = (t + later, -later, number)
        if place <= self._latest:
            raise CryptoError(
                f"{self._what} {number} of step {t} comes out of order: its mask was used already, "
                "and a second value under it would reveal the difference of the two; the protocol "
                "must use each place once"
            )
        self._latest = place


def input_mask(cipher: PadCipher, t: int, count: int, number: int = 0) -> Words:
    """The first server's share of an input of step t.

    A party that brings several inputs in one step gives each of them a `number` of its own.
    """
    return Pads(cipher, 8 * count, t=t, attempt=ATTEMPT, circuit=number).words((count,))


def result_blind(cipher: PadCipher, t: int, count: int, number: int = 0) -> Bits:
    """The bits that both servers put on their shares of a result of step t."""
    pads = Pads(cipher, aligned(count), t=t, attempt=ATTEMPT, circuit=number)
    bits: Bits = pads.bits((count,), np.dtype(np.uint8)) & np.uint8(1)
    return bits


def reshared(cipher: PadCipher, kept: Shared) -> Shared:
    """The value that two shares of an earlier run add up to, in shares that are fresh.

    Both servers know by what they differ from the old ones, and nobody else: so a share that one
    server has lost in one run does not fit the other's in another run. The place is before that of
    the first step, which is 1.
    """
    shape = kept.share.shape
    moved = Pads(cipher, 8 * prod(shape), t=0, attempt=ATTEMPT, circuit=0).words(shape)
    share = kept.share + moved if kept.first else kept.share - moved
    return Shared(share, first=kept.first)


def number_blind(cipher: PadCipher, t: int, size: int, number: int = 0) -> int:
    """The number of so many bytes that both servers put on their shares of a result of step t."""
    pads = Pads(cipher, aligned(size), t=t, attempt=ATTEMPT, circuit=number)
    return int.from_bytes(pads.bits((size,), np.dtype(np.uint8)).tobytes(), "little")
