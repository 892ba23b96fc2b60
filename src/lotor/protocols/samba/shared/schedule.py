"""In which batches the argmaxes of a run are garbled ahead: a function of the terms."""

from functools import cache
from typing import NamedTuple

from lotor.core.errors import InputError, VersionError
from lotor.core.fixed_point import SCORE_BITS
from lotor.crypto.garbling import ArgmaxCircuit, check_security, security_bits
from lotor.protocols.samba.terms import SambaTerms

MOST_TOGETHER = 16
# So many AND gates in one go keep numpy busy; more would only take memory.
ANDS_TOGETHER = 1 << 16
# The labels of one argmax travel in one message, 1008 bytes an arm.
MOST_ARMS = 8000
PART_BYTES = 4 << 20
AHEAD = 2
"""So many batches ahead Comp chooses; Controller garbles one ahead."""


class Turn(NamedTuple):
    """Iteration l of round t."""

    t: int
    l: int


class TurnBatch(NamedTuple):
    """Consecutive turns that are garbled together; `first` is the number of the first of them."""

    number: int
    first: int
    turns: tuple[Turn, ...]


def batch_size(k: int) -> int:
    """How many argmaxes of k arms are garbled together."""
    if k > MOST_ARMS:
        raise InputError(
            f"{k} arms do not fit the messages of this form: give at most {MOST_ARMS}, or use "
            "form='dealt'"
        )
    return max(1, min(MOST_TOGETHER, ANDS_TOGETHER // max(1, argmax_of(k).ands)))


@cache
def argmax_of(k: int) -> ArgmaxCircuit:
    """The circuit of a turn. The labels of a score are the XOR of those of its two shares."""
    return ArgmaxCircuit(k, SCORE_BITS)


class Schedule:
    """The batches of a run."""

    def __init__(self, terms: SambaTerms, size: int, gates: int) -> None:
        """`size` and `gates` are those of the terms: a restored party must garble as it began."""
        if (size, gates) != (batch_size(terms.k), argmax_of(terms.k).ands):
            raise VersionError(
                f"this run garbles {size} argmaxes of {gates} AND gates at once, and this version "
                "of lotor others, which would use labels a second time: finish the run with the "
                "version that began it"
            )
        self._k = terms.k
        self._iterations = terms.iterations
        self._turns = terms.turns
        self.size = size
        self.count = -(-self._turns // self.size)
        self.circuit = argmax_of(terms.k)
        check_security(self.ands_per_key)

    @property
    def ands_per_key(self) -> int:
        return self.size * self.circuit.ands

    @property
    def security_bits(self) -> float:
        """How many bits of security the labels of this run have."""
        return security_bits(self.ands_per_key)

    def parts(self, batch: TurnBatch) -> list[slice]:
        """How the tables of a batch are cut into messages."""
        size = len(batch.turns) * self.circuit.table_bytes
        starts = range(0, max(size, 1), PART_BYTES)
        return [slice(start, min(start + PART_BYTES, size)) for start in starts]

    def batch(self, number: int) -> TurnBatch:
        first = number * self.size
        last = min(first + self.size, self._turns)
        return TurnBatch(number, first, tuple(self._turn(n) for n in range(first, last)))

    def _turn(self, n: int) -> Turn:
        t, l = divmod(n, self._iterations)
        return Turn(self._k + 1 + t, l + 1)
