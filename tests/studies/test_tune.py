"""Tuning: the best point of a grid or of a search."""

from pathlib import Path

import pytest

import lotor
from lotor.core.errors import InputError
from lotor.policies import SlidingWindowUCB
from lotor.studies.sweep import CellProgress

ARMS = lotor.BernoulliArms([0.9, 0.1])


def test_the_papers_grid_is_the_default_and_the_best_point_has_the_largest_mean() -> None:
    found = lotor.tune(lotor.Softmax(), ARMS, 60, seeds=range(5), workers=1)
    frame = found.to_frame("pandas")
    assert frame["tau"].tolist() == list(lotor.Softmax.grid["tau"])
    assert found.best_parameters == {"tau": frame["tau"][frame["reward"].idxmax()]}
    assert found.best == lotor.Softmax(**found.best_parameters)
    assert found.best_reward.mean == frame["reward"].max()
    runs = [lotor.run(lotor.Softmax(0.0), ARMS, budget=60, seed=seed).reward for seed in range(5)]
    assert frame["reward"][0] == pytest.approx(sum(runs) / 5)
    best = frame["reward"].idxmax()
    near = frame[(frame["reward_high"] >= frame["reward"][best]) & (frame.index != best)]
    assert found.near_best() == [f"tau={tau}" for tau in near["tau"]]


def test_a_grid_of_two_parameters_tries_all_combinations(tmp_path: Path) -> None:
    grid = {"alpha": [0.1, 0.5], "beta": [0.2, 1.0]}
    policy = lotor.ReinforcementComparison()
    found = lotor.tune(policy, ARMS, 20, grid=grid, seeds=[1], workers=1, kept=tmp_path)
    assert list(found.points) == [
        f"alpha={alpha}, beta={beta}" for alpha in (0.1, 0.5) for beta in (0.2, 1.0)
    ]
    assert len(list(tmp_path.iterdir())) == 4
    assert len(found.plot(tmp_path / "plot.png").axes) == 2
    found.to_csv(tmp_path / "points.csv")
    assert (tmp_path / "points.csv").read_text().startswith("alpha,beta,runs,reward,")


def test_a_protocol_is_tuned_as_its_policy_is() -> None:
    grid = {"tau": [0.05, 0.5]}
    samba = lotor.Samba(lotor.Softmax(), form="dealt")
    secure = lotor.tune(samba, ARMS, 20, grid=grid, seeds=range(2), workers=1)
    plain = lotor.tune(samba.plain(), ARMS, 20, grid=grid, seeds=range(2), workers=1)
    assert secure.best_parameters == plain.best_parameters
    assert isinstance(secure.best, lotor.Samba)
    assert secure.best.form == "dealt"
    assert secure.to_frame("columns")["reward"] == plain.to_frame("columns")["reward"]


def test_a_search_stays_in_its_range_and_goes_on_where_it_was(tmp_path: Path) -> None:
    pytest.importorskip("optuna")
    search = {"c": lotor.SearchRange(0.5, 2)}
    seen: list[tuple[int, int]] = []

    def interrupt(done: int, total: int) -> None:
        seen.append((done, total))
        if done == 5:
            raise KeyboardInterrupt

    def tuned(kept: Path | None = None, progress: CellProgress | None = None) -> lotor.Tuning:
        return lotor.tune(
            lotor.KLUCB(),
            ARMS,
            20,
            search=search,
            trials=4,
            seeds=range(2),
            kept=kept,
            workers=1,
            progress=progress,
        )

    whole = tuned()
    with pytest.raises(KeyboardInterrupt):
        tuned(kept=tmp_path, progress=interrupt)
    assert seen[-1] == (5, 8)
    assert len(list(tmp_path.iterdir())) == 5
    again = tuned(kept=tmp_path)
    assert again.points == whole.points
    assert again.to_frame("columns")["reward"] == whole.to_frame("columns")["reward"]
    assert len(whole.points) == 4
    assert all(0.5 <= one["c"] <= 2 for one in whole.points.values())


def test_a_search_for_a_whole_number_may_try_one_twice() -> None:
    pytest.importorskip("optuna")
    search = {"tau": lotor.SearchRange(2, 4, log=True)}
    found = lotor.tune(
        SlidingWindowUCB(), ARMS, 20, search=search, trials=6, seeds=range(2), workers=1
    )
    assert {point["tau"] for point in found.points.values()} <= {2, 3, 4}
    assert set(found.to_frame("columns")["runs"]) == {2}


@pytest.mark.parametrize(
    ("policy", "options", "reason"),
    [
        (lotor.UCB(), {}, "no paper says which parameters of ucb to try"),
        (lotor.UCB(), {"grid": {"tau": [1]}}, "ucb has no parameter 'tau'"),
        (lotor.Softmax(), {"grid": {}}, "grid is empty"),
        (lotor.Softmax(), {"grid": {"tau": []}}, "grid is empty"),
        (lotor.Softmax(), {"grid": {"tau": [-1]}}, "tau is a temperature"),
        (lotor.Softmax(), {"search": {}}, "search has no parameters"),
        (lotor.Softmax(), {"search": {"x": lotor.SearchRange(0, 1)}}, "no parameter 'x'"),
        (lotor.Softmax(), {"trials": 0}, "trials"),
        (lotor.Softmax(), {"seeds": []}, "seeds"),
        (
            lotor.Softmax(),
            {"grid": {"tau": [1]}, "search": {"tau": lotor.SearchRange(0.1, 1)}},
            "give one of them",
        ),
    ],
)
def test_what_cannot_be_tuned_is_refused(
    policy: lotor.UCB | lotor.Softmax, options: dict[str, object], reason: str
) -> None:
    with pytest.raises(InputError, match=reason):
        lotor.tune(policy, ARMS, 10, **{"seeds": [1], "workers": 1, **options})  # type: ignore[arg-type]


@pytest.mark.parametrize(("low", "high", "log"), [(1, 1, False), (2, 1, False), (0, 1, True)])
def test_an_empty_range_is_refused(low: float, high: float, log: bool) -> None:
    with pytest.raises(InputError, match="finds nothing"):
        lotor.SearchRange(low, high, log=log)


def test_runs_that_end_at_different_rounds_are_not_tuned() -> None:
    arms = [event % 2 for event in range(60)]
    log = lotor.LoggedArms(arms, [float(arm) for arm in arms])
    with pytest.raises(InputError, match=r"a budget that all of them reach, such as \d+"):
        lotor.tune(lotor.Softmax(), log, 100, seeds=range(2), grid={"tau": [0.1, 9.0]}, workers=1)


def test_a_range_of_whole_numbers_is_never_widened() -> None:
    search = {"tau": lotor.SearchRange(9, 10.5)}
    found = lotor.tune(
        lotor.SlidingWindowUCB(), ARMS, 20, seeds=[1], search=search, trials=4, workers=1
    )
    assert {point["tau"] for point in found.points.values()} <= {9, 10}
