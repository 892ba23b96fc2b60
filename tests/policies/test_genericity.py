from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lotor
from lotor.core.errors import PolicyError
from lotor.core.fixed_point import SCORE_LIMIT, to_scores
from lotor.crypto.derivation import derive_key
from lotor.crypto.prf import Prf
from lotor.policies import (
    KLUCB,
    REWARD_ONE,
    UCB,
    ArmStates,
    DiscountedUCB,
    Draws,
    EpsilonGreedy,
    Floats,
    Genericity,
    Policy,
    Pursuit,
    SlidingWindowUCB,
    Softmax,
    ThompsonSampling,
    check_genericity,
)

ONE = 1 << 40 + 64  # a score of 1 as `select` gets it in plain

local_policies = st.one_of(
    st.just(UCB()),
    st.builds(KLUCB, st.floats(0.0, 5.0)),
    st.builds(DiscountedUCB, st.floats(0.001, 0.9999), st.floats(0.01, 100.0)),
    st.builds(SlidingWindowUCB, st.integers(1, 60), st.floats(0.01, 100.0)),
    st.just(ThompsonSampling()),
    st.builds(EpsilonGreedy, st.floats(0.0, 1.0) | st.sampled_from(["1/ln", "1/log2"])),
    st.builds(Softmax, st.floats(2.0 / SCORE_LIMIT, 1e3)),
    st.builds(Pursuit, st.floats(0.0, 1.0, exclude_min=True)),
)


class Holder:
    """A party that holds some of k arms."""

    def __init__(self, policy: Policy, indices: Sequence[int], k: int) -> None:
        self.policy, self.indices = policy, list(indices)
        self.arms = ArmStates(len(self.indices), k)
        own = derive_key(b"genericity", "own")
        self.draws = Draws(Prf(own, self.indices), Prf(derive_key(b"genericity", "coin")))
        policy.start(self.arms)

    def score(self, t: int, l: int) -> Floats:
        return self.policy.score(self.arms, t, l, self.draws.at(t, l))

    def observe(self, t: int, l: int, winner: int) -> None:
        self.policy.observe(self.arms, t, l, np.array([i == winner for i in self.indices]))

    def learn(self, t: int, arm: int, reward: int) -> None:
        if arm in self.indices:
            self.policy.learn(self.arms, self.indices.index(arm), reward, self.draws.at(t, 0))


@given(
    local_policies,
    st.integers(1, 9),
    st.lists(st.integers(0, 4).map(lambda x: x * REWARD_ONE // 4), min_size=9, max_size=30),
)
def test_scores_are_bit_identical_however_arms_are_held(
    policy: Policy, k: int, rewards: list[int]
) -> None:
    together, alone = Holder(policy, range(k), k), [Holder(policy, [i], k) for i in range(k)]
    halves = [Holder(policy, range(k // 2), k), Holder(policy, range(k // 2, k), k)]
    for t, reward in enumerate(rewards, start=1):
        winner = t - 1
        for l in range(1, policy.iterations + 1) if t > k else ():
            scores = together.score(t, l)
            assert np.concatenate([one.score(t, l) for one in alone]).tobytes() == scores.tobytes()
            assert np.concatenate([h.score(t, l) for h in halves]).tobytes() == scores.tobytes()
            winner = int(to_scores(scores).argmax())
            for holder in (together, *alone, *halves):
                holder.observe(t, l, winner)
        if winner < k:
            for holder in (together, *alone, *halves):
                holder.learn(t, winner, reward)


@given(local_policies)
def test_the_local_policies_meet_both_conditions(policy: Policy) -> None:
    found = check_genericity(policy)
    assert found == Genericity(None, None)


@dataclass(frozen=True, slots=True)
class Parity(Policy):
    """Step (i) of the paper's example: odd indices in odd rounds, even ones in even rounds."""

    def score(self, arms: ArmStates, t: int, l: int, draw: Draws) -> Floats:
        return arms.mean

    def select(self, values: Sequence[int], t: int, l: int) -> int:
        kept = [i for i in range(len(values)) if i % 2 == t % 2]
        return max(kept, key=values.__getitem__)


@dataclass(frozen=True, slots=True)
class Threshold(Policy):
    """Step (ii) of the paper's example: means in [0.5, 1], if there are any."""

    def score(self, arms: ArmStates, t: int, l: int, draw: Draws) -> Floats:
        return arms.mean

    def select(self, values: Sequence[int], t: int, l: int) -> int:
        kept = [i for i, value in enumerate(values) if ONE // 2 <= value < ONE + (1 << 64)]
        return max(kept or range(len(values)), key=values.__getitem__)


@dataclass(frozen=True, slots=True)
class WorstUnlessGood(Policy):
    """The best arm where its mean is at least 0.5, else the worst: a lower bound alone."""

    def score(self, arms: ArmStates, t: int, l: int, draw: Draws) -> Floats:
        return arms.mean

    def select(self, values: Sequence[int], t: int, l: int) -> int:
        best = max(values)
        return values.index(best if best >= ONE // 2 else min(values))


@dataclass(frozen=True, slots=True)
class Unselectable(Policy):
    def score(self, arms: ArmStates, t: int, l: int, draw: Draws) -> Floats:
        return arms.mean

    def select(self, values: Sequence[int], t: int, l: int) -> int:
        return max(i for i, value in enumerate(values) if value < 0)


@pytest.mark.parametrize(
    ("policy", "reason"),
    [
        (Parity(), "permutation"),
        (Threshold(), "mask"),
        (Unselectable(), "cannot be selected"),
        (WorstUnlessGood(), "mask"),
    ],
)
def test_samba_refuses_what_cannot_be_selected_obliviously(policy: Policy, reason: str) -> None:
    found = check_genericity(policy)
    assert found.arm_score_locality is None
    assert found.oblivious_selection is not None
    assert reason in found.oblivious_selection
    with pytest.raises(PolicyError, match=f"oblivious selection .*{reason}"):
        lotor.Samba(policy)


@pytest.mark.parametrize("policy", [Parity(), Threshold()])
def test_the_strategies_of_the_paper_run_in_plain(policy: Policy) -> None:
    result = lotor.run(policy, lotor.BernoulliArms([0.9, 0.8, 0.1, 0.2]), budget=50, seed=1)
    assert result.arms is not None
    if isinstance(policy, Parity):
        assert [arm % 2 for arm in result.arms[4:]] == [t % 2 for t in range(5, 51)]


@dataclass(frozen=True, slots=True)
class ByFormula(Policy):
    """A policy whose score is a function of the arms and the round."""

    formula: Callable[[ArmStates, int], Floats]

    def score(self, arms: ArmStates, t: int, l: int, draw: Draws) -> Floats:
        return self.formula(arms, t)


@pytest.mark.parametrize(
    "formula",
    [
        lambda arms, t: arms.mean / (arms.mean.sum() + 1.0),
        lambda arms, t: arms.n / len(arms),
        lambda arms, t: arms.mean + (arms.mean == arms.mean.max()),
        lambda arms, t: arms.mean[[0, 1, 2, 3]],
        lambda arms, t: np.random.default_rng().random(len(arms)),
    ],
)
def test_scores_that_are_not_local_are_found(formula: Callable[[ArmStates, int], Floats]) -> None:
    found = check_genericity(ByFormula(formula))
    assert found.arm_score_locality is not None
    assert found.oblivious_selection is None
    assert found != Genericity(None, None)


def test_unusable_scores_are_an_error() -> None:
    with pytest.raises(PolicyError, match="outside"):
        check_genericity(ByFormula(lambda arms, t: arms.mean - 1.0))
