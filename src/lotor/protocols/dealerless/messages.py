"""What two servers without a dealer exchange, besides base transfers and openings.

`place` is the number of a batch and of a part of it, or the step that a message belongs to; all
else has a width that is fixed for a run.
"""

from lotor.protocols.garbled.messages import GarbledMessage, PlacedGarbledMessage

WIRE = "dealerless/1/"
"""A form that uses these messages must raise its own wire version when this one rises."""


class CommonKeys(GarbledMessage, frozen=True, tag=WIRE + "common-keys"):
    """First server to the second: the public key of hashes, and the key of what both put on shares
    of a kept model."""

    digest: bytes
    hash_key: bytes
    blind_key: bytes


class Choices(PlacedGarbledMessage, frozen=True, tag=WIRE + "choices"):
    """Ahead, either server to the other: a part of the columns of its bits, as choices."""

    columns: bytes


class OfferedWords(PlacedGarbledMessage, frozen=True, tag=WIRE + "offered-words"):
    """Ahead, either server to the other: a part of its vectors, under masks of either choice."""

    words: bytes


class PreparedTables(PlacedGarbledMessage, frozen=True, tag=WIRE + "tables"):
    """Ahead, the batch's garbler to its evaluator: a part of the garbled circuits."""

    tables: bytes


class Differences(PlacedGarbledMessage, frozen=True, tag=WIRE + "differences"):
    """Evaluator to garbler: its shares, less the numbers that it chose ahead."""

    words: bytes


class Labels(PlacedGarbledMessage, frozen=True, tag=WIRE + "labels"):
    """Garbler to evaluator: labels of its bits, and colours of the outputs that it may read."""

    labels: bytes
    colours: bytes
