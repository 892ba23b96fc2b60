"""Products of what the first server knows with a vector that the second and the dealer know.

Gilboa's setting with a dealer: the first server sends x - U, which its own pad U covers, and the
dealer, who knows U and the vector, deals shares of U · vector. Neither server learns anything of
what the other one knows.
"""

from collections.abc import Sequence

import numpy as np

from lotor.crypto.sharing.circuits import Circuit, OpeningShare
from lotor.crypto.sharing.engine import BYTE, WORD, Engine
from lotor.crypto.sharing.shares import Shared
from lotor.crypto.sharing.words import Bits, Words


def times_known(engine: Engine, rows: Words, vector: Words) -> Circuit[Shared]:
    """rows · vector in Z/2^64: of the first server's vector only the shape counts, and of the
    second one's rows."""
    cover = engine.own(rows.shape, WORD)
    known = engine.given(vector.shape, WORD)
    dealt = engine.dealt(lambda v: v[cover.number] @ v[known], rows.shape[:1], WORD, xor=False)
    ours = rows - cover.share if engine.first else None
    difference = yield from _sent(engine, ours, rows.shape, WORD)
    share = dealt.share if engine.first else dealt.share + difference @ vector
    return Shared(share.astype(np.uint64, copy=False), first=engine.first)


def times_known_large(engine: Engine, numbers: Bits, vector: Bits) -> Circuit[int]:
    """The scalar product of large numbers, a share of it: modulo 256^n for numbers of n bytes.

    Both are arrays with a row of bytes for each number: see `large_to_bytes`.
    """
    size: int = numbers.shape[1]
    modulus: int = 1 << 8 * size

    def compute(values: Sequence[Bits]) -> Bits:
        (padding,) = large_from_bytes(values[pad.number])
        return large_to_bytes([_dot(values[cover.number], values[known]) - padding], size)

    cover, pad = engine.own(numbers.shape, BYTE), engine.own((1, size), BYTE)
    known = engine.given(vector.shape, BYTE)
    told = engine.told(compute, (1, size), BYTE)
    ours = None
    if engine.first:
        pairs = zip(large_from_bytes(numbers), large_from_bytes(cover.share), strict=True)
        ours = large_to_bytes([number - covering for number, covering in pairs], size)
    difference = yield from _sent(engine, ours, numbers.shape, BYTE)
    if engine.first:
        (padding,) = large_from_bytes(pad.share)
        return padding
    (rest,) = large_from_bytes(told.share)
    return (_dot(difference, vector) + rest) % modulus


def large_to_bytes(numbers: Sequence[int], size: int) -> Bits:
    """A row of `size` bytes for each number, modulo 256^size.

    >>> large_to_bytes([258, -1], 3).tolist()
    [[2, 1, 0], [255, 255, 255]]
    """
    data = b"".join((number % (1 << 8 * size)).to_bytes(size, "little") for number in numbers)
    return np.frombuffer(data, np.uint8).reshape(len(numbers), size)


def large_from_bytes(rows: Bits) -> list[int]:
    return [int.from_bytes(row.tobytes(), "little") for row in rows]


def _dot(one: Bits, other: Bits) -> int:
    pairs = zip(large_from_bytes(one), large_from_bytes(other), strict=True)
    return sum(left * right for left, right in pairs)


def _sent(
    engine: Engine, ours: Bits | None, shape: tuple[int, ...], dtype: np.dtype[np.unsignedinteger]
) -> Circuit[Bits]:
    """What the first server sends the second, which sends nothing."""
    if engine.first and ours is not None:
        part = OpeningShare(ours, xor=False, theirs=(0,))
    else:
        part = OpeningShare(np.zeros(0, dtype), xor=False, theirs=shape)
    (sent,) = yield [part]
    return sent
