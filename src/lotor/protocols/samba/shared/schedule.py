"""The argmaxes of a run, and in which batches they are garbled: functions of the terms."""

from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from lotor.core.errors import InputError
from lotor.core.fixed_point import SCORE_BITS
from lotor.crypto.garbling import ArgmaxCircuit
from lotor.protocols.garbled.schedule import BatchSchedule, BatchSize, batch_size

if TYPE_CHECKING:
    from lotor.protocols.samba.shared.era import Era

# The labels of one argmax travel in one message, 1008 bytes an arm.
MOST_ARMS = 8000


class Turn(NamedTuple):
    """Iteration l of round t."""

    t: int
    l: int


def size_of(k: int) -> BatchSize:
    """How many argmaxes of k arms are garbled together."""
    if k > MOST_ARMS:
        raise InputError(
            f"{k} arms do not fit the messages of this form: give at most {MOST_ARMS}, or use "
            "form='dealt'"
        )
    return batch_size(argmax_of(k))


@cache
def argmax_of(k: int) -> ArgmaxCircuit:
    """The circuit of a turn. The labels of a score are the XOR of those of its two shares."""
    return ArgmaxCircuit(k, SCORE_BITS)


class ArgmaxSchedule(BatchSchedule):
    """The batches of an era, and which iteration each of their turns is."""

    def __init__(self, era: "Era") -> None:
        super().__init__(argmax_of(era.k), era.argmaxes, era.size, united=True, era=era.number)
        self._first, self._iterations, self._rounds = era.first, era.terms.iterations, era.turns

    def turn(self, number: int) -> Turn:
        """The iteration of a turn; the final one stands behind all rounds."""
        t, l = divmod(number, self._iterations)
        return Turn(self._first + t, l + 1)

    def is_final(self, number: int) -> bool:
        """Whether a turn belongs to no round: it is the customer who reads its result."""
        return number == self._rounds
