"""A test plays Comp: what the mask hides, and what it does not."""

from math import gcd

import pytest

import lotor
from helpers import Outcome, run_openly, seen_by_comp
from tracker import other_arm, track

pytestmark = pytest.mark.filterwarnings("ignore::lotor.crypto.paillier.InsecureKeyWarning")


def ucb_run(budget: int, means: list[float]) -> Outcome:
    samba = lotor.Samba(lotor.UCB(), form="paper", insecure_key_bits=128)
    return run_openly(samba, lotor.BernoulliArms(means), budget=budget, seed=4)


def test_the_gcd_of_a_list_does_not_give_the_mask() -> None:
    """With alpha·v_i it would: alpha >= 2^64 divides them all."""
    lists = seen_by_comp(ucb_run(300, [0.1, 0.3, 0.5, 0.7, 0.9]))
    assert len(lists) == 295
    assert max(gcd(*values) for values in lists) < 1 << 40


def test_no_list_looks_like_another() -> None:
    lists = seen_by_comp(ucb_run(200, [0.5] * 4))
    values = [value for one in lists for value in one]
    assert len(set(values)) == len(values)


def test_a_tracker_recovers_every_count_and_reward() -> None:
    """The honest column of leakage.py: ratios of scores tell Comp all but the names."""
    outcome = ucb_run(120, [0.2, 0.5, 0.8])
    state = [[0, 0] for _ in range(3)]
    for _, decision, reward in outcome.recorder.pulls:
        if decision.round < outcome.run.budget:
            state[decision.arm][0] += 1
            state[decision.arm][1] += int(reward)
    truth = tuple(sorted((n, s) for n, s in state))
    assert track(seen_by_comp(outcome), 3) == {truth}


def test_with_two_arms_an_owner_recovers_the_other_one() -> None:
    """The honest column again: an owner's own data and bits determine the other arm's sum."""
    outcome = ucb_run(200, [0.3, 0.6])
    own: list[int | None] = [None] * 200
    for _, decision, reward in outcome.recorder.pulls:
        if decision.arm == 0:
            own[decision.round - 1] = int(reward)
    last = max(t for t, reward in enumerate(own, 1) if reward is not None)
    truth = sum(
        int(reward)
        for _, decision, reward in outcome.recorder.pulls
        if decision.arm == 1 and decision.round < last
    )
    assert other_arm(own) == {truth}
