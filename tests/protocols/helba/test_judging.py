"""Decisions held against exact arithmetic after the same rounds."""

from dataclasses import replace

import lotor
from lotor.core.fixed_point import RewardScale
from lotor.protocols.helba.judging import judged
from protocols.helba.stage import small


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
