"""`lotor run` for people who want curves: CSV, plots, named arms, and what ctrl-C leaves."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from lotor.cli import exit_codes
from lotor.cli.main import app
from lotor.core.effects import Decision
from lotor.environments import bernoulli

NAMED = ["--arms", "drug A=0.2,drug B=0.8", "--budget", "40", "--seed", "7"]


def called(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments), env={"COLUMNS": "140"})


@pytest.mark.parametrize("protocol", ["plain", "samba"])
def test_a_run_writes_its_rounds_and_a_plot(tmp_path: Path, protocol: str) -> None:
    csv, plot = tmp_path / "rounds.csv", tmp_path / "plot.svg"
    done = called("run", protocol, *NAMED, "--csv", str(csv), "--plot", str(plot))
    assert done.exit_code == 0, done.output
    assert "drug B" in done.stdout
    assert len(csv.read_text().splitlines()) == 41
    assert "drug B" in plot.read_text()


def test_json_has_rounds_only_with_trajectory() -> None:
    short = json.loads(called("run", "plain", *NAMED, "--json").stdout)
    assert (short["arms"], short["rewards"], short["regrets"]) == (None, None, None)
    long = json.loads(called("run", "plain", *NAMED, "--json", "--trajectory").stdout)
    assert sum(long["rewards"]) == long["reward"] == short["reward"]
    assert long["names"] == ["drug A", "drug B"]


def test_a_file_that_is_no_picture_is_refused_before_the_run(tmp_path: Path) -> None:
    done = called("run", "plain", "--plot", str(tmp_path / "plot.txt"), "--budget", "100000000")
    assert "no kind of picture" in str(done.exception)


@pytest.mark.parametrize("arms", ["a=0.2,a=0.3", "a=0.2,=0.3", "a=0.2,0.3", "a=b"])
def test_names_that_are_none(arms: str) -> None:
    done = called("run", "plain", "--arms", arms)
    assert done.exit_code != 0
    assert "name" in str(done.exception) or "--arms" in str(done.exception)


@pytest.mark.parametrize("protocol", ["plain", "samba"])
def test_ctrl_c_shows_what_was_done(monkeypatch: pytest.MonkeyPatch, protocol: str) -> None:
    start = bernoulli.BernoulliArms.start

    def interrupted(self: bernoulli.BernoulliArms, seed: int) -> object:
        pull = start(self, seed)

        def once(decision: Decision) -> float:
            if decision.round == 30:
                raise KeyboardInterrupt
            return pull(decision)

        return once

    monkeypatch.setattr(bernoulli.BernoulliArms, "start", interrupted)
    nothing = called("run", protocol, *NAMED, "--json")
    assert (nothing.exit_code, nothing.stdout) == (exit_codes.INTERRUPTED, "")
    done = called("run", protocol, *NAMED, "--json", "--partial")
    assert done.exit_code == exit_codes.INTERRUPTED
    found = json.loads(done.stdout)
    assert (found["rounds"], found["ended"]) == (29, "interrupted")
    assert "after 29 of 40 rounds" in done.stderr
