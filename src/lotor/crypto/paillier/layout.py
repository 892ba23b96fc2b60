"""How many small numbers share one plaintext, and where each of them is."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lotor.core.errors import FormatError, InputError, IntegrityError, KeyMismatchError
from lotor.crypto.paillier.encoding import CIPHERTEXT, FINGERPRINT_BYTES
from lotor.crypto.paillier.public import Ciphertext, PublicKey

SLOT_BITS = (64, 96, 128)


@dataclass(frozen=True, slots=True)
class PackedLayout:
    """`count` numbers from 0 to 2^slot_bits - 1, spread evenly over as few plaintexts as hold them.

    Both sides make it from the same three numbers.

    >>> PackedLayout(2048, 50).ranges()
    [(0, 25), (25, 50)]
    """

    key_bits: int
    count: int
    slot_bits: int = 64

    def __post_init__(self) -> None:
        if self.slot_bits not in SLOT_BITS:
            raise InputError(f"slot_bits={self.slot_bits}: a slot has one of {SLOT_BITS} bits")
        if self.count < 1 or self.capacity < 1:
            raise InputError(
                f"{self.count} numbers of {self.slot_bits} bits under a {self.key_bits}-bit key: "
                "there must be a number to pack, and room for it; use a larger key"
            )

    @property
    def capacity(self) -> int:
        """The slots that fit in one plaintext: all of them stay below n."""
        return (self.key_bits - 1) // self.slot_bits

    @property
    def ciphertexts(self) -> int:
        return -(-self.count // self.capacity)

    @property
    def slots(self) -> int:
        """The slots used in each plaintext but perhaps the last: no more than are needed."""
        return -(-self.count // self.ciphertexts)

    @property
    def plaintext_bits(self) -> int:
        """The bits of the largest plaintext: what `decrypt_batch` wants to know."""
        return self.slots * self.slot_bits

    @property
    def message_bytes(self) -> int:
        return FINGERPRINT_BYTES + self.ciphertexts * CIPHERTEXT.width(self.key_bits)

    def ranges(self) -> list[tuple[int, int]]:
        """The first number of each plaintext, and the one after its last."""
        starts = range(0, self.count, self.slots)
        return [(start, min(start + self.slots, self.count)) for start in starts]

    def pack(self, numbers: Sequence[int] | NDArray[np.uint64]) -> list[int]:
        """The plaintexts that hold the numbers."""
        width = self.slot_bits // 8
        if len(numbers) != self.count:
            raise InputError(f"{len(numbers)} numbers where {self.count} are packed: pass them all")
        try:
            data = b"".join(int(number).to_bytes(width, "little") for number in numbers)
        except OverflowError:
            raise InputError(
                f"a number does not fit in a slot of {self.slot_bits} bits, from 0 on: scale it "
                "down, or use wider slots"
            ) from None
        return [
            int.from_bytes(data[width * first : width * last], "little")
            for first, last in self.ranges()
        ]

    def unpack(self, plaintexts: Sequence[int]) -> list[int]:
        """The numbers that the plaintexts hold, in order."""
        parts = zip(plaintexts, self.ranges(), strict=True)
        return [
            number
            for plaintext, (first, last) in parts
            for number in unpack(plaintext, last - first, self.slot_bits)
        ]

    def unpack_uint64(self, plaintexts: Sequence[int]) -> NDArray[np.uint64]:
        """The same as one array, for slots of 64 bits."""
        if self.slot_bits != 64:
            raise InputError(f"slots of {self.slot_bits} bits do not fit in uint64: use unpack")
        parts = zip(plaintexts, self.ranges(), strict=True)
        data = b"".join(_slots(plaintext, last - first, 64) for plaintext, (first, last) in parts)
        return np.frombuffer(data, dtype="<u8").astype(np.uint64)

    def read(self, data: bytes, public_key: PublicKey) -> list[Ciphertext]:
        """The ciphertexts of a packed message, each of them checked."""
        if public_key.bits != self.key_bits or len(data) != self.message_bytes:
            raise FormatError(
                f"a packed message of {self.count} numbers takes {self.message_bytes} bytes under "
                f"a {self.key_bits}-bit key, and these are {len(data)} for one of "
                f"{public_key.bits} bits: they were truncated, or the sides disagree on the "
                "numbers; compare both sides' options"
            )
        fingerprint = data[:FINGERPRINT_BYTES].hex()
        if fingerprint != public_key.fingerprint:
            raise KeyMismatchError(
                f"the packed message is under key {fingerprint} and was to be read under "
                f"{public_key.fingerprint}: it comes from another run or party; use the key that "
                "it was made with"
            )
        width = CIPHERTEXT.width(self.key_bits)
        starts = range(FINGERPRINT_BYTES, len(data), width)
        return public_key._ciphertexts([data[start : start + width] for start in starts])

    def message(self, public_key: PublicKey, numbers: Sequence[bytes]) -> bytes:
        """A packed message: the key's fingerprint once, then the ciphertexts' numbers."""
        return bytes.fromhex(public_key.fingerprint) + b"".join(numbers)


def unpack(plaintext: int, count: int, slot_bits: int = 64) -> list[int]:
    """The numbers in the slots of one plaintext.

    >>> unpack(5 + (7 << 64), 2)
    [5, 7]
    """
    data = _slots(plaintext, count, slot_bits)
    width = slot_bits // 8
    starts = range(0, len(data), width)
    return [int.from_bytes(data[start : start + width], "little") for start in starts]


def _slots(plaintext: int, count: int, slot_bits: int) -> bytes:
    try:
        return plaintext.to_bytes(count * slot_bits // 8, "little")
    except OverflowError:
        raise IntegrityError(
            f"a plaintext does not fit in its {count} slots of {slot_bits} bits: a number left its "
            "slot, or the message was altered; check the sender's bounds"
        ) from None
