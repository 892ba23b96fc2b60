"""Which place is taken: that of the largest score, or now and then one in turn."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from lotor.core.errors import InputError
from lotor.crypto.garbling.arithmetic import add_with_carry, constant
from lotor.crypto.garbling.circuit import BooleanCircuit
from lotor.crypto.garbling.comparison import select
from lotor.crypto.garbling.gates import Gates, Wires
from lotor.crypto.garbling.lookup import decoded
from lotor.crypto.garbling.tournament import argmax

WORD = 64
"""Bits of rooms and coins."""


class ChoiceCircuit(BooleanCircuit):
    """The first of the largest scores, or with probability threshold / 2^64 the place in turn.

    Inputs are, of the evaluator and then of the garbler:

    - numbers, (width, places): their sums modulo 2^width are the scores, unsigned; where they may
      be negative, the garbler adds 2^(width - 1) to each;
    - room, (64, 1): the context is too long if the sum modulo 2^64 is negative;
    - coin, (64, 1): the place in turn is taken if the XOR is below the threshold, a public number:
      0 for never, 2^64 for always;
    - turn, (turn_bits, 1), below the places: the place in turn is the sum modulo the places.

    The output is (places + 1,): one-hot, which place is taken, and 1 if the context is too long.

    >>> ChoiceCircuit(places=10, width=62, threshold=2**60)
    <ChoiceCircuit of 3895 AND gates on 45 levels>
    """

    __slots__ = ("places", "threshold", "turn_bits", "width")

    def __init__(self, places: int, width: int, threshold: int) -> None:
        if places < 1 or width < 1:
            raise InputError(
                f"a choice from {places} numbers of {width} bits: there must be at least one of "
                "each"
            )
        if not 0 <= threshold <= 1 << WORD:
            raise InputError(
                f"a threshold is from 0 (never explore) to 2^{WORD} (always), not {threshold}"
            )
        self.places, self.width, self.threshold = places, width, threshold
        self.turn_bits = max(1, (places - 1).bit_length())
        party = (width, places), (WORD, 1), (WORD, 1), (self.turn_bits, 1)
        super().__init__(partial(_choice, threshold=threshold), *party, *party)


def _choice(gates: Gates, *inputs: Wires, threshold: int) -> Wires:
    numbers, room, coin, turn = zip(inputs[:4], inputs[4:], strict=True)
    (width, places), turn_bits = numbers[0].shape[:2], len(turn[0])
    summands = [numbers, room, turn]
    by_coin = 0 < threshold < 1 << WORD
    if by_coin:
        # threshold + (2^64 - 1 - coin) carries just if the coin is below the threshold.
        limit = constant(gates, threshold, coin[0])
        summands.append((limit, gates.inverted(coin[0] ^ coin[1])))
    # All sums share their levels: that costs less time than the rows of zeros take.
    x, y = (_side_by_side(part) for part in zip(*summands, strict=True))
    total = add_with_carry(gates, x, y)
    too_long = total[WORD - 1 : WORD, places : places + 1]
    taken = argmax(gates, total[:width, :places])[:, np.newaxis]
    if threshold:
        in_turn = _modulo(gates, total[: turn_bits + 1, places + 1 : places + 2], places)
        explores = total[WORD : WORD + 1, places + 2 :]
        taken = select(gates, explores, taken, in_turn) if by_coin else in_turn
    return np.concatenate([taken, too_long])[:, 0]


def _side_by_side(parts: Sequence[Wires]) -> Wires:
    """All numbers as places of one array, with zeros above those of fewer bits."""
    bits = max(map(len, parts))
    padded = (
        np.concatenate([part, *[np.zeros_like(part[:1])] * (bits - len(part))]) for part in parts
    )
    return np.concatenate(list(padded), axis=1)


def _modulo(gates: Gates, total: Wires, places: int) -> Wires:
    """One-hot, a sum of two numbers below the places, modulo the places."""
    hot = decoded(gates, total, 2 * places - 1)
    return np.concatenate([hot[: places - 1] ^ hot[places:], hot[places - 1 : places]])
