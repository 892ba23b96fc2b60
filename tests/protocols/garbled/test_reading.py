"""The evaluator alone reads the outputs, whatever crashes; nothing else is exchanged in clear."""

from functools import partial

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lotor.core.errors import CryptoError, ProtocolError, VersionError
from lotor.crypto.garbling import bits_of
from lotor.protocols.garbled import messages
from lotor.protocols.garbled.garbler import GarblerState
from lotor.protocols.garbled.reading import ReadingSide, TellingSide
from lotor.protocols.garbled.schedule import BatchSchedule, BatchSize, batch_size
from lotor.protocols.party import Party
from lotor.runtime.drive import drive
from lotor.transport import MemoryTransport
from mallory import Change, Mallory, altered, previous
from protocols.garbled.toy import MovedShares, ToyCase, ToyGarbler, ToyReader
from restarting import Restarting


def case(turns: int, places: int, width: int, seed: int = 0) -> ToyCase:
    generator = np.random.default_rng(seed)
    shape, high = (turns, places), 1 << width
    mine = generator.integers(0, high, shape, np.uint64)
    # Few different numbers, so that many are equal.
    numbers = generator.integers(0, min(high, 4), shape, np.uint64)
    return ToyCase((numbers - mine) & np.uint64(high - 1), mine, width)


def found(
    toy: ToyCase, every: int | None = None, transport: MemoryTransport | None = None
) -> object:
    parties: dict[str, Party] = {"garbler": ToyGarbler(toy), "reader": ToyReader(toy)}
    if every is not None:
        kinds = {"garbler": ToyGarbler, "reader": ToyReader}
        parties = {
            name: Restarting(party, partial(kinds[name], toy), every)
            for name, party in parties.items()
        }
    return drive(parties, transport or MemoryTransport(), lambda _: 0.0)["reader"].output


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    turns=st.integers(1, 20),
    places=st.integers(1, 6),
    width=st.integers(1, 9),
    together=st.integers(1, 5),
    seed=st.integers(0, 1000),
)
def test_the_first_of_the_largest_is_found(
    turns: int, places: int, width: int, together: int, seed: int
) -> None:
    toy = case(turns, places, width, seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lotor.protocols.garbled.schedule.MOST_TOGETHER", together)
        assert found(toy) == toy.winners


@pytest.mark.parametrize("every", [1, 2, 3])
def test_restarted_parties_find_the_same(every: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lotor.protocols.garbled.schedule.MOST_TOGETHER", 3)
    toy = case(8, 4, 8)
    assert found(toy, every) == toy.winners


def attack(kind: type, change: Change, after: int = 0) -> object:
    return found(case(20, 3, 8), transport=Mallory(kind, change, after))


@pytest.mark.parametrize(
    ("kind", "field"),
    [
        (messages.Columns, "columns"),
        (messages.GarbledTables, "tables"),
        (messages.DecodingTable, "colours"),
        (messages.DecodingTable, "tags"),
        (messages.InputLabels, "labels"),
        (MovedShares, "shares"),
    ],
)
def test_other_sizes_and_places_are_refused(kind: type, field: str) -> None:
    for change in (lambda data: data[:-1], lambda data: data + b"\0"):
        with pytest.raises(ProtocolError, match=f"sent {kind.__name__} of"):
            attack(kind, altered(field, change))
    with pytest.raises(ProtocolError, match="is out of step"):
        attack(kind, previous, after=1)
    with pytest.raises(ProtocolError, match="no place at all"):
        attack(kind, altered("place", lambda _: b""))


def test_what_was_altered_is_noticed() -> None:
    for kind, field in (
        (messages.DecodingTable, "colours"),
        (messages.DecodingTable, "tags"),
        (messages.InputLabels, "labels"),
    ):
        with pytest.raises(ProtocolError, match=r"garbler sent .* an output's tag does not belong"):
            attack(kind, altered(field, lambda data: bytes(byte ^ 1 for byte in data)))


def test_several_places_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a garbler could do with another circuit."""
    monkeypatch.setattr(ReadingSide, "read", lambda *_: np.array([1, 0, 1], np.uint8))
    with pytest.raises(ProtocolError, match="selects 2 places instead of one: garbler"):
        found(case(2, 3, 8))


def test_labels_of_a_second_input_are_refused() -> None:
    toy = case(2, 3, 8)
    schedule = toy.schedule()
    state = GarblerState.fresh()
    state.seeds = bytes(2048)
    side = TellingSide(state, "toy", schedule)
    state.columns = bytes(schedule.column_bytes(schedule.batch(0)))
    side.restore()
    own = bits_of(toy.theirs[0], 8)
    assert side.labels(0, own) == side.labels(0, own)
    with pytest.raises(CryptoError, match="used already, with another content"):
        side.labels(0, own ^ np.uint8(1))


def test_a_version_that_garbles_otherwise_does_not_go_on() -> None:
    circuit = case(2, 3, 8).schedule().circuit
    size = batch_size(circuit)
    for other in (BatchSize(size.circuits - 1, size.gates), BatchSize(size.circuits, 1)):
        with pytest.raises(VersionError, match="finish the run with the version that began it"):
            BatchSchedule(circuit, 2, other)
