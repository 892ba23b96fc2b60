"""LUCB finds the best arm, stops when it is sure, and says how sure it is."""

from math import exp, log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lotor
from lotor.core.errors import InputError, PolicyError
from lotor.core.fixed_point import REWARD_ONE
from lotor.policies import LUCB, ArmStates, check_genericity

histories = st.lists(st.lists(st.integers(0, 4), min_size=1, max_size=60), min_size=2, max_size=6)


def states(history: list[list[int]]) -> ArmStates:
    arms = ArmStates(len(history), len(history))
    for arm, rewards in enumerate(history):
        for reward in rewards:
            arms.add(arm, reward * REWARD_ONE // 4)
    return arms


def bound(arms: ArmStates, arm: int, delta: float) -> float:
    t = float(arms.n.sum())
    return sqrt(log(1.25 * arms.k * t**4 / delta) / (2 * float(arms.n[arm])))


def textbook(arms: ArmStates, delta: float, epsilon: float) -> tuple[int, int, bool]:
    """Leader, challenger and whether to stop, as the paper defines them."""
    means = arms.mean.tolist()
    leader = means.index(max(means))
    others = [arm for arm in range(arms.k) if arm != leader]
    challenger = max(others, key=lambda arm: means[arm] + bound(arms, arm, delta))
    lower = means[leader] - bound(arms, leader, delta)
    upper = means[challenger] + bound(arms, challenger, delta)
    return leader, challenger, upper - lower < epsilon


@given(histories, st.sampled_from([0.01, 0.1, 0.5]), st.sampled_from([0.0, 0.1, 0.6]))
def test_it_is_the_papers(history: list[list[int]], delta: float, epsilon: float) -> None:
    arms, policy = states(history), LUCB(delta, epsilon)
    leader, challenger, stop = textbook(arms, delta, epsilon)
    found = policy.found(arms)
    assert found is not None
    assert found.arm == leader
    assert found.sure == stop
    scores = policy.score(arms, 1, 1, None)  # type: ignore[arg-type]
    pulled = set(np.flatnonzero(scores == scores.max()).tolist())
    assert pulled <= {leader, challenger}
    assert {int(arms.n[arm]) for arm in pulled} == {int(min(arms.n[leader], arms.n[challenger]))}


@given(histories, st.sampled_from([0.0, 0.1, 0.6]))
def test_its_confidence_is_the_most_with_which_it_would_stop(
    history: list[list[int]], epsilon: float
) -> None:
    arms = states(history)
    found = LUCB(0.05, epsilon).found(arms)
    assert found is not None
    assert 0.0 <= found.confidence <= 1.0
    wrong = 1.0 - found.confidence
    if 1e-12 < wrong < 0.999:
        assert LUCB(min(wrong * 1.001, 0.9999), epsilon).found(arms).sure  # type: ignore[union-attr]
        assert not LUCB(wrong * 0.999, epsilon).found(arms).sure  # type: ignore[union-attr]


def test_the_union_over_all_rounds_stays_below_delta() -> None:
    """Sum over t, arms and counts of exp(-2 n beta^2): a bound fails once with at most delta."""
    k, delta = 7, 0.05
    failing = 0.0
    for t in range(1, 300):
        level = log(1.25 * k * t**4 / delta)
        failing += k * sum(exp(-2 * n * (level / (2 * n))) for n in range(1, t + 1))
    assert 0.9 * delta < failing < delta


@pytest.mark.parametrize("means", [[0.3, 0.7], [0.2, 0.9, 0.5, 0.4], [0.05, 0.05, 0.6]])
def test_it_names_the_best_arm_and_stops_early(means: list[float]) -> None:
    """At most 5 % may be wrong; on these seeds none is."""
    right = 0
    for seed in range(20):
        result = lotor.run(LUCB(0.05), lotor.BernoulliArms(means), budget=20_000, seed=seed)
        assert result.best is not None
        assert (result.best.sure, result.ended) == (True, "sure")
        assert result.best.confidence > 0.95
        assert result.rounds < 5_000
        assert result.reward == sum(result.rewards or ())
        right += result.best.arm == int(np.argmax(means))
    assert right >= 19


def test_it_pulls_less_where_it_may_be_wrong_more_often_or_by_more() -> None:
    arms = lotor.BernoulliArms([0.4, 0.6, 0.5])
    sure, bold, near = (
        lotor.run(policy, arms, budget=50_000, seed=3).rounds
        for policy in (LUCB(0.01), LUCB(0.5), LUCB(0.01, epsilon=0.2))
    )
    assert sure > bold > near


def test_a_budget_that_is_too_small_is_said() -> None:
    arms = lotor.BernoulliArms({"drug A": 0.5, "drug B": 0.6})
    result = lotor.run(LUCB(0.05), arms, budget=200, seed=1)
    assert result.best is not None
    assert not result.best.sure
    assert (result.ended, result.rounds) == ("by itself", 200)
    assert result.best.confidence < 0.95
    assert "best perhaps drug" in repr(result)
    assert lotor.Result.from_json(result.to_json()) == result


def test_a_result_says_which_arm_is_best() -> None:
    arms = lotor.BernoulliArms({"drug A": 0.1, "drug B": 0.9})
    result = lotor.run(LUCB(0.05), arms, budget=2_000, seed=1)
    assert result.best is not None
    percent = int(1000 * result.best.confidence) / 10
    assert f"best drug B with a confidence of {percent:g} %" in repr(result)
    assert lotor.run(lotor.UCB(), arms, budget=9, seed=1).finding == ""


def test_one_arm_is_the_best() -> None:
    result = lotor.run(LUCB(), lotor.BernoulliArms([0.5]), budget=9, seed=1)
    assert (result.rounds, result.ended, result.best.arm) == (1, "sure", 0)  # type: ignore[union-attr]


def test_a_range_of_rewards_is_mapped_first() -> None:
    """Epsilon and means are shares of the range, so that a unit changes nothing."""

    class Hundredfold:
        k, reward_range = 3, (0.0, 100.0)

        def start(self, seed: int) -> lotor.environments.PullFunction:
            pull = lotor.BernoulliArms([0.2, 0.7, 0.4]).start(seed)
            return lambda decision: 100.0 * pull(decision)

    small = lotor.run(LUCB(), lotor.BernoulliArms([0.2, 0.7, 0.4]), budget=3_000, seed=2)
    large = lotor.run(LUCB(), Hundredfold(), budget=3_000, seed=2)
    assert small.arms == large.arms
    assert (small.best, 100 * small.reward) == (large.best, large.reward)


def test_step_by_step_it_says_when_it_is_done() -> None:
    arms = lotor.BernoulliArms({"drug A": 0.2, "drug B": 0.8})
    result = lotor.run(LUCB(), arms, budget=5_000, seed=4)
    bandit, pull = lotor.Bandit(LUCB(), arms.names or 2, seed=4), arms.start(4)
    asked = []
    assert (bandit.done, bandit.confidence) == (False, 0.0)
    while not bandit.done:
        name = bandit.ask()
        asked.append(["drug A", "drug B"].index(str(name)))
        bandit.tell(name, pull(lotor.Decision.named("mine", len(asked), asked[-1])))
    assert asked == result.arms
    assert (bandit.best, bandit.confidence) == ("drug B", result.best.confidence)  # type: ignore[union-attr]


def test_other_policies_are_never_done() -> None:
    bandit = lotor.Bandit(lotor.UCB(), 2)
    assert (bandit.done, bandit.best, bandit.confidence) == (False, None, None)


def test_a_federation_refuses_it_with_the_reason() -> None:
    with pytest.raises(PolicyError, match=r"arm score locality .* sure of the best arm"):
        lotor.Samba(LUCB())
    assert check_genericity(LUCB()).oblivious_selection is None


@pytest.mark.parametrize(
    ("parameters", "complaint"),
    [
        ({"delta": 0.0}, "delta is 0.0, the probability that a wrong arm is named"),
        ({"delta": 1.0}, "between 0 and 1"),
        ({"delta": float("nan")}, "delta is nan"),
        ({"epsilon": -0.1}, "epsilon is -0.1, the share of the reward range"),
        ({"epsilon": 1.0}, "from 0 to below 1"),
        ({"epsilon": "few"}, "epsilon is 'few': give a number"),
    ],
)
def test_unusable_parameters_are_refused(parameters: dict[str, float], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        LUCB(**parameters)
