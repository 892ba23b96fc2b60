"""A log is replayed as an environment: rewards of matching events, and an end when it ends."""

from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lotor
from lotor.core.effects import Decision
from lotor.core.errors import DataError, InputError, OutOfDataError
from lotor.environments import LoggedArms


def some_log(seed: int, events: int = 400, k: int = 3) -> LoggedArms:
    """Arms drawn with unequal probabilities that are known; arm i pays i / k on average."""
    generator = np.random.default_rng(seed)
    probabilities = np.arange(1, k + 1) / (k * (k + 1) / 2)
    arms = generator.choice(k, size=events, p=probabilities)
    rewards = (generator.random(events) < arms / k).astype(float)
    return LoggedArms(arms.tolist(), rewards, probabilities[arms])


def asked(log: LoggedArms, arms: list[int], seed: int = 1) -> list[float]:
    pull = log.start(seed)
    return [pull(Decision.named("r", t, arm)) for t, arm in enumerate(arms, 1)]


def test_a_round_has_the_reward_of_the_next_event_with_its_arm() -> None:
    log = LoggedArms([0, 1, 1, 0, 1, 0], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    assert asked(log, [0, 1, 0, 1]) == [0.1, 0.2, 0.4, 0.5]


def test_a_round_that_is_asked_again_pays_the_same() -> None:
    log = LoggedArms([0, 1, 1, 0, 1, 0], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    pull = log.start(1)
    for _ in range(2):
        assert [pull(Decision.named("r", t, arm)) for t, arm in ((2, 1), (1, 0))] == [0.2, 0.1]
        assert pull(Decision.named("r", 3, 0)) == 0.4


@pytest.mark.parametrize("p", [0.25, 0.5])
def test_replay_is_unbiased_over_all_logs(p: float) -> None:
    """All logs of four uniform choices: given that it happens, a round pays the arm's mean.

    Rewards are 0 or 1 with probability p of arm 1, and arm 0 pays 0. A round that comes after one
    that depends on an earlier reward is unbiased, too.
    """
    events, k = 4, 2
    likely = paid = 0.0
    for arms in product(range(k), repeat=events):
        if len(set(arms)) < k:
            continue
        for rewards in product((0, 1), repeat=events):
            chance = float(np.prod([p if one else 1 - p for one in rewards]))
            own = [one if arm else 0 for arm, one in zip(arms, rewards, strict=True)]
            pull = LoggedArms(arms, own).start(0)
            try:
                first = [pull(Decision.named("r", t, t - 1)) for t in (1, 2)]
                third = pull(Decision.named("r", 3, 1 if first[1] else 0))
            except OutOfDataError:
                continue
            if first[1]:
                likely += chance
                paid += chance * third
    assert paid / likely == pytest.approx(p)


def test_events_are_thinned_until_all_arms_are_equally_probable() -> None:
    log = some_log(1, events=60_000)
    kept = log.kept(3)
    counts = np.bincount(log.arms[kept], minlength=3)
    # The least propensity is 1/6: so many of the events with each arm are left.
    assert counts == pytest.approx(60_000 / 6, rel=0.03)
    assert log.kept(3).tolist() == kept.tolist() != log.kept(4).tolist()
    uniform = LoggedArms([0, 1, 0, 1], [1, 0, 1, 0])
    assert uniform.kept(3).all()


@settings(max_examples=10)
@given(st.integers(0, 2**32))
def test_a_secure_run_on_a_log_equals_plain(seed: int) -> None:
    log = some_log(seed)
    secure = lotor.Samba(lotor.UCB(), owners=2, form="dealt")
    one = lotor.run(secure, log, budget=30, seed=seed)
    assert one.agrees_with(lotor.run(secure.plain(), log, budget=30, seed=seed))


def test_a_run_ends_with_the_log() -> None:
    log = some_log(2)
    result = lotor.run(lotor.ThompsonSampling(), log, budget=10_000, seed=5)
    assert result.ended == "out of data"
    assert 3 < result.rounds < 400
    assert result.rewards is not None
    assert result.reward == sum(result.rewards)
    assert "out of data" in repr(result)
    short = lotor.run(lotor.ThompsonSampling(), log, budget=20, seed=5)
    assert (short.ended, short.rounds) == ("by itself", 20)
    assert short.arms == (result.arms or [])[:20]


def test_a_log_that_ends_before_each_arm_was_pulled() -> None:
    log = LoggedArms([1, 1, 0], [1, 1, 1])
    result = lotor.run(lotor.UCB(), log, budget=5, seed=1)
    assert (result.ended, result.rounds, result.reward) == ("out of data", 1, 1.0)


def test_asked_directly_it_says_that_it_is_used_up() -> None:
    with pytest.raises(OutOfDataError, match=r"log of 2 events has no more events with arm 1 .*3"):
        asked(LoggedArms([0, 1], [1, 0]), [0, 1, 1])


def test_arms_may_have_names() -> None:
    log = LoggedArms(["b", "a", "b"], [1, 0, 1])
    assert (log.k, log.names, log.arms.tolist()) == (2, ("a", "b"), [1, 0, 1])
    assert lotor.run(lotor.UCB(), log, budget=2, seed=1).names == ["a", "b"]


def test_the_range_of_rewards() -> None:
    assert LoggedArms([0, 1], [0.5, 0.7]).reward_range == (0.0, 1.0)
    assert LoggedArms([0, 1], [-2, 7]).reward_range == (-2.0, 7.0)
    assert LoggedArms([0, 1], [0, 1], reward_range=(-1, 2)).reward_range == (-1.0, 2.0)
    with pytest.raises(InputError, match=r"outside reward_range \(0, 1\): widen"):
        LoggedArms([0, 1], [0, 2], reward_range=(0, 1))


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"arms": []}, "the log is empty"),
        ({"arms": [0, -1]}, "event 2 has the arm -1: give each event a number from 0 up"),
        ({"arms": [0, 0.5]}, "event 2 has the arm 0.5"),
        ({"arms": [0, "a"]}, "event 2 has the arm 'a'"),
        ({"arms": "01"}, "arms cannot be of type str"),
        ({"arms": [True, False]}, "event 1 has the arm True"),
        ({"rewards": [1.0]}, "rewards has 1 numbers where 2 are needed"),
        ({"rewards": [1.0, float("nan")]}, "rewards holds a number that is not finite"),
        ({"propensities": [0.5, 0.0]}, "event 2 has propensity 0, which is not a probability"),
        ({"propensities": [1.5, 0.5]}, "event 1 has propensity 1.5"),
        ({"propensities": [0.5, float("nan")]}, "propensities holds a number that is not finite"),
        ({"propensities": [0.5]}, "propensities has 1 numbers where 2 are needed"),
        ({"contexts": [[1.0]]}, "contexts must be 2 rows of finite numbers"),
        ({"contexts": [[1.0], [float("inf")]]}, "contexts must be 2 rows"),
        ({"contexts": [[[1.0]], [[1.0]]]}, "a row for each of 2 arms"),
        ({"contexts": "ab"}, "contexts must be"),
        ({"k": 1}, "k is 1, and the log has an unknown arm then: give a whole number from 2 up"),
        ({"k": 2.5}, "k is 2.5"),
        ({"arms": ["a", "b"], "k": 3}, "the log names 2 arms: leave k out"),
    ],
)
def test_unusable_logs_are_refused(given: dict[str, object], complaint: str) -> None:
    usual: dict[str, object] = {"arms": [0, 1], "rewards": [1.0, 0.0]}
    with pytest.raises(InputError, match=complaint):
        LoggedArms(**{**usual, **given})  # type: ignore[arg-type]


