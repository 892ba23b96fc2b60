"""Which place is taken, against plain integers."""

from collections.abc import Callable, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crypto.garbling.parties import Bits, plainly, secretly, to_bits
from lotor.core.errors import InputError
from lotor.crypto.garbling import ChoiceCircuit, bits_of_integers

Run = Callable[..., Bits]
WORD = 1 << 64
EDGES = [0, 1, WORD // 2 - 1, WORD // 2, WORD - 1]
words = st.sampled_from(EDGES) | st.integers(0, WORD - 1)


class Part(NamedTuple):
    """What one party gives."""

    numbers: Sequence[int]
    room: int
    coin: int
    turn: int


class Case(NamedTuple):
    """Both parties' parts."""

    evaluator: Part
    garbler: Part


def inputs(circuit: ChoiceCircuit, cases: Sequence[Case]) -> list[Bits]:
    made = []
    for parts in zip(*cases, strict=True):
        numbers, room, coin, turn = zip(*parts, strict=True)
        rows = bits_of_integers([x for row in numbers for x in row], circuit.width)
        made.append(np.moveaxis(rows.reshape(circuit.width, len(parts), -1), 1, 2))
        made += [to_bits(room, 64), to_bits(coin, 64), to_bits(turn, circuit.turn_bits)]
    return made


def expected(circuit: ChoiceCircuit, case: Case) -> list[int]:
    x, y = case
    scores = [sum(pair) % (1 << circuit.width) for pair in zip(x.numbers, y.numbers, strict=True)]
    taken = max(range(circuit.places), key=scores.__getitem__)
    if x.coin ^ y.coin < circuit.threshold:
        taken = (x.turn + y.turn) % circuit.places
    too_long = (x.room + y.room) % WORD >= WORD // 2
    return [*(int(place == taken) for place in range(circuit.places)), int(too_long)]


def check(circuit: ChoiceCircuit, cases: Sequence[Case], run: Run = plainly) -> None:
    found = run(circuit, *inputs(circuit, cases)).T
    assert found.tolist() == [expected(circuit, case) for case in cases]


@st.composite
def parts(draw: st.DrawFn, places: int, width: int) -> Part:
    few = st.sampled_from([0, 1 << width - 1, (1 << width) - 1])  # so that there are ties
    number = few | st.integers(0, (1 << width) - 1)
    numbers = draw(st.lists(number, min_size=places, max_size=places))
    return Part(numbers, draw(words), draw(words), draw(st.integers(0, places - 1)))


@given(st.data(), st.integers(1, 20), st.sampled_from([1, 2, 7, 62, 64, 65, 90]), words)
def test_any_numbers(data: st.DataObject, places: int, width: int, threshold: int) -> None:
    part = parts(places, width)
    cases = data.draw(st.lists(st.builds(Case, part, part), min_size=1, max_size=5))
    check(ChoiceCircuit(places, width, threshold), cases)


@pytest.mark.parametrize(("places", "width"), [(2, 2), (2, 3), (3, 2)])
def test_all_small_scores(places: int, width: int) -> None:
    """Nobody explores."""
    rows = list(product(range(1 << width), repeat=places))
    cases = [Case(Part(x, 0, 7, 0), Part(y, 0, 0, 0)) for x in rows for y in rows]
    check(ChoiceCircuit(places, width, 7), cases)


@pytest.mark.parametrize("places", range(1, 18))
def test_all_turns(places: int) -> None:
    """The last place has the largest score, and every other coin explores."""
    numbers, none = [*[0] * (places - 1), 1], [0] * places
    cases = [
        Case(Part(numbers, 0, 3, x), Part(none, 0, coin, y))
        for x, y, coin in product(range(places), range(places), (0, 1))
    ]
    check(ChoiceCircuit(places, 2, 3), cases)


@pytest.mark.parametrize("threshold", [0, 1, 2, WORD // 2, WORD // 2 + 1, WORD - 1, WORD])
def test_coins_and_rooms_at_their_edges(threshold: int) -> None:
    near = sorted({(threshold + change) % WORD for change in (-1, 0, 1)} | set(EDGES))
    coins = [(coin ^ mask, mask) for coin in near for mask in (0, WORD // 3)]
    rooms = [(x, y) for x in near for y in EDGES]
    cases = [
        Case(Part((1, 0), rooms[0][0], x, 1), Part((0, 0), rooms[0][1], y, 0)) for x, y in coins
    ]
    cases += [Case(Part((1, 0), x, 0, 1), Part((0, 0), y, 0, 0)) for x, y in rooms]
    check(ChoiceCircuit(2, 3, threshold), cases)


@pytest.mark.parametrize("places", [1, 2, 5, 30])
@pytest.mark.parametrize("threshold", [0, WORD // 2, WORD])
def test_under_encryption(places: int, threshold: int) -> None:
    rng = np.random.default_rng(places)

    def part() -> Part:
        room, coin = (int(x) for x in rng.integers(0, WORD, 2, np.uint64))
        numbers = [int(x) for x in rng.integers(0, 1 << 62, places, np.uint64)]
        return Part(numbers, room, coin, int(rng.integers(places)))

    cases = [Case(part(), part()) for _ in range(6)]
    check(ChoiceCircuit(places, 62, threshold), cases, secretly)


@pytest.mark.parametrize(
    ("places", "ands", "levels"), [(1, 705, 12), (2, 1003, 19), (10, 3895, 45), (50, 12380, 114)]
)
def test_what_a_choice_costs(places: int, ands: int, levels: int) -> None:
    circuit = ChoiceCircuit(places, 62, WORD // 10)
    assert (circuit.ands, circuit.levels, circuit.output) == (ands, levels, (places + 1,))
    party = ((62, places), (64, 1), (64, 1), (circuit.turn_bits, 1))
    assert circuit.inputs == party + party


@pytest.mark.parametrize("threshold", [0, WORD])
def test_no_gate_compares_a_coin_that_decides_nothing(threshold: int) -> None:
    """A column of 64 sums in a tree, and a choice for each place."""
    free, paid = (ChoiceCircuit(10, 62, t) for t in (threshold, 1))
    assert paid.ands - free.ands >= 176 + 10
    assert free.levels < paid.levels


@pytest.mark.parametrize("arguments", [(0, 62), (3, 0)])
def test_a_choice_from_nothing_is_refused(arguments: tuple[int, int]) -> None:
    with pytest.raises(InputError, match="at least one of each"):
        ChoiceCircuit(*arguments, threshold=0)


@pytest.mark.parametrize("threshold", [-1, WORD + 1])
def test_thresholds_out_of_range_are_refused(threshold: int) -> None:
    with pytest.raises(InputError, match=r"from 0 \(never explore\) to 2\^64 \(always\)"):
        ChoiceCircuit(2, 62, threshold)
