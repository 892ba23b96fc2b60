"""An arm's sum and pulls in one plaintext, so that the customer sees whether all N pulls are there.

The sums of all arms stay below 2^63 (core/fixed_point.py), so that the two never mix.
"""

_SUM_BITS = 64


def packed(s: int, n: int) -> int:
    return n << _SUM_BITS | s


def unpacked(total: int) -> tuple[int, int]:
    """(sum of rewards, number of pulls)

    >>> unpacked(packed(5, 2) + packed(7, 1))
    (12, 3)
    """
    return total & ((1 << _SUM_BITS) - 1), total >> _SUM_BITS
