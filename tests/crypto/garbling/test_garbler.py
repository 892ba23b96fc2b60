"""Tables: their sizes, that they are the same again, and what happens to altered ones."""

import hashlib

import numpy as np
import pytest

from crypto.garbling.parties import DELTA, PLACE, SOURCE, garble, key, zero_labels
from lotor.core.errors import CryptoError, FormatError, InputError
from lotor.crypto.garbling import (
    ArgmaxCircuit,
    BooleanCircuit,
    Evaluator,
    Garbler,
    Place,
    Purpose,
    bits_of,
    chosen,
    codes_of,
    half_gates,
    opened,
    signs_of,
    subtract,
)
from lotor.crypto.ot import Delta, Labels

CIRCUIT = ArgmaxCircuit(5, 8)
NUMBERS = np.array([[3, 200, 200, 7, 199], [1, 1, 0, 0, 0], [0, 0, 0, 0, 9]], np.uint64).T
WANTED = NUMBERS.argmax(axis=0).tolist()


def labels_of(zeros: Labels) -> Labels:
    return chosen(zeros, bits_of(NUMBERS, 8), DELTA)


def later(rounds: int) -> Place:
    return PLACE._replace(round=PLACE.round + rounds)


def test_known_answer() -> None:
    garbled, _ = garble(CIRCUIT, 3)
    assert hashlib.sha256(garbled.tables.tobytes()).hexdigest()[:16] == KNOWN[0]
    assert hashlib.sha256(garbled.outputs.tobytes()).hexdigest()[:16] == KNOWN[1]


KNOWN = ["d83538f22bdb5903", "e19692dc6c6d6e25"]


def test_one_circuit_at_a_time() -> None:
    """The rounds of a batch are consecutive; each is evaluated by itself, again and again."""
    garbled, (zeros,) = garble(CIRCUIT, 3)
    labels, evaluator = labels_of(zeros), Evaluator(CIRCUIT)
    tag_key = key(Purpose.OUTPUTS)
    codes = codes_of(tag_key, PLACE, garbled.outputs, DELTA)
    for j in (0, 1, 2, 1):
        result = evaluator.evaluate(key(), later(j), garbled.tables[j], labels[:, :, j : j + 1])
        signs = signs_of(tag_key, later(j), result)
        assert np.flatnonzero(opened(codes.of(j), signs)).tolist() == [NUMBERS[:, j].argmax()]


def test_all_circuits_of_a_batch_at_once() -> None:
    garbled, (zeros,) = garble(CIRCUIT, 3)
    labels, evaluator = labels_of(zeros), Evaluator(CIRCUIT)
    at_once = evaluator.evaluate(key(), PLACE, garbled.tables, labels)
    for j in range(3):
        alone = evaluator.evaluate(key(), later(j), garbled.tables[j], labels[:, :, j : j + 1])
        assert np.array_equal(alone[:, 0], at_once[:, j])


@pytest.mark.parametrize(
    "circuit",
    [CIRCUIT, ArgmaxCircuit(2, 63), BooleanCircuit(subtract, (9, 2), (9, 2))],
)
def test_counts_are_what_garbling_uses(circuit: BooleanCircuit) -> None:
    """8 blocks of AES for each AND gate at the garbler, and 4 at the evaluator."""
    counting = key()
    encrypt = counting.encrypt
    sizes: list[int] = []

    def counted(data: memoryview, room: memoryview) -> int:
        sizes.append(len(data))
        return encrypt(data, room)

    zeros = zero_labels(circuit, 2)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counting, "encrypt", counted)
        garbled = Garbler(circuit, DELTA, 2).garble(counting, PLACE, *zeros)
        assert sum(sizes) == 16 * 8 * circuit.ands * 2
        sizes.clear()
        labels = [zero[:, :, :1] for zero in zeros]
        Evaluator(circuit).evaluate(counting, PLACE, garbled.tables[0], *labels)
        assert sum(sizes) == 16 * 4 * circuit.ands
    assert garbled.tables.shape == (2, circuit.table_bytes) == (2, 32 * circuit.ands)
    blocks = garbled.tables.reshape(-1, 16)
    assert len(np.unique(blocks, axis=0)) == len(blocks)


