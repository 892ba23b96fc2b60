"""The hash of labels: TMMO, pi(pi(x) xor i) xor pi(x), with AES-128 as pi.

Guo, Katz, Wang and Yu, "Efficient and Secure Multiparty Computation from Fixed-Key Block Ciphers"
(2020). Its key is public. It is never a constant: whoever prepares a table for one key attacks
all labels that were hashed under it, so that security falls with the uses of a key.
"""

from collections.abc import Callable
from enum import StrEnum
from math import log2
from typing import NamedTuple, TypeAlias

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from lotor.core.errors import CryptoError, InputError
from lotor.crypto.derivation import derive_key
from lotor.crypto.ot.delta import LABEL_BITS, Labels
from lotor.crypto.prf import KEY_BYTES

LEAST_SECURITY_BITS = 100
_KEPT = 8

Encrypt: TypeAlias = Callable[[memoryview, memoryview], int]
"""AES on whole blocks: reads the first, writes the second, which has 15 bytes more."""


def octets(labels: Labels) -> memoryview:
    """Labels that lie side by side, as bytes."""
    return labels.reshape(-1).view(np.uint8).data


class Purpose(StrEnum):
    """What a key is for: keys of different purposes have nothing in common."""

    GARBLING = "garbling"
    OUTPUTS = "output tags"
    PRODUCTS = "OT products"


class Place(NamedTuple):
    """Where in a run a circuit is: the same tweak never occurs twice under a key.

    In a batch, `round` is that of the first circuit; the others follow it.
    """

    epoch: int
    circuit: int
    round: int


class HashKey:
    """AES-128 under a key derived from a run's public one, ready to encrypt.

    >>> key = HashKey(bytes(32), epoch=0, batch=7, purpose=Purpose.GARBLING)
    >>> key.hashed(np.zeros((3, 2), np.uint64), tweaks(Place(0, 0, 1), 3)).shape
    (3, 2)
    """

    __slots__ = ("encrypt",)

    def __init__(self, public: bytes, *, epoch: int, batch: int, purpose: Purpose) -> None:
        if len(public) != KEY_BYTES:
            raise CryptoError(f"a run's hash key has {KEY_BYTES} bytes, not {len(public)}")
        key = derive_key(public, f"hash of labels, epoch {epoch}, batch {batch}, for {purpose}")
        cipher = Cipher(algorithms.AES128(key[:16]), modes.ECB())  # noqa: S305  a permutation
        self.encrypt: Encrypt = cipher.encryptor().update_into

    def __repr__(self) -> str:
        return "<HashKey>"

    def hashed(self, labels: Labels, tweak: Labels) -> Labels:
        """The hash of each label; both are of shape (..., 2)."""
        return self.finished(self.begun(labels), tweak)

    def begun(self, labels: Labels) -> Labels:
        """pi(x): what the hashes of a label under several tweaks have in common."""
        count = labels.size // 2
        buffer = np.empty((count + 1, 2), np.uint64)  # AES wants room behind what it writes
        self.encrypt(octets(np.ascontiguousarray(labels)), octets(buffer))
        return buffer[:count].reshape(labels.shape)

    def finished(self, begun: Labels, tweak: Labels) -> Labels:
        """The hashes of labels that were begun; tweaks may have axes of their own in front."""
        hashed = self.begun(begun ^ tweak)
        hashed ^= begun
        return hashed


class HashKeys:
    """A run's hash keys: each is made once, and the latest few are kept."""

    __slots__ = ("_made", "_public")

    def __init__(self, public: bytes) -> None:
        self._public = public
        self._made: dict[tuple[int, int, Purpose], HashKey] = {}

    def of(self, epoch: int, batch: int, purpose: Purpose) -> HashKey:
        """The key of one batch of an epoch, for one purpose."""
        key = self._made.get((epoch, batch, purpose))
        if key is None:
            key = HashKey(self._public, epoch=epoch, batch=batch, purpose=purpose)
            self._made[epoch, batch, purpose] = key
            if len(self._made) > _KEPT:
                del self._made[next(iter(self._made))]
        return key


def tweak_base(place: Place) -> np.uint64:
    """The first word of a place's tweaks; the number of a hash is added to it.

    Of 128 bits the number takes 32, the circuit 16, the epoch 16 and the round 64.
    """
    epoch, circuit, round_ = place
    if not (0 <= epoch < 1 << 16 and 0 <= circuit < 1 << 16 and 0 <= round_ < 1 << 64):
        raise InputError(
            f"no such place: epoch {epoch}, circuit {circuit}, round {round_}; epochs and circuits "
            "are below 2^16, rounds below 2^64"
        )
    return np.uint64(epoch << 48 | circuit << 32)


def tweaks(place: Place, count: int, rounds: int = 1) -> Labels:
    """The tweaks of hashes 0 to count - 1 in consecutive rounds, (count · rounds, 2).

    >>> tweaks(Place(epoch=1, circuit=2, round=3), 2).tolist()
    [[281483566645248, 3], [281483566645249, 3]]
    """
    made = np.empty((count, rounds, 2), np.uint64)
    fill_numbers(made, place)
    fill_rounds(made, place.round)
    return made.reshape(-1, 2)


def fill_numbers(made: Labels, place: Place) -> None:
    """Write the first words of (count, rounds, 2) tweaks."""
    count = len(made)
    if count > 1 << 32:
        raise InputError(f"a circuit cannot hash {count} times: 2^32 is the most, so divide it")
    made[..., 0] = (np.arange(count, dtype=np.uint64) | tweak_base(place))[:, np.newaxis]


def fill_rounds(made: Labels, first: int) -> None:
    """Write the second words of (count, rounds, 2) tweaks."""
    rounds = made.shape[1]
    if first + rounds > 1 << 64:
        raise InputError(f"rounds from {first} on do not fit: they are below 2^64")
    made[..., 1] = np.arange(rounds, dtype=np.uint64) + np.uint64(first)


def security_bits(ands_per_key: int) -> float:
    """How many bits of security labels have where one key hashes for so many AND gates.

    About 128 - log2 of the uses (Guo, Katz, Wang, Weng and Yu, "Better Concrete Security for
    Half-Gates Garbling", 2020): one table for a key attacks all of them at once.

    >>> round(security_bits(16 * 1592))
    113
    """
    return LABEL_BITS - log2(max(ands_per_key, 1))


def check_security(ands_per_key: int, what: str = "AND gates") -> None:
    """Refuse less than 100 bits; `what` says what one key hashes for."""
    bits = security_bits(ands_per_key)
    if bits < LEAST_SECURITY_BITS:
        raise InputError(
            f"{ands_per_key} {what} under one hash key leave {bits:.0f} bits of security, and "
            f"{LEAST_SECURITY_BITS} is the least: use smaller batches"
        )
