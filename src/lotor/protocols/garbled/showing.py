"""Circuits whose outputs a third party alone reads.

The garbler sends it the table that decodes the outputs of a turn, and the evaluator what its
labels show. Neither of the two can read an output: the evaluator has no table, and the garbler no
labels. A label that is neither of the two in the table shows that something was altered.
"""

from typing import ClassVar, NamedTuple

import numpy as np

from lotor.core.draws import Words
from lotor.core.effects import Receive, Steps
from lotor.core.errors import ProtocolError
from lotor.crypto.garbling import (
    TAG_BYTES,
    OutputCodes,
    OutputSigns,
    Purpose,
    codes_of,
    opened,
    signs_of,
)
from lotor.crypto.ot import Labels
from lotor.protocols.garbled.evaluator import EvaluatingSide
from lotor.protocols.garbled.garbler import Bits, GarblerState, GarblingSide
from lotor.protocols.garbled.messages import DecodingTable, ShownOutputs
from lotor.protocols.garbled.schedule import EPOCH, BatchSchedule, CircuitBatch, turn_place
from lotor.protocols.garbled.wire import expect, received_from


class CodingSide(GarblingSide[OutputCodes]):
    """The garbler, who keeps how to decode outputs."""

    def __init__(self, state: GarblerState, run: str, schedule: BatchSchedule) -> None:
        super().__init__(state, run, schedule, self._codes)

    def table(self, turn: int, place: bytes) -> DecodingTable:
        """How to decode the outputs of one turn."""
        codes, at = self.results(turn)
        return table_of(codes.of(at), place)

    def _codes(self, batch: CircuitBatch, outputs: Labels) -> OutputCodes:
        key = self.hashes.of(EPOCH, batch.number, Purpose.OUTPUTS)
        return codes_of(key, batch.place(), outputs, self.delta)


class SigningSide(EvaluatingSide):
    """The evaluator, who can show which labels it has without giving them away.

    It chooses for the next batch (`choose_next`) right after the first message of a batch has left:
    the garbler garbles the next batch once it has answered that one.
    """

    ahead: ClassVar[int] = 1

    def signs(self, turn: int, labels: bytes) -> OutputSigns:
        key = self.hashes.of(EPOCH, self.schedule.of(turn).number, Purpose.OUTPUTS)
        return signs_of(key, turn_place(turn), self.evaluate(turn, labels))

    def shown(self, turn: int, labels: bytes, place: bytes) -> ShownOutputs:
        """What a third party needs to read the outputs of one turn, besides the table."""
        return shown_of(self.signs(turn, labels), place)


class OutputReader(NamedTuple):
    """The third party, who reads so many outputs of a turn, of which one is 1."""

    garbler: str
    evaluator: str
    outputs: int

    def receive_position(self, turn: int, place: bytes) -> Steps[int]:
        """Where the outputs are 1, from both parties' messages of a place."""
        table: DecodingTable = yield Receive(self.garbler, DecodingTable)
        shown: ShownOutputs = yield Receive(self.evaluator, ShownOutputs)
        sizes, shape = table_bytes(self.outputs), (self.outputs, 1)
        expect(table, place, self.garbler, **sizes)
        sizes["tags"] //= 2
        expect(shown, place, self.evaluator, **sizes)
        signs = _signs_from(shown, shape)
        with received_from(f"{self.garbler} or {self.evaluator}"):
            bits = opened(codes_from(table, shape), signs)
        return the_position(bits, turn, self.garbler)


def the_position(bits: Bits, turn: int, garbler: str) -> int:
    """Where the outputs of a turn are 1, which must be one place."""
    if bits.sum() != 1:
        raise ProtocolError(
            f"the circuit of turn {turn} selects {bits.sum()} places instead of one: {garbler} "
            "garbled something else, or a message was altered; start a new run"
        )
    return int(bits.argmax())


def table_bytes(outputs: int) -> dict[str, int]:
    """How long the fields of a table for so many outputs are."""
    return {"colours": -(-outputs // 8), "tags": 2 * TAG_BYTES * outputs}


def table_of(codes: OutputCodes, place: bytes) -> DecodingTable:
    return DecodingTable(place, *_packed(codes.colours, codes.tags))


def shown_of(signs: OutputSigns, place: bytes) -> ShownOutputs:
    """Lower halves of tags come first, so that the reader is not sent the same blocks twice."""
    colours, tags = _packed(signs.colours, signs.tags)
    halves = np.frombuffer(tags, "<u4").reshape(-1, 2)
    return ShownOutputs(place, colours, halves.T.tobytes())


def _signs_from(shown: ShownOutputs, shape: tuple[int, ...]) -> OutputSigns:
    """What `shown_of` was given; its sizes must have been checked."""
    halves = np.frombuffer(shown.tags, "<u4").reshape(2, -1)
    tags = np.ascontiguousarray(halves.T).view("<u8").reshape(shape)
    return OutputSigns(_colours(shown.colours, shape), tags)


def codes_from(table: DecodingTable, shape: tuple[int, ...]) -> OutputCodes:
    """What `table_of` was given; its sizes must have been checked."""
    tags = np.frombuffer(table.tags, "<u8").reshape(2, *shape)
    return OutputCodes(_colours(table.colours, shape), tags)


def _packed(colours: Bits, tags: Words) -> tuple[bytes, bytes]:
    return np.packbits(colours.reshape(-1)).tobytes(), tags.astype("<u8").tobytes()


def _colours(packed: bytes, shape: tuple[int, ...]) -> Bits:
    octets = np.frombuffer(packed, np.uint8)
    return np.unpackbits(octets, count=int(np.prod(shape))).reshape(shape)
