"""Comparisons: a row for each protocol, environment and budget, with bands that are right."""

import csv
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import lotor
from lotor.core.errors import InputError
from lotor.protocols.plain import Plain
from lotor.studies.compare import Subject, named_environments, named_subjects
from lotor.studies.compared_runs import ComparedRuns

ARMS = lotor.BernoulliArms([0.9, 0.5, 0.1])
TIMES = ["seconds", "cpu_seconds", "cpu of agent"]


@pytest.fixture(scope="module")
def compared() -> ComparedRuns:
    secure = lotor.Samba(lotor.UCB(), form="dealt")
    protocols: dict[str, Subject] = {"plain": lotor.UCB(), "secure": secure}
    return lotor.compare(protocols, {"three": ARMS}, [20, 40], seeds=range(4), points=5, workers=1)


def test_a_row_for_each_protocol_environment_and_budget(compared: ComparedRuns) -> None:
    frame = compared.to_frame("pandas")
    assert frame["protocol"].tolist() == ["plain", "secure"] * 2
    assert frame["budget"].tolist() == [20, 20, 40, 40]
    assert set(frame["environment"]) == {"three"}
    assert set(frame["runs"]) == {4}


def test_means_deviations_and_bands_are_those_of_the_runs(compared: ComparedRuns) -> None:
    runs = [lotor.run(lotor.UCB(), ARMS, budget=40, seed=seed) for seed in range(4)]
    row = compared.to_frame("pandas").iloc[2]
    for name, values in (
        ("reward", [one.reward for one in runs]),
        ("regret", [one.regret()[-1] for one in runs]),
    ):
        low, high = stats.t.interval(0.95, 3, np.mean(values), stats.sem(values))
        expected = [np.mean(values), np.std(values, ddof=1), low, high]
        found = [row[name], row[f"{name}_sd"], row[f"{name}_low"], row[f"{name}_high"]]
        assert found == pytest.approx(expected)


def test_secure_has_the_rewards_of_plain_and_the_costs_of_its_parties(
    compared: ComparedRuns,
) -> None:
    plain, secure = (row for _, row in compared.to_frame("pandas").iloc[2:].iterrows())
    assert plain["reward"] == secure["reward"]
    assert plain["bytes_sent"] == 0
    parties = [name for name in secure.index if name.startswith("bytes of ")]
    assert secure["bytes_sent"] == secure[parties].sum() > 0
    assert secure["cpu of comp"] > 0
    assert pd.isna(plain["cpu of comp"])


def test_curves_have_the_noted_rounds_and_end_at_the_budget(compared: ComparedRuns) -> None:
    frame = compared.to_frame("pandas", rounds=True)
    own = frame[(frame["protocol"] == "plain") & (frame["budget"] == 40)]
    assert own["round"].tolist() == [8, 16, 24, 32, 40]
    totals = [lotor.run(lotor.UCB(), ARMS, budget=40, seed=seed).cumulative() for seed in range(4)]
    assert own["reward"].tolist() == pytest.approx(np.mean(totals, axis=0)[[7, 15, 23, 31, 39]])
    assert own["reward"].iloc[-1] == compared.to_frame("pandas")["reward"].iloc[2]


def test_the_frame_does_not_depend_on_the_number_of_workers(tmp_path: Path) -> None:
    found = [
        lotor.compare(
            [lotor.LinUCB(), lotor.LinUCB(gamma=0.1)],
            lotor.LinearArms(np.eye(40), np.linspace(0, 0.1, 40), noise_sd=0.05),
            60,
            seeds=range(3),
            workers=workers,
            kept=folder,
        )
        for workers, folder in ((1, None), (2, None), (None, tmp_path))
    ]
    frames = [one.to_frame("pandas") for one in found]
    first, *others = (frame.drop(columns=TIMES) for frame in frames)
    for other in others:
        pd.testing.assert_frame_equal(first, other, check_exact=True)


def test_one_run_has_no_band_and_says_so() -> None:
    one = lotor.compare(lotor.UCB(), ARMS, 10, seeds=[3], workers=1)
    frame = one.to_frame("columns")
    assert frame["reward_sd"] == frame["reward_low"] == frame["reward_high"] == [None]
    one.plot()


