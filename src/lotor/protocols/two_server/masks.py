"""Masks that come from a key of two parties, so that one of them need not be sent anything."""

import numpy as np

from lotor.crypto.sharing import Bits, PadCipher, Pads, Words
from lotor.crypto.sharing.pads import aligned
from lotor.protocols.two_server.checks import ATTEMPT


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
