"""The paper's index under encryption: decisions, batches, errors and counts."""

from collections import Counter
from collections.abc import Mapping

import pytest
from helba_simulation import UnderEncryption, repeat

import lotor
from helpers import run_openly
from lotor.protocols.helba.paper.complexity import per_round, per_switch, per_update, whole_run
from lotor.protocols.helba.paper.forecast import HelbaForecast
from lotor.protocols.helba.paper.judging import judged
from lotor.protocols.helba.paper.messages import BatchDecision
from lotor.protocols.helba.paper.root import RootCircuit
from protocols.helba.stage import beside_exact, paper, setting_of, small, some_contexts
from protocols.helba.test_encrypted import value_error

# The published form, which takes its time; what `make test` runs covers its common case.
pytestmark = pytest.mark.long


@pytest.mark.parametrize(("arms", "d", "stages"), [(2, 2, 4), (3, 2, 4), (2, 3, 3)])
def test_decisions_and_counts(arms: int, d: int, stages: int) -> None:
    rounds, lanes = 5, 6
    setting = setting_of(small(paper(None, 0.5), stages=stages), rounds=rounds, arms=arms, d=d)
    environments = [some_contexts(s, rounds=rounds, arms=arms, d=d) for s in range(lanes)]
    server = UnderEncryption(setting)
    done = list(repeat(setting, environments, range(lanes), server))
    decided = list(beside_exact(setting, done))
    assert all(one.same for one in decided if one.gap >= one.resolution)
    assert any(one.gap >= one.resolution for one in decided)
    expected: Counter[tuple[str, int]] = Counter()
    for _ in range(rounds):
        expected.update(per_round(setting))
    for start in {one.start for one in done}:
        expected.update(per_update(setting, start))
    assert counted(server) == expected


def counted(server: UnderEncryption) -> Counter[tuple[str, int]]:
    counts: Counter[tuple[str, int]] = Counter()
    for (operation, level), count in server.evaluator.counts.items():
        if operation not in ("add", "add_plain"):
            counts["multiply" if operation == "square" else operation, level] += count
    return counts


@pytest.mark.parametrize(("arms", "d", "stages"), [(2, 2, 4), (3, 2, 4), (2, 4, 3)])
@pytest.mark.parametrize("rounds", [4, 130])
def test_differences_are_as_exact_as_the_plan_says(
    arms: int, d: int, stages: int, rounds: int
) -> None:
    """Beside the same polynomial in clear: what encryption adds is far below the root's error."""
    setting = setting_of(small(paper(None, 0.0), stages=stages), rounds=rounds, arms=arms, d=d)
    circuit = RootCircuit.of(setting.circuit)
    added = HelbaForecast(setting).arithmetic_error(4, 4) - circuit.root_error(4, 4)
    assert value_error(setting, 4) < added < 0.02 * circuit.root_error(4, 4)


@pytest.mark.parametrize(
    ("rounds", "seed"), [(10, 5), pytest.param(24, 117, marks=pytest.mark.long)]
)
def test_a_run_equals_plain(rounds: int, seed: int) -> None:
    """5 or 8 batches, by messages; each gap of these seeds is above the resolution."""
    helba = small(paper(1.0, 0.7))
    toy = lotor.LinearContexts.toy(rounds, seed=seed)
    secure = run_openly(helba, toy, budget=rounds, seed=1)
    plain = lotor.run(helba.plain(), toy, budget=rounds, seed=1)
    setting = setting_of(helba, rounds=rounds, arms=2, d=2)
    assert all(one.same and one.clear for one in judged(setting, toy, 1, secure.arms))
    assert secure.arms == plain.arms
    assert secure.seats["user"].output == plain.reward
    verdicts = [
        seen.message.new
        for seen in secure.recorder.received("user")
        if isinstance(seen.message, BatchDecision)
    ]
    # All others are due by eta.
    asked, ended = len(verdicts), sum(verdicts)
    updates = plain.operations["updates"]
    assert updates == rounds - 1 - asked + ended >= 5
    assert ended > 0
    check_operations(secure.parties["server"].operations(), rounds, asked, updates)


def check_operations(counts: Mapping[str, int], rounds: int, asked: int, updates: int) -> None:
    setting = setting_of(small(paper(1.0, 0.7)), rounds=rounds, arms=2, d=2)
    assert counts["ckks_floods"] == rounds + asked
    assert counts["ckks_rotate"] == rounds
    plain = rounds * each(per_round(setting)) + asked * each(per_switch(setting))
    plain += updates * each(per_update(setting))
    assert counts["ckks_multiply_plain"] == plain


def each(counts: Counter[tuple[str, int]]) -> int:
    return sum(count for (operation, _), count in counts.items() if operation == "multiply_plain")


def test_a_schedule_without_condition_8() -> None:
    """No bit is told, and the plan has every operation."""
    helba, toy = small(paper(None, 0.5), stages=3), lotor.LinearContexts.toy(6, seed=5)
    secure = lotor.run(helba, toy, budget=6, seed=1)
    assert secure.arms == lotor.run(helba.plain(), toy, budget=6, seed=1).arms
    expected = whole_run(setting_of(helba, rounds=6, arms=2, d=2))
    counts = secure.operations
    assert counts["ckks_multiply"] + counts["ckks_square"] == expected["multiply"]
    for operation in ("relinearise", "rescale", "rotate", "multiply_plain"):
        assert counts[f"ckks_{operation}"] == expected[operation]
    # Contexts, updates, three refreshed estimates, which are read in two parts each.
    assert counts["ckks_encryptions"] == 5 * 6 + 5 * 5 + 5 * 3
    assert counts["ckks_decryptions"] == 6 + 2 * 5 * 3


def test_three_arms() -> None:
    helba = small(paper(0.5, 1.0))
    contexts = some_contexts(3, rounds=7, arms=3, d=2)
    secure = lotor.run(helba, contexts, budget=7, seed=1)
    setting = setting_of(helba, rounds=7, arms=3, d=2)
    decided = judged(setting, contexts, 1, secure.arms or [])
    assert not any(one.wrong for one in decided)
    assert any(one.gap > one.resolution for one in decided)


@pytest.mark.long
def test_real_parameters() -> None:
    """20 rounds at 128 bits, with condition (8) and at least 5 new estimates."""
    helba, toy = lotor.Helba(paper(1.0, 0.5), form="paper"), lotor.LinearContexts.toy(20, seed=23)
    setting = setting_of(helba, rounds=20, arms=2, d=2)
    assert (setting.parameters.degree, setting.parameters.levels) == (32768, 19)
    secure = lotor.run(helba, toy, budget=20, seed=1)
    plain = lotor.run(helba.plain(), toy, budget=20, seed=1)
    assert plain.operations["updates"] >= 5
    assert all(one.same and one.clear for one in judged(setting, toy, 1, secure.arms or []))
    assert secure.arms == plain.arms
    circuit = RootCircuit.of(setting.circuit)
    added = HelbaForecast(setting).arithmetic_error(6, 6) - circuit.root_error(6, 6)
    assert value_error(setting, 6) < added