def test_files_hold_the_frame_and_the_plot(compared: ComparedRuns, tmp_path: Path) -> None:
    compared.to_csv(tmp_path / "rows.csv")
    with (tmp_path / "rows.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["protocol"] for row in rows] == ["plain", "secure"] * 2
    compared.plot(tmp_path / "plot.svg")
    assert "<svg" in (tmp_path / "plot.svg").read_text()


def test_one_budget_is_drawn_as_curves_and_several_as_points(compared: ComparedRuns) -> None:
    (points,) = compared.plot().axes
    assert points.get_xlabel() == "budget"
    assert points.get_ylabel() == "expected regret"
    assert [line.get_label() for line in points.lines] == ["plain", "secure"]
    one = lotor.compare(lotor.UCB(), [ARMS, ARMS], 10, seeds=range(2), workers=1)
    first, second = one.plot(measure="reward").axes
    assert (first.get_xlabel(), first.get_ylabel()) == ("round", "total reward")
    assert (first.get_title(), second.get_title()) == ("BernoulliArms 1", "BernoulliArms 2")


def test_regret_that_nobody_knows_is_not_drawn() -> None:
    arms = lotor.CallbackArms([lambda decision: 1.0])
    found = lotor.compare(lotor.UCB(), arms, 5, seeds=range(2), workers=1)
    assert "regret" not in found.to_frame("columns")
    assert found.plot().axes[0].get_ylabel() == "total reward"
    with pytest.raises(InputError, match="plot the reward"):
        found.plot(measure="regret")
    with pytest.raises(InputError, match="measure is 'gain'"):
        found.plot(measure="gain")  # type: ignore[arg-type]


def test_runs_of_other_lengths_are_ranked_by_the_round() -> None:
    """A run that ends early, sure of the best arm or without data, is no worse for that."""
    policies = {"sure": lotor.LUCB(), "ucb": lotor.UCB(), "lots": lotor.Softmax(tau=100.0)}
    found = lotor.compare(policies, lotor.BernoulliArms([0.9, 0.1]), 400, seeds=range(4), workers=1)
    assert found.ends_differ
    rewards = {one.protocol: one.mean("reward") for one in found.groups}
    assert rewards["sure"] < rewards["lots"] < rewards["ucb"]
    ranked = sorted(found.groups, key=found.worth, reverse=True)
    assert ranked[0].protocol == found.best() == "ucb"
    assert "most reward a round: ucb" in repr(found)
    same = lotor.compare(lotor.UCB(), ARMS, 20, seeds=range(2), workers=1)
    assert not same.ends_differ
    assert "most reward: ucb" in repr(same)


def test_a_run_without_rounds_is_compared() -> None:
    log = lotor.LoggedArms([0, 1] * 5 + [1] * 50, [1.0] * 60, [0.9, 0.001] * 5 + [0.5] * 50)
    found = lotor.compare(lotor.UCB(), log, 50, seeds=range(3), workers=1)
    assert found.to_frame("columns")["rounds"] == [0]
    assert found.best() == "ucb"


def test_names_are_those_of_the_command_line_and_never_twice_the_same() -> None:
    samba = lotor.Samba(lotor.UCB())
    given: list[Subject] = [lotor.UCB(), Plain(lotor.Softmax()), samba, samba]
    names = ["ucb", "softmax:tau=0.06", "samba/shared:ucb 1", "samba/shared:ucb 2"]
    assert list(named_subjects(given)) == names
    assert list(named_environments(ARMS)) == ["BernoulliArms"]


@pytest.mark.parametrize(
    ("arguments", "options", "reason"),
    [
        (([], ARMS, 5), {}, "no protocols"),
        ((lotor.UCB(), {}, 5), {}, "no environments"),
        (("ucb", ARMS, 5), {}, "no protocol and no policy"),
        ((lotor.UCB(), [0.9, 0.1], 5), {}, "no environment"),
        ((lotor.UCB(), ARMS, []), {}, "budgets"),
        ((lotor.UCB(), ARMS, [5, 5]), {}, "budgets"),
        ((lotor.UCB(), ARMS, 2.5), {}, "budgets"),
        ((lotor.UCB(), ARMS, 5), {"seeds": []}, "seeds"),
        ((lotor.UCB(), ARMS, 5), {"seeds": [-1]}, "seeds"),
        ((lotor.UCB(), ARMS, 5), {"points": 0}, "points"),
        (({1: lotor.UCB()}, ARMS, 5), {}, "names of protocols are texts"),
        ((lotor.UCB(), ARMS, 2), {}, r"\(protocol ucb, .*, seed \d\): .*budget"),
    ],
)
def test_what_cannot_be_compared_is_refused(
    arguments: tuple[object, ...], options: dict[str, object], reason: str
) -> None:
    with pytest.raises(InputError, match=reason):
        lotor.compare(*arguments, **options)  # type: ignore[arg-type]
