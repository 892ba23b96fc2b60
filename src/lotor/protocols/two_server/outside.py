"""The parties around the two servers: those that bring inputs and those that read results."""

import numpy as np

from lotor.core.effects import Receive, Send, Steps
from lotor.crypto.sharing import Bits, PadCipher, Words
from lotor.protocols.two_server.checks import check_place, check_size, place_of
from lotor.protocols.two_server.masks import MaskOrder, input_mask
from lotor.protocols.two_server.messages import Agreed, InputKey, PlacedShares
from lotor.protocols.two_server.schedule import ServerSeats


class InputSharer:
    """Shares a party's inputs: the first server derives its shares, the second is sent the rest.

    An input must be on its party's disk before its share is sent: another one under the same mask
    would show the difference of the two.
    """

    def __init__(self, key: bytes, seats: ServerSeats) -> None:
        self._key = key
        self._seats = seats
        self._cipher = PadCipher(key)
        self._order = MaskOrder("input")

    def __repr__(self) -> str:
        return "<InputSharer>"

    def set_up(self, digest: bytes) -> Steps[None]:
        yield Send(self._seats.first, InputKey(digest, self._key))
        yield Send(self._seats.second, Agreed(digest))

    def share(self, words: Words, t: int, number: int = 0) -> bytes:
        """The second server's share of the input with this number in step t."""
        self._order.take(t, number)
        return (words - input_mask(self._cipher, t, len(words), number)).tobytes()


def agree(digest: bytes, seats: ServerSeats) -> Steps[None]:
    """Tell both servers which terms a party keeps that brings no inputs."""
    for server in seats[:2]:
        yield Send(server, Agreed(digest))


def read_bits(
    kind: type[PlacedShares], t: int, count: int, seats: ServerSeats, number: int = 0
) -> Steps[Bits]:
    """The bits that both servers tell this party alone in step t."""
    bits: Bits = np.zeros(count, np.uint8)
    for server in seats[:2]:
        message: PlacedShares = yield Receive(server, kind)
        check_place(message, place_of(t, number), server)
        check_size(message.shares, count, server, t)
        bits = bits ^ np.frombuffer(message.shares, np.uint8)
    return bits
