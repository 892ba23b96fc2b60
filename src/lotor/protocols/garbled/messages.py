"""What a garbler and an evaluator exchange, in the order in which they do.

`place` is the number of a batch and of a part of it, or the turn that a message belongs to, in a
fixed width; all else has a width that is fixed for a run.
"""

from lotor.core.effects import Message

WIRE = "garbled/1/"
"""A form that uses these messages must raise its own wire version when this one rises."""


class GarbledMessage(Message, frozen=True):
    """Its repr does not show what it carries: labels, shares or keys."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"


class LabelHashKey(GarbledMessage, frozen=True, tag=WIRE + "hash-key"):
    """Garbler to evaluator: the run's public key of the labels' hash."""

    key: bytes


class BaseOffer(GarbledMessage, frozen=True, tag=WIRE + "base-offer"):
    """The one who will choose, to the other: the base oblivious transfers begin."""

    offer: bytes


class BaseAnswer(GarbledMessage, frozen=True, tag=WIRE + "base-answer"):
    """The answer: choices, which are the bits of delta, under cover."""

    answer: bytes


class PlacedGarbledMessage(GarbledMessage, frozen=True):
    """Belongs to one place, which serves one content."""

    place: bytes


class Columns(PlacedGarbledMessage, frozen=True, tag=WIRE + "columns"):
    """Evaluator to garbler, ahead: its bits of a batch, as choices in transfers."""

    columns: bytes


class GarbledTables(PlacedGarbledMessage, frozen=True, tag=WIRE + "tables"):
    """Garbler to evaluator, ahead: a part of a batch of garbled circuits."""

    tables: bytes


class DecodingTable(PlacedGarbledMessage, frozen=True, tag=WIRE + "decoding-table"):
    """Garbler to whoever may read the outputs: to the evaluator ahead, for a batch, or to a third
    party, for a turn.

    The colours of zero-labels, and the tags of both labels of each output.
    """

    colours: bytes
    tags: bytes


class ShownOutputs(PlacedGarbledMessage, frozen=True, tag="garbled/2/shown-outputs"):
    """Evaluator to a third party, who may read the outputs of a turn: what its labels show.

    The colour and the tag of the label of each output.
    """

    colours: bytes
    tags: bytes


class InputLabels(PlacedGarbledMessage, frozen=True, tag=WIRE + "input-labels"):
    """Garbler to evaluator: the labels of the garbler's bits in one turn."""

    labels: bytes
