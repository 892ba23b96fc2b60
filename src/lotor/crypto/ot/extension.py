"""Correlated oblivious transfer extension: any number of transfers from 128 base ones.

Ishai, Kilian, Nissim and Petrank (2003), correlated as by Asharov, Lindell, Schneider and Zohner
(2013). The receiver of the extension chooses bits b and gets labels q xor b·delta; the sender,
whose delta were its choices in the base transfers, gets q. Rows are not hashed: under one delta
they are the labels of a garbled circuit's inputs.

Against curious parties. A cheating receiver could test a guess of some bits of delta.
"""

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, CipherContext, algorithms, modes
from numpy.typing import NDArray

from lotor.core.errors import CryptoError, FormatError, InputError
from lotor.crypto.one_use import OneUse
from lotor.crypto.ot.base import SEED_BYTES, TRANSFERS
from lotor.crypto.ot.delta import Delta, Labels
from lotor.crypto.ot.transposition import transposed

BATCH_BITS = 48


def column_bytes(count: int) -> int:
    """How long the message for so many transfers is: 16 bytes each, in whole eights."""
    return TRANSFERS * -(-count // 8)


class CorrelatedReceiver:
    """Has the pairs of seeds of the base transfers, and chooses.

    >>> choices = np.array([[0, 1], [1, 1]], np.uint8)
    >>> columns, labels = CorrelatedReceiver(bytes(range(256)) * 16).extend(1, choices)
    >>> len(columns), labels.shape
    (128, (2, 2, 2))
    """

    __slots__ = ("_ones", "_uses", "_zeros")

    def __init__(self, pairs: bytes) -> None:
        _check_seeds(pairs, 2)
        seeds = _parts(pairs)
        self._zeros, self._ones = _Streams(seeds[::2]), _Streams(seeds[1::2])
        self._uses = OneUse("transfer batch", "in which choices the two differ")

    def __repr__(self) -> str:
        return "<CorrelatedReceiver>"

    def extend(self, batch: int, choices: NDArray[np.uint8]) -> tuple[bytes, Labels]:
        """The message for the sender, and a label for each bit of `choices`, of any shape.

        A batch number belongs to these choices for the life of the seeds.
        """
        packed = np.packbits(choices.reshape(-1), bitorder="little")
        self._uses.take((batch,), packed.tobytes())
        chosen = self._zeros.read(batch, len(packed))
        columns = self._ones.read(batch, len(packed))
        columns ^= chosen
        columns ^= packed
        return columns.tobytes(), transposed(chosen)[: choices.size].reshape(*choices.shape, 2)


class CorrelatedSender:
    """Has the seeds that its delta chose in the base transfers."""

    __slots__ = ("_mask", "_streams", "_uses")

    def __init__(self, seeds: bytes, delta: Delta) -> None:
        _check_seeds(seeds, 1)
        self._streams = _Streams(_parts(seeds))
        self._mask = delta.bits[:, np.newaxis] * np.uint8(255)
        self._uses = OneUse("transfer batch", "labels under which the circuit was not garbled")

    def __repr__(self) -> str:
        return "<CorrelatedSender>"

    def extend(self, batch: int, columns: bytes, count: int) -> Labels:
        """A label q for each transfer, (count, 2); the receiver has q xor b·delta."""
        if len(columns) != column_bytes(count):
            raise FormatError(
                f"the columns of transfer batch {batch} have {len(columns)} bytes, and "
                f"{column_bytes(count)} are needed for {count} transfers: they were cut, or the "
                "two parties do not agree on the size of a batch"
            )
        self._uses.take((batch,), columns)
        size = len(columns) // TRANSFERS
        received = np.frombuffer(columns, np.uint8).reshape(TRANSFERS, size) & self._mask
        received ^= self._streams.read(batch, size)
        return transposed(received)[:count]


def batch_rows(epoch: int, batch: int) -> int:
    """The batch of transfers that serves one of products: another epoch never has its rows."""
    if not 0 <= batch < 1 << BATCH_BITS:
        raise InputError(f"a batch of products is numbered from 0 to 2^48 - 1, not {batch}")
    return epoch << BATCH_BITS | batch


def _check_seeds(seeds: bytes, each: int) -> None:
    if len(seeds) != TRANSFERS * each * SEED_BYTES:
        raise CryptoError(
            f"an extension needs {TRANSFERS * each} seeds of {SEED_BYTES} bytes from base "
            f"transfers, and was given {len(seeds)} bytes"
        )


def _parts(seeds: bytes) -> list[bytes]:
    return [seeds[i : i + SEED_BYTES] for i in range(0, len(seeds), SEED_BYTES)]


class _Streams:
    """AES-128 in counter mode under each seed; a batch number is the upper half of the counter."""

    __slots__ = ("_encryptors", "_seeds")

    def __init__(self, seeds: list[bytes]) -> None:
        self._seeds = seeds
        # Made when first read: a party that is built again may extend nothing more.
        self._encryptors: list[CipherContext] = []

    def read(self, batch: int, size: int) -> NDArray[np.uint8]:
        """(seeds, size) bytes."""
        if not 0 <= batch < 1 << 64:
            raise InputError(f"a transfer batch is numbered from 0 to 2^64 - 1, not {batch}")
        self._encryptors = self._encryptors or [
            Cipher(algorithms.AES128(seed), modes.CTR(bytes(16))).encryptor()
            for seed in self._seeds
        ]
        counter = batch.to_bytes(8) + bytes(8)
        zeros = bytes(size)
        # AES wants 15 bytes of room behind what it writes, where the next stream will be.
        streams = np.empty(len(self._encryptors) * size + 15, np.uint8)
        room = streams.data
        for number, encryptor in enumerate(self._encryptors):
            encryptor.reset_nonce(counter)
            encryptor.update_into(zeros, room[number * size :])
        return streams[:-15].reshape(-1, size)
