"""Computations on shares: generators that stop wherever both servers must open something.

    opened = yield [part, …]        # one round: each server sends its part, both get the value

`together` runs several at once, so that their rounds are shared.
"""

from collections.abc import Generator, Sequence
from math import prod
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np

from lotor.core.errors import ProtocolError
from lotor.crypto.sharing.words import Bits

T = TypeVar("T")


class OpeningShare(NamedTuple):
    """A share that is sent to the other server; `xor` says how the two are joined.

    Where just one server sends something, `theirs` is the shape of what the other one sends, and
    what was sent is opened as it is.
    """

    share: Bits
    xor: bool
    theirs: tuple[int, ...] | None = None


Opening: TypeAlias = Sequence[OpeningShare]
Circuit: TypeAlias = Generator[Opening, Sequence[Bits], T]


def together(*circuits: Circuit[Any]) -> Circuit[tuple[Any, ...]]:
    """Run circuits side by side: what they open in one round goes in one message."""
    results: list[object] = [None] * len(circuits)
    running: list[tuple[int, Circuit[object], Opening]] = []
    for number, circuit in enumerate(circuits):
        try:
            running.append((number, circuit, next(circuit)))
        except StopIteration as end:
            results[number] = end.value
    while running:
        opened = yield [part for _, _, opening in running for part in opening]
        asked, running, start = running, [], 0
        for number, circuit, opening in asked:
            stop = start + len(opening)
            try:
                running.append((number, circuit, circuit.send(opened[start:stop])))
            except StopIteration as end:
                results[number] = end.value
            start = stop
    return tuple(results)


def to_message(opening: Opening) -> bytes:
    """What a server sends in a round."""
    return b"".join([np.ascontiguousarray(part.share).tobytes() for part in opening])


def due(opening: Opening) -> int:
    """How many bytes the other server sends in a round."""
    return sum(
        part.share.nbytes if part.theirs is None else prod(part.theirs) * part.share.itemsize
        for part in opening
    )


def joined(opening: Opening, message: bytes, sender: str) -> list[Bits]:
    """The opened values, from the own shares and the other server's message."""
    opened: list[Bits] = []
    position = 0
    expected = due(opening)
    if len(message) != expected:
        raise ProtocolError(
            f"{sender} sent {len(message)} bytes of shares where {expected} are due: it computes "
            "something else, or its message was cut"
        )
    for share, xor, shape in opening:
        theirs: Bits = np.ndarray(
            share.shape if shape is None else shape, share.dtype, message, position
        )
        position += theirs.nbytes
        if shape is not None:
            opened.append(theirs)
        else:
            opened.append(share ^ theirs if xor else share + theirs)
    return opened
