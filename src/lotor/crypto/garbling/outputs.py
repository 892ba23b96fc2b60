"""Outputs that neither party can read: each has a colour, and whoever gets both has the bit.

The evaluator also shows a tag of its label, a hash with a key of its own, which it could not make
for the other bit.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lotor.core.errors import IntegrityError
from lotor.crypto.ot import Delta, Labels
from lotor.crypto.ot.hash import HashKey, Place, tweaks

TAG_BYTES = 8


class OutputCodes(NamedTuple):
    """What the garbler knows of outputs: the colour of 0, and the tags of both bits.

    Shapes are those of outputs without the last axis, (..., batch), and for tags with the bit in
    front, (2, ..., batch).
    """

    colours: NDArray[np.uint8]
    tags: NDArray[np.uint64]

    def __repr__(self) -> str:
        return f"<OutputCodes of {self.colours.shape} outputs>"

    def of(self, number: int) -> "OutputCodes":
        """Those of one circuit of the batch, as a batch of one."""
        one = slice(number, number + 1)
        return OutputCodes(self.colours[..., one], self.tags[..., one])


class OutputSigns(NamedTuple):
    """What the evaluator shows of outputs: colours, and the tags of its labels."""

    colours: NDArray[np.uint8]
    tags: NDArray[np.uint64]

    def __repr__(self) -> str:
        return f"<OutputSigns of {self.colours.shape} outputs>"


def colours(labels: Labels) -> NDArray[np.uint8]:
    """The lowest bit of each label."""
    return (labels[..., 0] & np.uint64(1)).astype(np.uint8)


def codes_of(key: HashKey, place: Place, zero_labels: Labels, delta: Delta) -> OutputCodes:
    """The garbler's part, from the zero-labels of outputs, (..., batch, 2)."""
    both = np.stack([zero_labels, zero_labels ^ delta.words])
    return OutputCodes(colours(zero_labels), _tags(key, place, both))


def signs_of(key: HashKey, place: Place, labels: Labels) -> OutputSigns:
    """The evaluator's part, from its labels of outputs, (..., circuits, 2)."""
    return OutputSigns(colours(labels), _tags(key, place, labels[np.newaxis])[0])


def opened(codes: OutputCodes, signs: OutputSigns) -> NDArray[np.uint8]:
    """The bits, for whoever has both parts."""
    bits = codes.colours ^ signs.colours
    expected = np.where(bits, codes.tags[1], codes.tags[0])
    if not np.array_equal(expected, signs.tags):
        raise IntegrityError(
            "an output's tag does not belong to its bit: one of the two parties altered it, or "
            "the circuit was not evaluated as garbled; the run must not go on"
        )
    return bits


def _tags(key: HashKey, place: Place, labels: Labels) -> NDArray[np.uint64]:
    """8 bytes of the hash of each label, (2, ..., batch, 2): outputs are numbered in order."""
    rounds = labels.shape[-2]
    outputs = labels[0].size // (2 * rounds)
    tweak = tweaks(place, outputs, rounds).reshape(labels.shape[1:])
    return np.ascontiguousarray(key.hashed(labels, tweak)[..., 1])