def test_unknown_arms_are_refused() -> None:
    log = LoggedArms([0, 1], [1, 0])
    with pytest.raises(InputError, match="names arm 2, but there are only arms 0 to 1"):
        log.start(1)(Decision.named("r", 1, 2))
    with pytest.raises(InputError, match="never chose arm 1, so that nobody knows what it pays"):
        LoggedArms([0, 2], [1, 0]).start(1)
    with pytest.raises(InputError, match="seed -1"):
        log.start(-1)


def test_a_table_is_read(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("arm,age,reward,propensity,dose\nA,30,1,0.5,0.1\nB,40,0,0.25,0.2\n")
    log = LoggedArms.from_csv(path)
    assert log.names == ("A", "B")
    assert log.rewards.tolist() == [1.0, 0.0]
    assert log.propensities.tolist() == [0.5, 0.25]
    assert log.contexts is not None
    assert log.contexts.tolist() == [[30.0, 0.1], [40.0, 0.2]]
    path.write_text("reward,arm\n1,0\n0,1\n")
    log = LoggedArms.from_csv(path, k=3, reward_range=(0, 5))
    assert (log.k, log.names, log.contexts, log.reward_range) == (3, None, None, (0.0, 5.0))
    assert log.propensities.tolist() == [1 / 3, 1 / 3]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "no events with the columns arm and reward"),
        ("arm,reward\n", "no events"),
        ("arm,paid\n0,1\n", "no events with the columns arm and reward"),
        ("arm,reward\n0,1\n1,lots\n", "line 3 of .* does not have a number in each of the columns"),
        ("arm,reward\n0,1\n1\n", "line 3 of .* does not have 2 columns"),
        ("reward,arm\n1,a\n1\n", "line 3 of .* does not have 2 columns"),
        ("arm,reward\n0,1\n1,0,3\n", "line 3 of .* does not have 2 columns"),
        ("arm,reward\n0,1,5\n", "no events with the columns"),
        ("arm,reward,propensity\n0,1,0\n", "cannot be replayed: event 1 has propensity 0"),
        ("arm,reward\n0,nan\n", "cannot be replayed: rewards holds"),
        ('arm,reward\n"0,1\n', "is not a CSV file"),
    ],
)
def test_unusable_tables_are_refused(tmp_path: Path, text: str, complaint: str) -> None:
    path = tmp_path / "log.csv"
    path.write_text(text)
    with pytest.raises(DataError, match=complaint):
        LoggedArms.from_csv(path)
    with pytest.raises(DataError, match="missing"):
        LoggedArms.from_csv(tmp_path / "missing.csv")
