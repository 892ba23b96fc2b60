"""Encrypted rounds: every decision above the stated resolution is the exact one."""

from collections import Counter

import numpy as np
import pytest
from helba_simulation import InClear, UnderEncryption, renewed, repeat

import lotor
from lotor.crypto.ckks import Encrypted
from lotor.policies.optimistic import BatchedOFUL
from lotor.protocols.helba.paper.complexity import per_round, per_update, whole_run
from lotor.protocols.helba.paper.forecast import HelbaForecast
from lotor.protocols.helba.paper.index_circuit import plus
from lotor.protocols.helba.paper.setting import HelbaSetting
from protocols.helba.stage import beside_exact, setting_of, small, some_contexts

# arms, d, stages: adjugates of all sizes, an inverse, a product over pairs; for d = 2 in blocks,
# but for ten arms, which leave no room for them in this ring.
SIZES = [(2, 2, 4), (4, 2, 3), (10, 2, 2), (3, 3, 3), (2, 4, 3), (2, 5, 3), (2, 6, 2)]


def lanes_of(arms: int) -> int:
    """How many repetitions are compared, of those for which a small ring has room."""
    return 8 if arms < 10 else 3


@pytest.mark.parametrize(("arms", "d", "stages"), SIZES)
def test_decisions_and_counts(arms: int, d: int, stages: int) -> None:
    rounds = 3 if d < 6 else 2
    setting = setting_of(small(stages=stages), rounds=rounds, arms=arms, d=d)
    lanes = range(lanes_of(arms))
    environments = [some_contexts(s, rounds=rounds, arms=arms, d=d) for s in lanes]
    server = UnderEncryption(setting)
    decided = list(beside_exact(setting, repeat(setting, environments, lanes, server)))
    assert all(one.same for one in decided if one.gap >= one.resolution)
    assert any(one.gap >= one.resolution for one in decided)
    counted: Counter[tuple[str, int]] = Counter()
    for (operation, level), count in server.evaluator.counts.items():
        if operation not in ("add", "add_plain"):
            counted["multiply" if operation == "square" else operation, level] += count
    expected: Counter[tuple[str, int]] = Counter()
    for _ in range(rounds):
        expected.update(per_round(setting))
        expected.update(per_update(setting))
    assert counted == expected


def value_error(setting: HelbaSetting, t: int) -> float:
    """The largest error of a difference in round t, relative to its bound."""
    terms, packing, circuit = setting.terms, setting.packing, setting.circuit
    draw = np.random.default_rng(t)
    lanes = lanes_of(terms.arms)
    length = terms.learner.L / np.sqrt(terms.d)
    contexts = draw.uniform(-length, length, (t, lanes, terms.d))
    clear, hidden = InClear(setting), UnderEncryption(setting)
    plain = tuple(clear.first(value) for value in packing.ridge())
    encrypted = tuple(hidden.first(value) for value in packing.ridge())
    for x in contexts[1:]:
        slots = packing.update(x, draw.uniform(-1, 1, lanes))
        plain, encrypted = plus(plain, slots), plus(encrypted, hidden.update(slots))
    x = draw.uniform(-length, length, (lanes, terms.arms, terms.d))
    tables = packing.contexts(x, t, t)
    exact = circuit.differences(renewed(circuit, plain, t, clear), tables, t, t)
    estimate = renewed(circuit, encrypted, t, hidden)
    found = circuit.differences(estimate, hidden.contexts(tables), t, t)
    assert isinstance(found, Encrypted)
    decrypted = hidden.decrypt(found)
    return float(np.abs(decrypted - exact).max() / setting.circuit.polynomial.factor)


@pytest.mark.parametrize("t", [2, 6])
@pytest.mark.parametrize(("arms", "d", "stages"), SIZES[:-1])
def test_differences_are_as_exact_as_the_plan_says(arms: int, d: int, stages: int, t: int) -> None:
    """At the end of a short run, and at the beginning of a long one, where V is small."""
    for rounds in (t, 130):
        setting = setting_of(small(stages=stages), rounds=rounds, arms=arms, d=d)
        assert value_error(setting, t) < HelbaForecast(setting).arithmetic_error(t, t)


@pytest.mark.parametrize("eta", [0.0, 0.5])
def test_a_run_equals_plain(eta: float) -> None:
    """Through messages, with sealed keys; each gap of this seed is above the resolution."""
    helba = small(BatchedOFUL(eta=eta))
    toy = lotor.LinearContexts.toy(6, seed=5)
    secure = lotor.run(helba, toy, budget=6, seed=1)
    plain = lotor.run(helba.plain(), toy, budget=6, seed=1)
    assert secure.arms == plain.arms
    assert secure.reward == plain.reward
    counts = secure.operations
    expected = whole_run(setting_of(helba, rounds=6, arms=2, d=2))
    assert counts["ckks_multiply"] + counts["ckks_square"] == expected["multiply"]
    assert counts["ckks_relinearise"] == expected["relinearise"]
    assert counts["ckks_floods"] == counts["ckks_decryptions"] == 6
    assert counts["ckks_encryptions"] == 2 * 6 + 2 * 5


@pytest.mark.long
@pytest.mark.parametrize(
    ("arms", "d", "rounds"), [(2, 2, 12), (10, 2, 3), (5, 5, 3)], ids=["toy", "K=10", "d=5"]
)
def test_real_parameters(arms: int, d: int, rounds: int) -> None:
    setting = setting_of(lotor.Helba(form="paper"), rounds=rounds, arms=arms, d=d)
    assert setting.parameters.degree == 32768
    environments = [some_contexts(s, rounds=rounds, arms=arms, d=d) for s in range(25)]
    server = UnderEncryption(setting)
    decided = list(beside_exact(setting, repeat(setting, environments, range(25), server)))
    assert all(one.same for one in decided if one.gap >= one.resolution)
    assert value_error(setting, rounds) < HelbaForecast(setting).arithmetic_error(rounds, rounds)
