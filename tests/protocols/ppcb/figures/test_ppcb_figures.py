"""The figures of PPCB: what they run, what comes of it, and what they say of it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from math import log

import numpy as np
import pytest

from lotor.core.frames import number, rows_of
from lotor.protocols.cell import AnyCell, Label, Outcome, RunCell
from lotor.protocols.figure import DataFiles
from lotor.protocols.ppcb.dealt.complexity import OURS
from lotor.protocols.ppcb.figures.membership import (
    DESCRIBED,
    HELD_OUT,
    PROGRAM,
    MembershipTask,
    PPCBMembership,
    advantages,
    members_and_others,
)
from lotor.protocols.ppcb.figures.operations import (
    ADDITION,
    ARGMAX,
    MULTIPLICATION,
    OPERATIONS,
    RECIPROCAL,
    STEP,
    OperationTask,
    PPCBOperations,
)
from lotor.protocols.ppcb.figures.precision import (
    BITS,
    COUNTED,
    IGNORED,
    ITERATIONS,
    PLAIN,
    SECURE,
    SECURE_BITS,
    PPCBNewton,
    PPCBPrecision,
)
from lotor.protocols.ppcb.figures.privacy import PPCBPrivacy, PPCBPrivacyByArms
from lotor.protocols.ppcb.figures.reward import PPCBReward
from lotor.protocols.ppcb.figures.running_time import PPCBTimeOverArms, PPCBTimeOverParties
from lotor.protocols.ppcb.figures.setting import EPSILONS, clusters, digits, in_order
from lotor.studies.outcomes import outcome_of

NONE = DataFiles()


def runs(cells: Sequence[AnyCell]) -> list[RunCell]:
    assert all(isinstance(cell, RunCell) for cell in cells)
    return [cell for cell in cells if isinstance(cell, RunCell)]


def earned(labels: Mapping[str, Label], reward: float, *, rounds: int = 100) -> Outcome:
    figures = {"reward": rounds * reward, "rounds": float(rounds)}
    return Outcome(
        labels={"data": "MNIST", **labels},
        figures=figures,
        at=[rounds],
        rewards=[rounds * reward],
    )


@pytest.mark.long
def test_the_less_is_explored_the_more_is_earned() -> None:
    """Of the quick size's runs, some; and the secure protocol's rewards are those of plain."""
    figure = PPCBReward()
    outcomes = []
    for cell in runs(figure.cells("quick", NONE)):
        if cell.labels["form"] == "secure":
            outcomes.append(outcome_of(replace(cell, budget=200)))
        elif cell.seed < 4:
            outcomes.append(outcome_of(cell))
    table = figure.table(outcomes)
    ends = [rows_of(table, epsilon=epsilon, form="plain")[-1] for epsilon in EPSILONS]
    assert list(EPSILONS) == sorted(EPSILONS)
    assert all(row["round"] == 10_000 for row in ends)
    rewards = [number(row["average reward"]) for row in ends]
    assert all(more > less + 0.01 for more, less in pairwise(rewards))
    ordered, same = figure.found(table)
    assert "the less is explored, the more is earned" in ordered
    assert "the same as plain's at all 4 points of the 4 runs" in same


@pytest.mark.parametrize(
    ("rewards", "ordered"), [((0.9, 0.8, 0.7, 0.6), 1), ((0.8, 0.9, 0.7, 0.6), 0)]
)
def test_an_order_that_is_not_there_is_not_claimed(
    rewards: tuple[float, ...], ordered: int
) -> None:
    outcomes = [
        earned({"epsilon": epsilon, "form": form}, reward + off)
        for epsilon, reward in zip(EPSILONS, rewards, strict=True)
        for form, off in (("plain", 0.0), ("secure", 0.03))
    ]
    figure = PPCBReward()
    said = figure.found(figure.table(outcomes))
    assert ("the less is explored" in said[0]) == bool(ordered)
    assert "up to 3 off plain's" in said[1]


def test_runs_have_the_same_contexts_in_orders_of_their_own() -> None:
    arms = digits(None, 500)
    first, second = in_order(arms, 1), in_order(arms, 2)
    assert first.contexts.tolist() != second.contexts.tolist()
    for one in (first, second):
        assert sorted(map(tuple, one.contexts.tolist())) == sorted(
            map(tuple, arms.contexts.tolist())
        )


def test_privacy_is_that_of_a_step_and_infinite_without_exploration() -> None:
    rewards = {0.0: 0.7, 0.1: 0.8, 1.0: 0.1}
    outcomes = [
        earned({"arms": 10, "epsilon": epsilon}, reward + off)
        for epsilon, reward in rewards.items()
        for off in (-0.01, 0.01)
    ]
    figure = PPCBPrivacy()
    table = figure.table(outcomes)
    etas = dict(zip(table["epsilon"], table["η"], strict=True))
    assert etas == {0.0: None, 0.1: pytest.approx(log(100)), 1.0: pytest.approx(log(10))}
    (said,) = figure.found(table)
    assert "largest reward is 0.800 ± 0.014 a round at η = 4.6 (ε = 0.1)" in said
    assert "η = ∞, it is 0.700" in said


def test_more_clusters_pay_more_to_who_knows_the_best_one() -> None:
    contexts = digits(None, 2_000)
    few, many = (clusters(contexts, k) for k in (10, 40))
    assert few.drawn
    assert few.rewards.max(axis=1).mean() < many.rewards.max(axis=1).mean()
    cells = runs(PPCBPrivacyByArms().cells("quick", NONE))
    assert {cell.labels["arms"] for cell in cells} == {cell.environment.k for cell in cells}


def test_times_are_compared_with_the_squares_of_the_paper() -> None:
    outcomes = [
        Outcome(
            labels={"data": "MNIST", "arms": arms, "form": form, "parties": parties},
            figures={"cpu_seconds": seconds, "rounds": 10.0},
        )
        for arms in (10, 20, 40, 80)
        for form, parties, seconds in (
            ("plain", 1, 0.001),
            ("secure", 2, 0.01 * arms),
            ("secure", 8, 0.015 * arms),
        )
    ]
    by_arms, by_parties = PPCBTimeOverArms(), PPCBTimeOverParties()
    grows, ratio = by_arms.found(by_arms.table(outcomes))
    assert "power 1.00 of their number up to 40 arms and with the power 1.00 beyond" in grows
    assert "100 times plain with 10 arms" in ratio
    said = by_parties.found(by_parties.table(outcomes))
    assert len(said) == 4
    assert "10.00 ms with 2 parties and 15.00 ms with 8, 1.50 times as much" in said[0]
    assert "16 times as large" in said[0]


def test_members_and_others_are_different_images() -> None:
    members, others = members_and_others(None, 300)
    assert (len(members.labels), len(others.labels)) == (300, 10_000)
    assert not {*map(tuple, members.contexts.tolist())} & {*map(tuple, others.contexts.tolist())}


def test_an_advantage_is_1_where_answers_tell_and_0_where_they_do_not() -> None:
    right, wrong = np.full(40, 7), np.full(40, 6)
    assert advantages(right, wrong) == {DESCRIBED: 1.0, PROGRAM: 1.0, HELD_OUT: 1.0}
    assert advantages(right, right) == {DESCRIBED: 0.0, PROGRAM: 0.0, HELD_OUT: 0.0}


def test_chance_is_an_advantage_to_who_guesses_what_it_has_counted() -> None:
    random = np.random.default_rng(7)
    found = [advantages(*random.integers(20, size=(2, 200))) for _ in range(40)]
    means = {way: np.mean([one[way] for one in found]) for way in found[0]}
    assert means[DESCRIBED] > 0.1
    assert means[PROGRAM] > 0.02
    assert abs(means[HELD_OUT]) < 0.05


def test_a_model_is_attacked_at_each_stage() -> None:
    found = MembershipTask(None, 0.1, (30, 60), seed=1).measure()
    ways = (DESCRIBED, PROGRAM, HELD_OUT)
    assert set(found) == {f"{way} {t}" for t in (30, 60) for way in ways}
    outcomes = [
        Outcome(labels={"data": "MNIST", "epsilon": epsilon}, figures=dict(found))
        for epsilon in EPSILONS
    ]
    figure = PPCBMembership()
    table = figure.table(outcomes)
    assert len(rows_of(table, epsilon=EPSILONS[0], measured=PROGRAM)) == 2
    assert len(figure.found(table)) == len(EPSILONS) + 1


def test_an_advantage_is_sure_where_it_is_beyond_its_error() -> None:
    outcomes = [
        Outcome(
            labels={"data": "MNIST", "epsilon": epsilon},
            figures={"described 10": 0.1, "program 10": 0.1, "halves 10": mean + off},
        )
        for epsilon, mean in zip(EPSILONS, (0.0, 0.01, 0.1, -0.1), strict=True)
        for off in (-0.01, 0.0, 0.01)
    ]
    figure = PPCBMembership()
    last = figure.found(figure.table(outcomes))[-1]
    assert "above 0 at 1 of 4 points" in last


def test_what_the_arithmetic_of_the_paper_loses_is_told_by_its_cause() -> None:
    def reward(arithmetic: str, bits: int) -> float:
        lost = bits < 14 or (arithmetic == IGNORED and bits > 22)
        return 0.2 if lost else 0.8

    outcomes = [earned({"arithmetic": PLAIN, "bits": "any"}, 0.8)]
    for arithmetic, tried in ((IGNORED, BITS), (COUNTED, BITS), (SECURE, SECURE_BITS)):
        outcomes += [
            earned({"arithmetic": arithmetic, "bits": bits}, reward(arithmetic, bits))
            for bits in tried
        ]
    figure = PPCBPrecision()
    said = " ".join(figure.found(figure.table(outcomes)))
    assert "with 8, 10, 12, 24, 26, 28 bits, and with η_xr computed with 8, 10, 12 bits" in said
    assert "so with η_xr = 0 it needs 14, 16, 18, 20, 22 bits" in said
    kinds = {
        (cell.labels["arithmetic"], cell.labels["bits"]) for cell in figure.cells("quick", NONE)
    }
    assert kinds == {(one.labels["arithmetic"], one.labels["bits"]) for one in outcomes}


@pytest.mark.parametrize(
    ("low", "said"),
    [
        ((0, 1), "From 2 iterations on"),
        ((), "From 0 iterations on"),
        (ITERATIONS, "No number of iterations is enough here"),
    ],
)
def test_how_many_iterations_are_enough_is_computed(low: Sequence[int], said: str) -> None:
    outcomes = [earned({"arithmetic": one, "iterations": "any"}, 0.8) for one in (PLAIN, SECURE)]
    outcomes += [
        earned({"arithmetic": IGNORED, "iterations": n}, 0.3 if n in low else 0.79)
        for n in ITERATIONS
    ]
    figure = PPCBNewton()
    assert said in " ".join(figure.found(figure.table(outcomes)))


def test_operations_take_the_rounds_that_complexity_has() -> None:
    inputs = 1  # of a product, masked in a round of their own
    measured = {one: OperationTask(one, repeats=1).measure() for one in OPERATIONS}
    rounds = {one: figures["rounds"] for one, figures in measured.items()}
    assert rounds[ADDITION] == int(OURS["addition"])
    assert rounds[MULTIPLICATION] == int(OURS["multiplication"]) + inputs
    assert rounds[RECIPROCAL] == int(OURS["reciprocal"])
    assert f"{rounds[ARGMAX]:.0f}" in OURS["argmax"]
    assert all(figures["secure"] > 0 < figures["plain"] for figures in measured.values())


def test_slow_downs_stand_beside_the_published_ones() -> None:
    outcomes = [
        Outcome(labels={"operation": one}, figures={"secure": 2e-4, "plain": 1e-6, "rounds": 2.0})
        for one in OPERATIONS
    ]
    for form, seconds in (("secure", 0.2), ("plain", 0.002)):
        figures = {"cpu_seconds": seconds, "rounds": 100.0, "operations rounds": 600.0}
        outcomes.append(Outcome(labels={"operation": STEP, "form": form}, figures=figures))
    figure = PPCBOperations()
    table = figure.table(outcomes)
    assert table["slow-down"] == pytest.approx([200, 200, 200, 200, 100])
    assert table["published slow-down"] == [11, 380, 6_000, 34_000, 500]
    assert number(table["rounds"][-1]) == 6
