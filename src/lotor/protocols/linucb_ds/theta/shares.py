"""Theta as two shares that add up to it modulo a number: one of them follows from a key."""

from collections.abc import Sequence

from lotor.core.errors import ProtocolError
from lotor.crypto.derivation import derive_key
from lotor.crypto.prf import Prf

SCORES, TOTAL = "theta in scores", "theta in the total"
"""What a pair of shares is for: the pairs of one key are independent of each other."""

# A number that is this much longer than the modulus is uniform modulo it, up to 2^-128.
_LONGER = 128


def drawn_share(key: bytes, purpose: str, count: int, modulus: int) -> list[int]:
    """The share of whoever has the key: so many uniform numbers below the modulus.

    >>> drawn_share(bytes(32), TOTAL, 3, 1 << 8)
    [45, 113, 133]
    """
    bits = (modulus - 1).bit_length()
    size = _bytes(bits if modulus == 1 << bits else bits + _LONGER)
    blocks = Prf(derive_key(key, purpose), range(-(-count * size // 16))).blocks(0, 0, 0)
    return [
        int.from_bytes(blocks[i * size : (i + 1) * size], "little") % modulus for i in range(count)
    ]


def other_share(theta: Sequence[int], drawn: Sequence[int], modulus: int) -> list[int]:
    """What the drawn share lacks of theta."""
    return [(whole - part) % modulus for whole, part in zip(theta, drawn, strict=True)]


def centred(number: int, modulus: int) -> int:
    """The number between -modulus/2 and modulus/2 that this one stands for.

    >>> centred(7, 8), centred(3, 8)
    (-1, 3)
    """
    return (number + modulus // 2) % modulus - modulus // 2


def to_bytes(numbers: Sequence[int], modulus: int) -> bytes:
    """Numbers below the modulus, each in as many bytes as the largest of them could need."""
    size = _bytes((modulus - 1).bit_length())
    return b"".join(number.to_bytes(size, "little") for number in numbers)


def from_bytes(data: bytes, count: int, modulus: int, sender: str) -> list[int]:
    """So many numbers below the modulus, or an error that names who sent something else."""
    size = _bytes((modulus - 1).bit_length())
    numbers = [int.from_bytes(data[at : at + size], "little") for at in range(0, len(data), size)]
    if len(data) != count * size or not all(number < modulus for number in numbers):
        raise ProtocolError(
            f"{sender} sent something else than {count} shares of {size} bytes: its message was "
            "altered, or it runs another version; start a new run"
        )
    return numbers


def _bytes(bits: int) -> int:
    return -(-bits // 8)
