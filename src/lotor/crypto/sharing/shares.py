"""A server's share of values that nobody knows: additive in Z/2^64 or Z/2^16, or by XOR.

Shares are combined as the values would be; what is public is added by the first server alone.
"""

from collections.abc import Sequence
from types import EllipsisType
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from lotor.crypto.sharing.words import Bits, Shorts, Words

Index: TypeAlias = slice | EllipsisType | NDArray[np.intp] | tuple[object, ...]
_MASK = (1 << 64) - 1
B = TypeVar("B", bound=np.unsignedinteger[Any])


def word(number: int | Words) -> Words | np.uint64:
    """A public number as an element of the ring."""
    return np.uint64(number & _MASK) if isinstance(number, int) else number


def _spread(share: NDArray[B], public: Bits | int) -> NDArray[B]:
    """The second server's share: what is public changes its shape and nothing else."""
    if isinstance(public, int) or public.shape == share.shape:
        return share
    return np.broadcast_to(share, np.broadcast_shapes(share.shape, public.shape))


class Shared:
    """x = the sum of two servers' shares.

    Never shown: a share alone is random, but both together are the value.
    """

    __slots__ = ("first", "share")

    def __init__(self, share: Words, *, first: bool) -> None:
        self.share = share
        self.first = first

    def __repr__(self) -> str:
        return f"<Shared {self.share.shape}>"

    @property
    def shape(self) -> tuple[int, ...]:
        return self.share.shape

    def __len__(self) -> int:
        return len(self.share)

    def _with(self, share: Words) -> "Shared":
        return Shared(share, first=self.first)

    def __add__(self, other: "Shared | Words | int") -> "Shared":
        if isinstance(other, Shared):
            return self._with(self.share + other.share)
        return self._with(self.share + word(other) if self.first else _spread(self.share, other))

    def __sub__(self, other: "Shared | Words | int") -> "Shared":
        if isinstance(other, Shared):
            return self._with(self.share - other.share)
        return self._with(self.share - word(other) if self.first else _spread(self.share, other))

    def __neg__(self) -> "Shared":
        return self._with(-self.share)

    def __mul__(self, public: Words | int) -> "Shared":
        return self._with(self.share * word(public))

    def __lshift__(self, bits: int) -> "Shared":
        return self._with(self.share << np.uint64(bits))

    def __getitem__(self, index: Index) -> "Shared":
        return self._with(self.share[index])  # type: ignore[index]

    def sum(self, axis: int) -> "Shared":
        """The sum along an axis; that of a vector is in (1,)."""
        # A single number would not do: numpy warns where it wraps around.
        return self._with(np.atleast_1d(self.share.sum(axis=axis, dtype=np.uint64)))

    def reshape(self, *shape: int) -> "Shared":
        return self._with(self.share.reshape(shape))

    @staticmethod
    def concatenate(parts: Sequence["Shared"]) -> "Shared":
        """One vector of all the values."""
        return parts[0]._with(np.concatenate([part.share.ravel() for part in parts]))


class Tally:
    """A small number, as a count or a bit: the sum of two servers' shares modulo 2^16."""

    __slots__ = ("first", "share")

    def __init__(self, share: Shorts, *, first: bool) -> None:
        self.share = share
        self.first = first

    def __repr__(self) -> str:
        return f"<Tally {self.share.shape}>"

    @property
    def shape(self) -> tuple[int, ...]:
        return self.share.shape

    def _with(self, share: Shorts) -> "Tally":
        return Tally(share, first=self.first)

    def __add__(self, other: "Tally | Shorts") -> "Tally":
        if isinstance(other, Tally):
            return self._with(self.share + other.share)
        return self._with(self.share + other if self.first else _spread(self.share, other))

    def __mul__(self, number: int) -> "Tally":
        return self._with(self.share * np.uint16(number))

    def __getitem__(self, index: Index) -> "Tally":
        return self._with(self.share[index])  # type: ignore[index]

    def reshape(self, shape: tuple[int, ...]) -> "Tally":
        return self._with(self.share.reshape(shape))


class SharedBits:
    """Each bit of x = the XOR of two servers' shares."""

    __slots__ = ("first", "share")

    def __init__(self, share: Bits, *, first: bool) -> None:
        self.share = share
        self.first = first

    def __repr__(self) -> str:
        return f"<SharedBits {self.share.dtype} {self.share.shape}>"

    @property
    def shape(self) -> tuple[int, ...]:
        return self.share.shape

    def _with(self, share: Bits) -> "SharedBits":
        return SharedBits(share, first=self.first)

    def __xor__(self, other: "SharedBits | Bits") -> "SharedBits":
        if isinstance(other, SharedBits):
            return self._with(self.share ^ other.share)
        return self._with(self.share ^ other if self.first else _spread(self.share, other))

    def __invert__(self) -> "SharedBits":
        return self._with(~self.share) if self.first else self

    def __and__(self, public: Bits) -> "SharedBits":
        return self._with(self.share & public)

    def __lshift__(self, bits: int) -> "SharedBits":
        return self._with(self.share << self.share.dtype.type(bits))

    def __getitem__(self, index: Index) -> "SharedBits":
        return self._with(self.share[index])  # type: ignore[index]

    def reduce(self, axis: int) -> "SharedBits":
        """The XOR along an axis."""
        return self._with(np.bitwise_xor.reduce(self.share, axis=axis))

    @staticmethod
    def concatenate(parts: Sequence["SharedBits"], axis: int = 0) -> "SharedBits":
        return parts[0]._with(np.concatenate([part.share for part in parts], axis=axis))
