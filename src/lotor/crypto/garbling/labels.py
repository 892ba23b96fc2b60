"""A garbler's own input labels."""

from collections.abc import Sequence
from struct import Struct

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray

from lotor.core.errors import CryptoError, FormatError, InputError
from lotor.crypto.one_use import OneUse
from lotor.crypto.ot import LABEL_BYTES, Delta, Labels
from lotor.crypto.ot.hash import Place
from lotor.crypto.prf import KEY_BYTES

# batch, epoch, circuit, and 32 bits for the counter
_NONCE = Struct(">QHHI")


class LabelSource:
    """Zero-labels of inputs, from a key that the garbler keeps: AES-256 in counter mode.

    The same place always has the same labels, so that a restarted garbler garbles the same.

    >>> LabelSource(bytes(32)).zeros(0, 0, 7, (63, 10, 16)).shape
    (63, 10, 16, 2)
    """

    __slots__ = ("_encryptor",)

    def __init__(self, key: bytes) -> None:
        if len(key) != KEY_BYTES:
            raise CryptoError(f"a label key has {KEY_BYTES} bytes, not {len(key)}")
        self._encryptor = Cipher(algorithms.AES256(key), modes.CTR(bytes(16))).encryptor()

    def __repr__(self) -> str:
        return "<LabelSource>"

    def zeros(self, epoch: int, circuit: int, batch: int, shape: tuple[int, ...]) -> Labels:
        """Labels that stand for 0, (*shape, 2), of a batch of circuits."""
        if not (0 <= epoch < 1 << 16 and 0 <= circuit < 1 << 16 and 0 <= batch < 1 << 64):
            raise InputError(
                f"no such labels: epoch {epoch}, circuit {circuit}, batch {batch}; epochs and "
                "circuits are below 2^16, batches below 2^64"
            )
        count = int(np.prod(shape))
        if count > 1 << 32:
            raise InputError(f"a batch cannot have {count} input labels: 2^32 is the most")
        self._encryptor.reset_nonce(_NONCE.pack(batch, epoch, circuit, 0))
        stream = self._encryptor.update(bytes(LABEL_BYTES * count))
        return np.frombuffer(stream, np.uint64).reshape(*shape, 2)


def bits_of(words: NDArray[np.uint64], width: int) -> NDArray[np.uint8]:
    """The lowest bits of words, as a first axis: (...) to (width, ...).

    >>> bits_of(np.array([1, 6], np.uint64), 3).tolist()
    [[1, 0], [0, 1], [0, 1]]
    """
    octets = np.ascontiguousarray(words, dtype="<u8").reshape(-1, 1).view(np.uint8)
    bits = np.unpackbits(octets, axis=1, count=width, bitorder="little")
    return np.ascontiguousarray(bits.T).reshape(width, *words.shape)


def bits_of_integers(numbers: Sequence[int], width: int) -> NDArray[np.uint8]:
    """The bits of numbers of any size, (width, numbers).

    >>> bits_of_integers([1, 6], 3).tolist()
    [[1, 0], [0, 1], [0, 1]]
    """
    size = -(-width // 8)
    octets = b"".join(number.to_bytes(size, "little") for number in numbers)
    rows = np.frombuffer(octets, np.uint8).reshape(len(numbers), size)
    bits = np.unpackbits(rows, axis=1, count=width, bitorder="little")
    return np.ascontiguousarray(bits.T)


def chosen(zeros: Labels, bits: NDArray[np.uint8], delta: Delta) -> Labels:
    """The label of each bit: (...) bits and (..., 2) zero-labels to (..., 2)."""
    offsets = np.stack([np.zeros(2, np.uint64), delta.words])
    return zeros ^ offsets.take(bits, axis=0, mode="clip")


def read_labels(data: bytes | memoryview, shape: tuple[int, ...]) -> Labels:
    """Labels that somebody sent as bytes, (*shape, 2).

    >>> read_labels(bytes(96), (3, 2)).shape
    (3, 2, 2)
    """
    wanted = LABEL_BYTES * int(np.prod(shape))
    if len(data) != wanted:
        raise FormatError(
            f"labels of {len(data)} bytes arrived, and {wanted} are needed: they were cut, or are "
            "of another circuit"
        )
    return np.frombuffer(data, np.uint64).reshape(*shape, 2)


class InputOrder:
    """Refuses labels for a second, different input at a place: both together give delta away.

    Places must come in order. What is given is the input itself, as bytes.
    """

    __slots__ = ("_uses",)

    def __init__(self) -> None:
        self._uses = OneUse("the input of round", "the difference of all labels, hence everything")

    def take(self, place: Place, content: bytes) -> None:
        """Use the labels of a place for this input."""
        self._uses.take((place.epoch, place.round, place.circuit), content)
