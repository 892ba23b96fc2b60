"""A third party reads what a circuit gives, and nobody else can."""

from collections.abc import Iterator

import numpy as np
import pytest

from lotor.core.effects import Receive
from lotor.core.errors import ProtocolError
from lotor.crypto.garbling import OutputCodes, OutputSigns
from lotor.protocols.garbled.messages import DecodingTable, ShownOutputs
from lotor.protocols.garbled.showing import (
    OutputReader,
    codes_from,
    shown_of,
    table_bytes,
    table_of,
)

PLACE = bytes(8)
READER = OutputReader("garbler", "evaluator", 11)


def parts(selected: list[int], seed: int = 1) -> tuple[DecodingTable, ShownOutputs]:
    """A table of 11 outputs, and what an evaluator shows if the selected ones are 1."""
    draws = np.random.default_rng(seed)
    bits = np.zeros((11, 1), np.uint8)
    bits[selected] = 1
    colours = draws.integers(0, 2, (11, 1), np.uint8)
    tags = draws.integers(0, 2**63, (2, 11, 1), np.uint64)
    signs = OutputSigns(colours ^ bits, np.where(bits, tags[1], tags[0]))
    shown = shown_of(signs, PLACE)
    return table_of(OutputCodes(colours, tags), PLACE), shown


def read(table: DecodingTable, shown: ShownOutputs) -> int:
    steps = READER.receive_position(4, PLACE)
    answers: Iterator[object] = iter((table, shown))
    effect = next(steps)
    try:
        while True:
            assert isinstance(effect, Receive)
            effect = steps.send(next(answers))
    except StopIteration as done:
        position: int = done.value
        return position


@pytest.mark.parametrize("position", range(11))
def test_the_selected_place_is_read(position: int) -> None:
    assert read(*parts([position], seed=position)) == position


@pytest.mark.parametrize("selected", [[], [2, 7]])
def test_a_circuit_that_selects_another_number_of_places(selected: list[int]) -> None:
    with pytest.raises(ProtocolError, match=f"turn 4 selects {len(selected)} places instead"):
        read(*parts(selected))


def test_a_sign_of_another_circuit_is_noticed() -> None:
    table, _ = parts([3], seed=1)
    _, shown = parts([3], seed=2)
    with pytest.raises(ProtocolError, match="garbler or evaluator sent something"):
        read(table, shown)


def test_tables_are_read_as_they_were_written() -> None:
    table, shown = parts([5])
    codes = codes_from(table, (11, 1))
    assert table_of(codes, PLACE) == table
    assert table_bytes(11) == {"colours": 2, "tags": 176}
    with pytest.raises(ProtocolError, match=r"garbler sent DecodingTable of .* for round 1"):
        read(DecodingTable(bytes(7) + b"\1", table.colours, table.tags), shown)
    with pytest.raises(ProtocolError, match=r"evaluator sent ShownOutputs of 2 bytes and 80 bytes"):
        read(table, ShownOutputs(PLACE, shown.colours, shown.tags[8:]))
