import json
from pathlib import Path

import numpy as np
import pytest

import lotor
from lotor.core import frames
from lotor.core.errors import InputError
from lotor.environments import Environment
from lotor.policies import AnyPolicy
from lotor.protocols.protocol import Protocol, SecureProtocol


def test_a_result_is_shown_in_one_line_whatever_its_length() -> None:
    arms = lotor.BernoulliArms([0.9, 0.1])
    short = lotor.run(lotor.UCB(), arms, budget=20, seed=7)
    long = lotor.run(lotor.UCB(), arms, budget=2000, seed=7)
    for result in (short, long):
        shown = str(result)
        assert shown == repr(result)
        assert len(shown) < 120
        assert shown.startswith(f"<Result of plain with ucb: reward {result.reward:g} in ")
        times = result.arms.count(0) if result.arms else 0
        assert f"{result.rounds} rounds over 2 arms, most often arm 0 ({times} times)" in shown
    assert len(long.arms or ()) == 2000


def test_a_result_without_its_arms_and_one_of_one_round() -> None:
    one = lotor.run(lotor.UCB(), lotor.BernoulliArms([1.0]), budget=1, seed=7)
    assert str(one).endswith("in 1 round over 1 arm, most often arm 0 (1 time), seed 7>")
    bare = lotor.run(lotor.UCB(), lotor.BernoulliArms([1.0]), budget=1, seed=7, trajectory=False)
    assert str(bare).endswith("in 1 round over 1 arm, seed 7>")


ARMS = lotor.BernoulliArms({"drug A": 0.2, "drug B": 0.8})
FORMS = (
    (lotor.UCB(), ARMS),
    (lotor.Samba(lotor.UCB()), ARMS),
    (lotor.LinUCBDS(), lotor.LinearArms({"a": [1, 0], "b": [0, 1]}, theta=[0.8, 0.3])),
    (lotor.PPCB(), lotor.ContextualArms.lookalike(30, 3, 4, seed=1)),
    (lotor.Helba(), lotor.LinearContexts.toy(30, seed=1)),
)


@pytest.mark.parametrize(("protocol", "arms"), FORMS, ids=lambda one: type(one).__name__)
def test_rewards_add_up_to_the_total_and_regrets_to_what_the_means_say(
    protocol: Protocol | AnyPolicy, arms: Environment
) -> None:
    result = lotor.run(protocol, arms, budget=30, seed=3)
    assert result.rewards is not None
    assert len(result.rewards) == len(result.arms or ()) == result.rounds == 30
    assert result.cumulative()[-1] == pytest.approx(result.reward, abs=1e-6)
    assert sum(result.pulls.values()) == 30
    assert (np.diff(result.regret()) >= 0).all()
    if isinstance(protocol, SecureProtocol):
        plain = lotor.run(protocol.plain(), arms, budget=30, seed=3)
        assert (result.rewards, result.regrets) == (plain.rewards, plain.regrets)


def test_a_result_is_a_frame_of_whatever_is_installed(tmp_path: Path) -> None:
    result = lotor.run(lotor.UCB(), ARMS, budget=10, seed=3)
    columns = result.to_frame("columns")
    assert list(columns) == ["round", "arm", "name", "reward", "cumulative", "regret"]
    assert result.to_frame("polars").to_dict(as_series=False) == columns
    assert result.to_frame("pandas").to_dict("list") == columns
    assert type(result.to_frame()).__module__.startswith("pandas")
    result.to_csv(tmp_path / "rounds.csv")
    first, *rows = (tmp_path / "rounds.csv").read_text().splitlines()
    assert first == "round,arm,name,reward,cumulative,regret"
    assert len(rows) == 10


def test_without_a_frame_library_columns_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frames, "find_spec", lambda name: None)
    result = lotor.run(lotor.UCB(), ARMS, budget=10, seed=3)
    assert result.to_frame() == result.columns()
    with pytest.raises(InputError, match="pandas is not installed"):
        result.to_frame("pandas")


def test_what_is_not_known_is_refused() -> None:
    bare = lotor.run(lotor.UCB(), ARMS, budget=10, seed=3, trajectory=False)
    for ask in (bare.cumulative, bare.regret, bare.columns, lambda: bare.pulls):
        with pytest.raises(InputError, match="no trajectory"):
            ask()
    mine = lotor.CallbackArms({"a": lambda _: 1.0, "b": lambda _: 0.0})
    result = lotor.run(lotor.UCB(), mine, budget=10, seed=3)
    assert result.names == ["a", "b"]
    with pytest.raises(InputError, match="what its arms pay on average"):
        result.regret()


@pytest.mark.parametrize("ending", ["svg", "png", "pdf"])
def test_a_plot_is_written_and_is_the_same_each_time(tmp_path: Path, ending: str) -> None:
    result = lotor.run(lotor.UCB(), lotor.BernoulliArms([0.5] * 30), budget=60, seed=3)
    files = [tmp_path / f"{name}.{ending}" for name in ("one", "two")]
    for file in files:
        result.plot(file)
    assert files[0].read_bytes() == files[1].read_bytes()
    with pytest.raises(InputError, match="no kind of picture"):
        result.plot(tmp_path / "plot.txt")
    with pytest.raises(InputError, match="cannot be written"):
        result.plot(tmp_path / "missing" / f"plot.{ending}")


def test_results_of_earlier_versions_can_still_be_read() -> None:
    result = lotor.run(lotor.UCB(), ARMS, budget=10, seed=3)
    assert lotor.Result.from_json(result.to_json()) == result
    old = json.loads(result.to_json())
    for name in ("rewards", "regrets", "names", "ended"):
        del old[name]
    assert lotor.Result.from_json(json.dumps(old)).ended == "by itself"
