"""In the plane, four blocks of slots compute what each entry on its own would."""

import numpy as np
import pytest
from helba_simulation import InClear, UnderEncryption, check_repetitions
from hypothesis import given, settings
from hypothesis import strategies as st

import lotor
from lotor.core.errors import InputError
from lotor.core.fixed_point import Floats
from lotor.crypto.ckks.formulas import Array
from lotor.policies.optimistic import BatchedOFUL
from lotor.protocols.helba.paper.index_circuit import IndexCircuit, Numbers, plus
from lotor.protocols.helba.paper.plane import BLOCKS, PlaneCircuit
from lotor.protocols.helba.paper.quadratic import QuadraticCircuit
from lotor.protocols.helba.paper.root import RootCircuit
from lotor.protocols.helba.paper.setting import HelbaSetting
from protocols.helba.stage import paper, setting_of, small


def plane(arms: int, *, rounds: int, stages: int = 2) -> tuple[HelbaSetting, PlaneCircuit]:
    setting = setting_of(small(stages=stages), rounds=rounds, arms=arms, d=2)
    assert isinstance(setting.circuit, PlaneCircuit)
    return setting, setting.circuit


def learnt(
    circuit: IndexCircuit, setting: HelbaSetting, x: Floats, rewards: Floats
) -> Numbers[Array]:
    """The estimate after these rounds, of shape (rounds, repetitions, 2)."""
    sums = tuple(InClear(setting).first(value) for value in circuit.packing.ridge())
    for row, reward in zip(x, rewards, strict=True):
        sums = plus(sums, circuit.packing.update(row, reward))
    return circuit.estimate(sums, len(x) + 1)


@given(
    arms=st.integers(2, 9),
    repetitions=st.integers(1, 3),
    n=st.integers(0, 12),
    late=st.integers(0, 60),
    seed=st.integers(0, 1000),
)
@settings(deadline=None, max_examples=60)
def test_every_block_comes_to_what_each_entry_on_its_own_would(
    arms: int, repetitions: int, n: int, late: int, seed: int
) -> None:
    setting, circuit = plane(arms, rounds=n + 1 + late)
    repetitions = min(repetitions, circuit.comparison.layout.repetitions)
    apart = QuadraticCircuit(setting.terms, setting.parameters)
    draw = np.random.default_rng(seed)
    length = BatchedOFUL().L / np.sqrt(2)
    x = draw.uniform(-length, length, (n, repetitions, 2))
    rewards = draw.uniform(-1, 1, (n, repetitions))
    offered = draw.uniform(-length, length, (repetitions, arms, 2))
    found = []
    for one in (circuit, apart):
        estimate = learnt(one, setting, x, rewards)
        assert max(np.abs(entry).max() for entry in estimate) <= 4.1
        tables = one.packing.contexts(offered, n + 1, n + 1)
        found.append(one.differences(estimate, tables, n + 1, n + 1))
    blocks = found[0].reshape(BLOCKS, -1)
    assert np.allclose(blocks, blocks[0], rtol=0, atol=1e-12)
    # The same pairs, in other slots.
    layouts = circuit.comparison.layout, apart.comparison.layout
    for j in range(arms - 1):
        here, there = (
            values.reshape(-1, layout.columns)[j][: repetitions * arms]
            for values, layout in zip((blocks[0], found[1]), layouts, strict=True)
        )
        assert np.allclose(here, there, rtol=0, atol=1e-12)
    b = circuit.packing.read(circuit.winners(found[0]), repetitions)
    assert np.allclose(b, apart.packing.read(apart.winners(found[1]), repetitions), atol=1e-9)


@pytest.mark.parametrize(
    ("arms", "d", "helba", "kind"),
    [
        (2, 2, lotor.Helba(form="paper"), PlaneCircuit),
        (64, 2, lotor.Helba(form="paper"), PlaneCircuit),
        (65, 2, lotor.Helba(form="paper"), QuadraticCircuit),
        (128, 2, lotor.Helba(stages=3, form="paper"), QuadraticCircuit),
        (2, 3, lotor.Helba(form="paper"), QuadraticCircuit),
        (9, 2, small(), PlaneCircuit),
        (10, 2, small(), QuadraticCircuit),
        (2, 2, small(paper(None, 0.1)), RootCircuit),
    ],
)
def test_where_blocks_are_used(
    arms: int, d: int, helba: lotor.Helba, kind: type[IndexCircuit]
) -> None:
    """For d = 2 if a quarter of the slots holds all pairs; more arms than that still fit."""
    setting = setting_of(helba, rounds=3, arms=arms, d=d)
    assert type(setting.circuit) is kind


def test_repetitions_have_room_in_a_block() -> None:
    _, circuit = plane(4, rounds=3)
    check_repetitions(circuit, 8)
    with pytest.raises(InputError, match="the slots hold 1 to 8"):
        check_repetitions(circuit, 9)


@pytest.mark.parametrize(("arms", "copies"), [(2, 4), (4, 16), (10, 16)])
def test_averaging_all_copies_of_an_answer_leaves_the_stated_noise(arms: int, copies: int) -> None:
    """In blocks, and in the slots of an arm's opponents.

    The deviation of 512 averages or more is off by a quarter with a chance of 4e-15, and that of
    8,192 numbers by a tenth with one of 1e-36.
    """
    setting = setting_of(small(stages=2), rounds=3, arms=arms, d=2)
    circuit, hidden = setting.circuit, UnderEncryption(setting)
    assert circuit.copies == copies
    clear = InClear(setting)
    estimate = circuit.estimate([clear.first(value) for value in circuit.packing.ridge()], 1)
    offered = np.random.default_rng(1).uniform(-3, 3, (1, arms, 2))
    answer = circuit.choose(estimate, circuit.packing.contexts(offered, 1, 1), 1, 1)
    parts = answer.reshape(copies, -1)
    assert np.allclose(parts, parts[0])
    level = setting.parameters.levels
    residues = []
    for _ in range(16):
        seen = hidden.read(hidden.first(answer, level)) - answer
        residues.append(seen.reshape(copies, -1))
    averages = np.concatenate([one.mean(axis=0) for one in residues])
    assert averages.std() == pytest.approx(setting.terms.noise, rel=0.25)
    assert np.concatenate(residues).std() == pytest.approx(circuit.noise, rel=0.1)
