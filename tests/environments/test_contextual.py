import builtins
from math import nan
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lotor.core.effects import Decision
from lotor.core.errors import InputError
from lotor.environments import ContextualArms, Environment
from lotor.environments.digits import read_digits

MNIST = Path(__file__).parents[3] / "shared" / "data" / "mnist"
TABLE = ContextualArms([[0.6, 0.8], [0.0, 0.5]], [[-1, 3, 0], [2, 1, 0.5]], reward_range=(-1, 3))


def decision(t: int, arm: int = 0) -> Decision:
    return Decision.of_step("demo", t, arm)


def test_what_it_carries() -> None:
    arms: Environment = TABLE
    assert (arms.k, arms.reward_range) == (3, (-1.0, 3.0))
    assert (TABLE.d, TABLE.rounds, TABLE.drawn) == (2, 2, False)
    assert TABLE.context(1).tolist() == [0.6, 0.8]
    assert repr(TABLE) == "<ContextualArms: 3 arms, 2 rounds, contexts of 2 numbers>"
    with pytest.raises(ValueError, match="read-only"):
        TABLE.context(1)[0] = 0.1


@given(st.integers(0, 2**48), st.sampled_from([1, 2]), st.sampled_from([0, 1, 2]))
def test_a_table_pays_what_it_says(seed: int, t: int, arm: int) -> None:
    assert TABLE.start(seed)(decision(t, arm)) == TABLE.rewards[t - 1, arm]


@pytest.mark.parametrize("t", [0, -1, 3])
def test_rounds_beyond_the_table_are_refused(t: int) -> None:
    with pytest.raises(InputError, match=f"rounds 1 to 2, not for round {t}"):
        TABLE.context(t)
    with pytest.raises(InputError, match="a smaller budget"):
        TABLE.start(7)(decision(t))


@pytest.mark.parametrize("arm", [-1, 3])
def test_an_arm_that_is_not_there_is_refused(arm: int) -> None:
    with pytest.raises(InputError, match="only arms 0 to 2"):
        TABLE.start(0)(decision(1, arm))


@pytest.mark.parametrize("seed", [-1, 1.5])
def test_a_seed_is_a_whole_number(seed: int) -> None:
    for start in (
        TABLE.start,
        lambda seed: ContextualArms.lookalike(10, 2, 2, seed),
        lambda seed: ContextualArms.kmeans(TABLE.contexts, 2, seed=seed),
        read_digits,
    ):
        with pytest.raises(InputError, match="seed"):
            start(seed)


@pytest.mark.parametrize(
    ("contexts", "rewards", "options", "complaint"),
    [
        ([], [], {}, "contexts must be a table"),
        ([[]], [[1.0]], {}, "contexts must be a table"),
        ([[1.0]], [[]], {}, "rewards must be a table"),
        ([[1.0], [1.0, 0.0]], [[1.0], [1.0]], {}, "several lengths"),
        ([[nan]], [[1.0]], {}, "contexts holds a number that is not finite"),
        ([[1.0]], [[nan]], {}, "rewards holds a number that is not finite"),
        ([[1.0]], [[1.0], [0.0]], {}, "1 contexts but 2 rows of rewards"),
        ([[0.5], [-4.0]], [[1.0], [0.0]], {}, "has length 4, more than 1: divide all contexts"),
        ([[1.0]], [[1.5]], {}, r"outside the public reward_range \(0, 1\)"),
        ([[1.0]], [[-1.5]], {"reward_range": (-1, 1)}, r"reward_range \(-1, 1\)"),
        ([[1.0]], [[1.0]], {"reward_range": (1, 1)}, "empty or too wide"),
    ],
)
def test_unusable_tables_are_refused(
    contexts: list[list[float]],
    rewards: list[list[float]],
    options: dict[str, tuple[float, float]],
    complaint: str,
) -> None:
    with pytest.raises(InputError, match=complaint):
        ContextualArms(contexts, rewards, **options)


def test_a_length_of_1_may_be_off_by_rounding() -> None:
    rows = np.random.default_rng(0).normal(size=(500, 7))
    rows /= np.sqrt(np.square(rows).sum(axis=1, keepdims=True))
    assert ContextualArms(rows, np.zeros((500, 1))).rounds == 500


