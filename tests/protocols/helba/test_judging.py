"""Decisions held against exact arithmetic after the same rounds."""

from dataclasses import replace
from math import inf
from unittest.mock import patch

import lotor
from lotor.core.fixed_point import RewardScale
from lotor.policies.optimistic import BatchedOFUL
from lotor.protocols.helba.paper.judging import judged
from protocols.helba.stage import setting_of, small


def test_the_decisions_of_the_plain_twin_are_exact() -> None:
    helba, toy = small(), lotor.LinearContexts.toy(30, seed=3)
    scale = RewardScale(*toy.reward_range)
    setting = helba.setting("run", budget=30, arms=2, d=2, scale=scale)
    plain = lotor.run(helba.plain(), toy, budget=30, seed=1)
    found = judged(setting, toy, 1, plain.arms or [])
    assert all(one.same and not one.wrong for one in found)
    assert [one.t for one in found] == list(range(1, 31))
    assert any(one.gap > one.resolution for one in found)


def test_another_arm_is_wrong_above_the_resolution_only() -> None:
    helba, toy = small(), lotor.LinearContexts.toy(30, seed=3)
    scale = RewardScale(*toy.reward_range)
    setting = helba.setting("run", budget=30, arms=2, d=2, scale=scale)
    arms = list(lotor.run(helba.plain(), toy, budget=30, seed=1).arms or [])
    arms[10] = 1 - arms[10]
    found = judged(setting, toy, 1, arms)
    assert found[9].same
    assert not found[10].same
    assert replace(found[10], gap=1.0, resolution=0.5).wrong
    assert not replace(found[10], gap=0.5, resolution=1.0).wrong


def test_nothing_is_judged_once_a_batch_may_be_another() -> None:
    policy = BatchedOFUL(index="sqrt", C=1, eta=1)
    toy = lotor.LinearContexts.toy(12, seed=3)
    setting = setting_of(small(policy, stages=3), rounds=12, arms=2, d=2)
    arms = lotor.run(policy, toy, budget=12, seed=1).arms or []
    kind = type(setting.circuit)
    with patch.object(kind, "switch_resolution", lambda _: 1e-9):
        assert all(one.resolution < inf for one in judged(setting, toy, 1, arms))
    with patch.object(kind, "switch_resolution", lambda _: 1.0):
        found = judged(setting, toy, 1, arms)
    assert found[0].resolution < inf
    assert found[-1].resolution == inf
    assert not any(one.wrong for one in found)
