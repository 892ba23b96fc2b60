"""What both servers must agree on about an argmax: hash keys, places, the order of ties."""

import numpy as np
from numpy.typing import NDArray

from lotor.crypto.garbling import HashKey, HashKeys, Place, Purpose
from lotor.protocols.samba.shared.schedule import Turn, TurnBatch
from lotor.protocols.samba.tie_order import TieOrder

# A restarted server repeats what it has sent, byte by byte, and a journal that is older than what
# peers know is refused (docs/resume.md): no place is ever used with other labels.
EPOCH = 0
CIRCUIT = 0


class ServerPlaces:
    """Derived from two keys that both servers have and nobody else."""

    def __init__(self, tie_key: bytes, hash_key: bytes, k: int) -> None:
        self._ties = TieOrder(tie_key, k)
        self._hashes = HashKeys(hash_key)

    def __repr__(self) -> str:
        return "<ServerPlaces>"

    def hash_key(self, batch: TurnBatch, purpose: Purpose) -> HashKey:
        return self._hashes.of(EPOCH, batch.number, purpose)

    @staticmethod
    def place(batch: TurnBatch, turn: int = 0) -> Place:
        """Of a batch, or of one of its turns."""
        return Place(EPOCH, CIRCUIT, batch.first + turn)

    def order(self, turn: Turn) -> NDArray[np.intp]:
        """Inputs of a circuit are in the order of ties, and results in that of the arms."""
        return self._ties.at(*turn)
