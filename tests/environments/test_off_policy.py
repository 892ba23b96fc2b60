"""Estimates from a log: unbiased over all logs, and equal where they must be."""

from collections.abc import Callable, Iterator
from itertools import product
from math import inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lotor.core.errors import InputError
from lotor.core.fixed_point import Floats
from lotor.environments import (
    LoggedArms,
    OffPolicyEstimate,
    doubly_robust,
    fitted_rewards,
    ips,
    self_normalised_ips,
)

# Two contexts, three arms: how probable each context is, who logged, who is judged, what arms pay.
CONTEXTS = [[0.0], [1.0]]
CHANCE = np.array([0.25, 0.75])
LOGGING = np.array([[0.5, 0.25, 0.25], [0.125, 0.625, 0.25]])
TARGET = np.array([[0.0, 1.0, 0.0], [0.5, 0.25, 0.25]])
MEANS = np.array([[0.25, 0.5, 0.75], [0.5, 0.0, 1.0]])
VALUE = float((CHANCE[:, np.newaxis] * TARGET * MEANS).sum())

seeds = st.integers(0, 2**32)

UNTRIED = "the log never chose arm"
# Among all logs there are some without an arm.
among_all_logs = pytest.mark.filterwarnings(f"ignore:{UNTRIED}:UserWarning")


def events() -> Iterator[tuple[float, int, int, int]]:
    """Every event with its probability: context, arm and reward, which is 0 or 1."""
    for x, arm, reward in product(range(2), range(3), range(2)):
        paid = MEANS[x, arm] if reward else 1 - MEANS[x, arm]
        yield float(CHANCE[x] * LOGGING[x, arm] * paid), x, arm, reward


def of_context(table: Floats) -> Callable[[Floats], Floats]:
    return lambda context: table[int(context[0])]


def expected(estimate: Callable[[LoggedArms], OffPolicyEstimate], length: int) -> float:
    """Over all logs of this length."""
    total = 0.0
    for log in product(list(events()), repeat=length):
        chance = float(np.prod([one[0] for one in log]))
        if chance:
            xs, arms, rewards = ([int(one[i]) for one in log] for i in (1, 2, 3))
            propensities = LOGGING[xs, arms]
            made = LoggedArms(arms, rewards, propensities, [CONTEXTS[x] for x in xs], k=3)
            total += chance * estimate(made).value
    return total


@among_all_logs
@pytest.mark.parametrize("length", [1, 2])
def test_ips_is_unbiased_over_all_logs(length: int) -> None:
    assert expected(lambda log: ips(log, of_context(TARGET)), length) == pytest.approx(VALUE)


@among_all_logs
@pytest.mark.parametrize("model", [0.0, 0.3, MEANS, 1 - MEANS], ids=["0", "0.3", "true", "wrong"])
def test_doubly_robust_is_unbiased_whatever_the_model(model: float | Floats) -> None:
    table = np.broadcast_to(model, (2, 3))
    for length in (1, 2):
        found = expected(
            lambda log: doubly_robust(log, of_context(TARGET), of_context(table)), length
        )
        assert found == pytest.approx(VALUE)


@among_all_logs
def test_doubly_robust_with_fitted_rewards_is_unbiased() -> None:
    """A fold is predicted from the others alone."""
    found = expected(lambda log: doubly_robust(log, of_context(TARGET), fitted_rewards(log)), 2)
    assert found == pytest.approx(VALUE)


def some_log(seed: int) -> tuple[LoggedArms, Floats, np.random.Generator]:
    """A log with contexts, and a policy for each of its events."""
    generator = np.random.default_rng(seed)
    count, k = int(generator.integers(2, 30)), int(generator.integers(2, 5))
    arms = [*range(k), *generator.integers(k, size=count).tolist()]
    log = LoggedArms(
        arms,
        generator.normal(size=len(arms)),
        generator.uniform(0.1, 1.0, size=len(arms)),
        generator.normal(size=(len(arms), 3)),
    )
    target = generator.dirichlet(np.ones(k), size=len(arms))
    return log, target, generator