@given(st.integers(0, 2**48), st.permutations(range(1, 701)))
def test_drawn_rewards_depend_on_seed_round_and_arm_alone(seed: int, order: list[int]) -> None:
    arms = ContextualArms.bernoulli(np.zeros((700, 1)), np.full((700, 2), 0.5))
    pull, again = arms.start(seed), arms.start(seed)
    places = [(t, t % 2) for t in order[:20]]
    paid = {place: pull(decision(*place)) for place in places}
    assert {place: again(decision(*place)) for place in sorted(places)} == paid


def test_drawn_rewards_follow_their_probabilities() -> None:
    chances = np.tile([0.0, 1.0, 0.2, 0.7], (4000, 1))
    arms = ContextualArms.bernoulli(np.zeros((4000, 1)), chances)
    assert arms.drawn
    pull, other = arms.start(1), arms.start(2)
    paid = np.array([[pull(decision(t, arm)) for arm in range(4)] for t in range(1, 4001)])
    assert set(paid.ravel().tolist()) == {0.0, 1.0}
    assert paid.mean(axis=0) == pytest.approx([0, 1, 0.2, 0.7], abs=0.03)
    assert abs(float(np.corrcoef(paid[:, 2], paid[:, 3])[0, 1])) < 0.06
    assert [other(decision(t, 3)) for t in range(1, 50)] != paid[:49, 3].tolist()


def test_a_probability_is_none_above_1() -> None:
    with pytest.raises(InputError, match="outside"):
        ContextualArms.bernoulli([[0.0]], [[1.2]])


def test_nearer_clusters_pay_more() -> None:
    contexts = ContextualArms.lookalike(600, 5, 8, seed=3).contexts
    arms = ContextualArms.kmeans(contexts, 12, seed=1)
    assert (arms.k, arms.rounds, arms.drawn) == (12, 600, True)
    # The Gaussian kernel of the distance to the mean of the contexts nearest to a centre.
    nearest = arms.rewards.argmax(axis=1)
    for arm in range(12):
        centre = contexts[nearest == arm].mean(axis=0)
        squares = np.square(contexts - centre).sum(axis=1)
        assert np.corrcoef(np.log(arms.rewards[:, arm]), squares)[0, 1] < -0.99
    wider = ContextualArms.kmeans(contexts, 12, seed=1, sigma=1.0)
    assert np.log(arms.rewards) == pytest.approx(4 * np.log(wider.rewards))


def test_the_digits() -> None:
    pytest.importorskip("sklearn", reason="needs scikit-learn: pip install 'lotor[data]'")
    arms = ContextualArms.digits()
    assert (arms.k, arms.d, arms.rounds, arms.reward_range) == (10, 20, 1797, (0.0, 1.0))
    assert np.sqrt(np.square(arms.contexts).sum(axis=1)) == pytest.approx(np.ones(1797))
    assert arms.rewards.sum(axis=1).tolist() == [1.0] * 1797
    assert arms.rewards.sum(axis=0).tolist() == [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]
    again, other = ContextualArms.digits(shuffle_seed=0), ContextualArms.digits(shuffle_seed=1)
    assert np.array_equal(arms.contexts, again.contexts)
    assert not np.array_equal(arms.rewards, other.rewards)
    # Another order of the same rows, each still with its own label.
    ranks = np.lexsort(np.round(arms.contexts, 6).T), np.lexsort(np.round(other.contexts, 6).T)
    assert arms.contexts[ranks[0]] == pytest.approx(other.contexts[ranks[1]], abs=1e-6)
    assert np.array_equal(arms.rewards[ranks[0]], other.rewards[ranks[1]])


def test_without_scikit_learn_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    genuine = builtins.__import__

    def without(name: str, *rest: object) -> object:
        if name.startswith("sklearn"):
            raise ImportError(name)
        return genuine(name, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(InputError, match=r"pip install 'lotor\[data\]'"):
        ContextualArms.digits()


@pytest.mark.skipif(not MNIST.exists(), reason="needs MNIST in ../shared/data/mnist")
def test_mnist(capsys: pytest.CaptureFixture[str]) -> None:
    arms = ContextualArms.mnist(MNIST, images="test", limit=500)
    assert "LeCun" in capsys.readouterr().err
    assert (arms.k, arms.d, arms.rounds) == (10, 20, 500)
    assert np.sqrt(np.square(arms.contexts).sum(axis=1)) == pytest.approx(np.ones(500))
    assert arms.rewards[:5].argmax(axis=1).tolist() == [7, 2, 1, 0, 4]
    for limit in (0, 10_001, 2.5):
        with pytest.raises(InputError, match="limit is"):
            ContextualArms.mnist(MNIST, images="test", limit=limit)  # type: ignore[arg-type]