@pytest.mark.parametrize("step", [1, 7, 20])
def test_steps_of_any_size(step: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(half_gates, "STEP", step)
    garbled, (zeros,) = garble(CIRCUIT, 3)
    assert opened_after(garbled.tables.tobytes(), labels_of(zeros)) == WANTED
    blocks = garbled.tables.reshape(-1, 16)
    assert len(np.unique(blocks, axis=0)) == len(blocks)


def test_the_last_batch_may_be_smaller() -> None:
    zeros = SOURCE.zeros(1, 0, 0, (8, 5, 3))
    garbler = Garbler(CIRCUIT, DELTA, 3)
    whole = garbler.garble(key(), PLACE, zeros)
    for size in (1, 2, 1, 3):
        part = garbler.garble(key(), PLACE, np.ascontiguousarray(zeros[:, :, :size]))
        assert np.array_equal(part.tables, whole.tables[:size])
        assert np.array_equal(part.outputs, whole.outputs[:, :size])
    with pytest.raises(InputError, match="3 circuits were given to a garbler of 2 at once"):
        Garbler(CIRCUIT, DELTA, 2).garble(key(), PLACE, zeros)


def test_a_rebuilt_garbler_makes_the_same_tables_and_results_stay() -> None:
    garbler = Garbler(CIRCUIT, DELTA, 3)
    zeros = SOURCE.zeros(1, 0, 0, (8, 5, 3))
    first = garbler.garble(key(), PLACE, zeros)
    kept = first.tables.tobytes(), first.outputs.tobytes()
    garbler.garble(key(), later(3), SOURCE.zeros(1, 0, 1, (8, 5, 3)))
    assert (first.tables.tobytes(), first.outputs.tobytes()) == kept
    again, _ = garble(CIRCUIT, 3)
    assert (again.tables.tobytes(), again.outputs.tobytes()) == kept


@pytest.mark.parametrize(
    "place", [Place(2, 2, 3), Place(1, 3, 3), Place(1, 2, 4)], ids=["epoch", "circuit", "round"]
)
def test_another_place_has_other_tables(place: Place) -> None:
    garbler = Garbler(CIRCUIT, DELTA, 1)
    zeros = SOURCE.zeros(1, 0, 0, (8, 5, 1))
    tables = [
        garbler.garble(key(), where, zeros).tables.reshape(-1, 16) for where in (PLACE, place)
    ]
    blocks = np.concatenate(tables)
    assert len(np.unique(blocks, axis=0)) == len(blocks)


def opened_after(tables: bytes, labels: Labels, place: Place = PLACE) -> list[int]:
    garbled, _ = garble(CIRCUIT, 3)
    tag_key = key(Purpose.OUTPUTS)
    result = Evaluator(CIRCUIT).evaluate(key(), place, tables, labels)
    codes = codes_of(tag_key, PLACE, garbled.outputs, DELTA)
    return opened(codes, signs_of(tag_key, PLACE, result)).argmax(axis=0).tolist()  # type: ignore[no-any-return]


def test_altered_tables_are_noticed_by_tags_or_change_nothing() -> None:
    """A garbled row that a colour does not choose is not read at all."""
    garbled, (zeros,) = garble(CIRCUIT, 3)
    tables, labels = garbled.tables.tobytes(), labels_of(zeros)
    assert opened_after(tables, labels) == WANTED
    noticed = 0
    for at in range(0, len(tables), 97):
        altered = tables[:at] + bytes([tables[at] ^ 4]) + tables[at + 1 :]
        try:
            assert opened_after(altered, labels) == WANTED
        except CryptoError:
            noticed += 1
    assert noticed > len(tables) // 97 // 4


def test_wrong_labels_give_no_valid_tag() -> None:
    garbled, (zeros,) = garble(CIRCUIT, 3)
    tables, labels = garbled.tables.tobytes(), labels_of(zeros)
    wrong = labels.copy()
    wrong[-1, 1, 0] ^= np.uint64(2)
    with pytest.raises(CryptoError, match="tag does not belong"):
        opened_after(tables, wrong)
    with pytest.raises(CryptoError, match="tag does not belong"):
        opened_after(tables, labels_of(zeros[:, ::-1]))
    with pytest.raises(CryptoError, match="tag does not belong"):
        opened_after(tables, labels, later(1))


@pytest.mark.parametrize("change", [-1, 1, -32])
def test_tables_of_another_size_are_refused(change: int) -> None:
    garbled, (zeros,) = garble(CIRCUIT, 1)
    tables = (garbled.tables.tobytes() + bytes(1))[: CIRCUIT.table_bytes + change]
    with pytest.raises(FormatError, match="they were cut, or are of another circuit"):
        Evaluator(CIRCUIT).evaluate(key(), PLACE, tables, zeros)


@pytest.mark.parametrize("shape", [(8, 5, 2), (8, 5, 0, 2), (7, 5, 1, 2), (8, 4, 1, 2), (8, 5, 1)])
def test_labels_of_another_shape_are_refused(shape: tuple[int, ...]) -> None:
    labels = np.zeros(shape, np.uint64)
    with pytest.raises(InputError, match="do not fit a circuit"):
        Garbler(CIRCUIT, DELTA, 4).garble(key(), PLACE, labels)
    with pytest.raises(InputError, match="do not fit a circuit"):
        Evaluator(CIRCUIT).evaluate(key(), PLACE, b"", labels)
    with pytest.raises(InputError, match="do not fit a circuit"):
        Garbler(CIRCUIT, DELTA, 4).garble(key(), PLACE)


def test_an_empty_batch_is_refused() -> None:
    with pytest.raises(InputError, match="at least one circuit"):
        Garbler(CIRCUIT, DELTA, 0)


def test_another_delta_has_other_tables() -> None:
    garbled, zeros = garble(CIRCUIT, 1)
    other = Garbler(CIRCUIT, Delta.derive(bytes(32), "other"), 1).garble(key(), PLACE, *zeros)
    assert other.tables.tobytes() != garbled.tables.tobytes()


def test_reprs_tell_nothing() -> None:
    garbled, _ = garble(CIRCUIT, 3)
    assert repr(garbled) == "<Garbled: 3 circuits>"
    name = f"<ArgmaxCircuit of {CIRCUIT.ands} AND gates on {CIRCUIT.levels} levels>"
    assert repr(CIRCUIT) == name
    assert repr(Garbler(CIRCUIT, DELTA, 3)) == f"<Garbler of {name}, 3 at once>"
    assert repr(Evaluator(CIRCUIT)) == f"<Evaluator of {name}>"