@given(seeds)
def test_doubly_robust_is_ips_with_no_model(seed: int) -> None:
    log, target, _ = some_log(seed)
    one, other = doubly_robust(log, target, np.zeros(log.k)), ips(log, target)
    assert one == other


@given(seeds)
def test_doubly_robust_has_no_error_with_a_perfect_model(seed: int) -> None:
    """Whatever the propensities are, and which arms were logged."""
    log, target, generator = some_log(seed)
    truth = generator.normal(size=(len(log), log.k))
    exact = LoggedArms(log.arms.tolist(), truth[np.arange(len(log)), log.arms], log.propensities)
    found = doubly_robust(exact, target, truth)
    assert found.value == pytest.approx(float((target * truth).sum(axis=1).mean()))
    one = np.broadcast_to(truth[0], truth.shape)
    same = LoggedArms(log.arms.tolist(), truth[0][log.arms], log.propensities)
    fixed = doubly_robust(same, target[0], one)
    assert fixed.value == pytest.approx(float(target[0] @ truth[0]))
    assert fixed.standard_error == pytest.approx(0.0, abs=1e-12)


@given(seeds)
def test_what_the_formulas_say(seed: int) -> None:
    log, target, _ = some_log(seed)
    weights = [target[i, arm] / log.propensities[i] for i, arm in enumerate(log.arms.tolist())]
    terms = np.array(weights) * log.rewards
    plain, normal = ips(log, target), self_normalised_ips(log, target)
    assert plain.value == pytest.approx(terms.mean())
    assert plain.standard_error == pytest.approx(terms.std(ddof=1) / np.sqrt(len(log)))
    assert normal.value == pytest.approx(terms.sum() / sum(weights))
    assert log.rewards.min() - 1e-9 <= normal.value <= log.rewards.max() + 1e-9
    squares = np.square(np.array(weights) * (log.rewards - normal.value)).sum()
    assert normal.standard_error == pytest.approx(np.sqrt(squares) / sum(weights))
    assert plain.effective_events == pytest.approx(sum(weights) ** 2 / sum(w * w for w in weights))
    assert plain.events == len(log)


def test_the_policy_that_logged_is_worth_what_it_earned() -> None:
    log = LoggedArms([0, 1, 1, 0], [1, 0, 1, 1])
    for estimate in (ips, self_normalised_ips):
        found = estimate(log, [0.5, 0.5])
        assert (found.value, found.effective_events) == (0.75, 4.0)
    assert str(ips(log, [0.5, 0.5])) == "0.75 ± 0.25 (4 events, worth 4)"
    assert ips(LoggedArms([0], [1], k=2), [1.0, 0.0]) == OffPolicyEstimate(2.0, inf, 1, 1.0)


def test_standard_errors_cover_the_truth_as_often_as_they_should() -> None:
    """Within two of them in 95 of 100 logs, on fixed seeds."""
    covered = {"ips": 0, "self-normalised": 0, "doubly robust": 0}
    for seed in range(200):
        generator = np.random.default_rng(seed)
        xs = generator.choice(2, size=200, p=CHANCE)
        arms = np.array([generator.choice(3, p=LOGGING[x]) for x in xs])
        rewards = (generator.random(200) < MEANS[xs, arms]).astype(float)
        log = LoggedArms(arms.tolist(), rewards, LOGGING[xs, arms], xs[:, np.newaxis].astype(float))
        estimates = {
            "ips": ips(log, TARGET[xs]),
            "self-normalised": self_normalised_ips(log, TARGET[xs]),
            "doubly robust": doubly_robust(log, TARGET[xs], fitted_rewards(log)),
        }
        for name, found in estimates.items():
            covered[name] += abs(found.value - VALUE) < 2 * found.standard_error
    assert all(180 <= count <= 200 for count in covered.values())


