"""Cutting bytes into fields of fixed widths, in one call."""

from collections.abc import Callable
from functools import cache
from struct import Struct


@cache
def cutter(count: int, *widths: int) -> Callable[[bytes], tuple[bytes, ...]]:
    """Cuts `count` groups of fields of these widths.

    >>> cutter(2, 1, 2)(b"abbABB")
    (b'a', b'bb', b'A', b'BB')
    """
    return Struct("".join(f"{width}s" for width in widths) * count).unpack
