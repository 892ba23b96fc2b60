"""What both servers must agree on about an argmax: hash keys, places, the order of ties."""

import numpy as np
from numpy.typing import NDArray

from lotor.crypto.garbling import HashKey, HashKeys, Place, Purpose
from lotor.crypto.prf import ROUNDS_AHEAD, Prf
from lotor.protocols.samba.shared.schedule import Turn, TurnBatch

# A restarted server repeats what it has sent, byte by byte, and a journal that is older than what
# peers know is refused (docs/resume.md): no place is ever used with other labels.
EPOCH = 0
CIRCUIT = 0
_TIES = 0  # the label of these draws in core/draws.py, so that plain decides alike

Order = NDArray[np.intp]


class ServerPlaces:
    """Derived from two keys that both servers have and nobody else."""

    def __init__(self, tie_key: bytes, hash_key: bytes, k: int) -> None:
        self._ties = Prf(tie_key, range(k), ahead=ROUNDS_AHEAD)
        self._hashes = HashKeys(hash_key)

    def __repr__(self) -> str:
        return "<ServerPlaces>"

    def hash_key(self, batch: TurnBatch, purpose: Purpose) -> HashKey:
        return self._hashes.of(EPOCH, batch.number, purpose)

    @staticmethod
    def place(batch: TurnBatch, turn: int = 0) -> Place:
        """Of a batch, or of one of its turns."""
        return Place(EPOCH, CIRCUIT, batch.first + turn)

    def order(self, turn: Turn) -> Order:
        """The arms by their tie draws, the largest first: of equal scores the first wins.

        It is a uniform order that has nothing to do with scores. Inputs of a circuit are in this
        order, and results in that of the arms.
        """
        return np.argsort(~self._ties.words(_TIES, turn.t, turn.l), kind="stable")