def test_a_good_model_makes_the_error_smaller() -> None:
    generator = np.random.default_rng(1)
    xs = generator.choice(2, size=500, p=CHANCE)
    arms = np.array([generator.choice(3, p=LOGGING[x]) for x in xs])
    log = LoggedArms(
        arms.tolist(), MEANS[xs, arms], LOGGING[xs, arms], xs[:, np.newaxis].astype(float)
    )
    fitted = fitted_rewards(log, ridge=0.01)
    assert fitted == pytest.approx(MEANS[xs], abs=0.01)
    robust = doubly_robust(log, TARGET[xs], fitted).standard_error
    assert robust < 0.5 * ips(log, TARGET[xs]).standard_error


def test_fitted_rewards_have_contexts_of_each_arm() -> None:
    generator = np.random.default_rng(2)
    contexts = generator.normal(size=(300, 2, 3))
    arms = generator.integers(2, size=300)
    theta = np.array([1.0, -2.0, 0.5])
    log = LoggedArms(arms.tolist(), contexts[np.arange(300), arms] @ theta, contexts=contexts)
    assert fitted_rewards(log, ridge=1e-6, folds=3) == pytest.approx(contexts @ theta, abs=1e-4)


LOG = LoggedArms([0, 1], [1, 0])


@pytest.mark.parametrize(
    ("policy", "complaint"),
    [
        ([0.5, 0.6], "probabilities at event 1 are not from 0 up with the sum 1"),
        ([[0.5, 0.5], [1.5, -0.5]], "probabilities at event 2"),
        ([1.0], "policy must be 2 finite numbers, one for each arm"),
        ([[1.0, 0.0]] * 3, "such a row for each of the 2 events"),
        ([float("nan"), 1.0], "policy must be 2 finite numbers"),
        ("half", "policy must be 2 finite numbers"),
        (None, "policy must be 2 finite numbers"),
        (lambda context: [1.0, 0.0], "function of contexts, and the log has none"),
    ],
)
def test_unusable_policies_are_refused(policy: object, complaint: str) -> None:
    for estimate in (ips, self_normalised_ips):
        with pytest.raises(InputError, match=complaint):
            estimate(LOG, policy)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=complaint):
        doubly_robust(LOG, policy, [0.0, 0.0])  # type: ignore[arg-type]


@among_all_logs
def test_unusable_models_are_refused() -> None:
    with pytest.raises(InputError, match="model must be 2 finite numbers"):
        doubly_robust(LOG, [1.0, 0.0], [1.0])
    with pytest.raises(InputError, match="folds is 1: give a whole number from 2"):
        fitted_rewards(LOG, folds=1)
    with pytest.raises(InputError, match=r"ridge is 0\.0: give a number above 0"):
        fitted_rewards(LOG, ridge=0.0)
    with pytest.raises(InputError, match="no event that this policy could have chosen"):
        self_normalised_ips(LoggedArms([0, 0], [1, 0], k=2), [0.0, 1.0])


def test_what_the_log_never_tried_is_said() -> None:
    log = LoggedArms([0, 1, 0, 1], [1, 1, 0, 1], k=3)
    with pytest.warns(UserWarning, match=rf"{UNTRIED} 2, .* with probability 1:"):
        found = ips(log, [0, 0, 1])
    assert (found.value, found.standard_error, found.effective_events) == (0.0, inf, 0.0)
    with pytest.warns(UserWarning, match=rf"{UNTRIED} 2, .* with probability 0\.9:"):
        self_normalised_ips(log, [0.1, 0, 0.9])
    with pytest.warns(UserWarning, match=UNTRIED):
        doubly_robust(log, [0, 0, 1], fitted_rewards(log))
    named = LoggedArms(["a", "b"], [1, 0])
    assert ips(named, [1, 0]).value == 1.0
