"""PPCB on the command line."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import lotor
from cli.killing import killed_demo
from commands import lotor as command
from lotor.cli.main import app
from lotor.core.errors import InputError
from lotor.environments.sources import ContextSource, contexts
from lotor.privacy import Accountant
from lotor.protocols.ppcb.demo import FIRMS

SMALL = ["--arms", "contexts:4,6", "--budget", "30", "--seed", "7"]
SEATS = {"server-0", "server-1", "actor", "receiver"}
PLAIN = ["plain", "--policy", "linear-epsilon-greedy"]


def output(*arguments: str, code: int = 0) -> str:
    done = CliRunner().invoke(app, list(arguments), env={"COLUMNS": "140"})
    assert done.exit_code == code, done.output
    return done.stdout


def test_compare_shows_costs_rounds_privacy_and_leakage() -> None:
    shown = output("run", "ppcb", *SMALL, "--form", "dealt", "--compare")
    for text in (
        "4 arms, 30 pulls",
        "server-1",
        "authors' program",
        "112",
        "Table 1 of the paper",
        "4 or 7",
        "log(A/epsilon - A + 1), exact",
        "one step only",
        "Rényi, delta 1e-06",
        "it does not cover the rewards",
        "no guarantee",
    ):
        assert text in shown
    assert "Stopped early" not in shown
    assert "decisions differ" not in shown


def test_compare_as_json() -> None:
    dealt = ("--form", "dealt", "--compare", "--json", "--trajectory")
    report = json.loads(output("run", "ppcb", *SMALL, *dealt))
    assert (report["same"], report["different_arms"]) == (True, 0)
    assert report["secure"]["arms"] == report["plain"]["arms"]
    counts = report["operations"]
    assert counts["expected"] == counts["counted"]
    assert counts["per_step"]["rounds"] < counts["published_program"]["rounds"] == 112
    assert set(counts["table_1"]) == set(counts["ours"])
    privacy = report["secure"]["privacy"]
    assert privacy["per_step"] < privacy["paper_per_step"] < privacy["total"]
    assert report["leakage"]["receiver"]["measured"].startswith("the rewards")


def test_options_reach_the_protocol() -> None:
    options = ["--bits", "18", "--parties", "3", "--delay", "2", "--epsilon", "0.25"]
    policy = ["--policy", "linear-epsilon-greedy:ridge=2"]
    document = json.loads(output("run", "ppcb", *SMALL, *options, *policy, "--json"))
    assert document["options"] == {
        "policy": "linear-epsilon-greedy:epsilon=0.25,ridge=2.0",
        "bits": 18,
        "owners": 3,
        "delay": 2,
        "delta": "1e-06",
        "reciprocal": "shares",
        "form": "shared",
    }
    assert {"owner-1", "owner-2", "owner-3"} <= set(document["parties"])


def test_a_privacy_budget_ends_the_run_and_the_tables_say_so() -> None:
    limit = ["--privacy-budget", "40", "--delta", "1e-5"]
    steps = Accountant(4, 0.1, 1e-5).steps(40)
    assert steps < 30
    shown = output("run", "ppcb", *SMALL, *limit, "--compare")
    assert f"4 arms, {steps} pulls" in shown
    assert f"after {steps} of 30 steps" in shown
    plain = json.loads(output("run", *PLAIN, *SMALL, *limit, "--json"))
    assert plain["rounds"] == steps


def test_a_run_without_comparison_shows_its_account_too() -> None:
    shown = output("run", "ppcb", *SMALL, "--epsilon", "0")
    assert "total reward" in shown
    assert "infinite" in shown
    assert "What the arms tell" not in output("run", *PLAIN, *SMALL, "--delay", "1")


def test_differences_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    another = lotor.PPCB(lotor.LinearEpsilonGreedy(epsilon=1.0), owners=1).plain()
    monkeypatch.setattr(lotor.PPCB, "plain", lambda self: another)
    shown = output("run", "ppcb", *SMALL, "--compare", code=1)
    assert " of 30 decisions differ from plain's, the first in round" in shown
    assert "NO: " in shown
    report = json.loads(output("run", "ppcb", *SMALL, "--compare", "--json", code=1))
    assert report["same"] is False
    assert f"{report['different_arms']} of 30 decisions differ" in shown


def test_sources_of_contexts(monkeypatch: pytest.MonkeyPatch) -> None:
    digits, clusters, made_up = (
        ContextSource().environment(text, 5) for text in ("digits", "kmeans:7", "contexts:3,4")
    )
    assert (digits.k, digits.d, digits.rounds) == (10, 20, 1797)
    assert (clusters.k, clusters.d, clusters.drawn) == (7, 20, True)
    assert (made_up.k, made_up.d, made_up.rounds) == (3, 4, 5)
    monkeypatch.setattr(contexts, "find_spec", lambda name: None)
    done = command("run", *PLAIN, "--budget", "5", "--json")
    assert json.loads(done.stdout)["k"] == 10
    assert done.stderr.startswith("lotor: warning: the digits need scikit-learn")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (
            ["ppcb", "--policy", "ucb"],
            "ppcb does not run the policy ucb, which is for samba: choose",
        ),
        (
            ["ppcb", "--policy", "linear-epsilon-greedy:epsilon=0.2"],
            "--epsilon is given twice, by the policy linear",
        ),
        (
            ["ppcb", "--key-bits", "2048"],
            "linucb-ds`, `lotor run samba` and `lotor run spectral-ucb-ds`",
        ),
        (["ppcb", "--owners", "2"], "--owners belongs to `lotor run samba`"),
        (["ppcb", "--workers", "2"], "--workers belongs to"),
        (["ppcb", "--k", "3"], "--k belongs to `lotor run linucb-ds`, `lotor run samba`"),
        (["ppcb", "--threshold", "3"], "--threshold belongs to"),
        (["ppcb", "--sha256", "0"], "--sha256 belongs to files"),
        (["ppcb", "--arms", "movielens-like"], "does not name contexts"),
        (["ppcb", "--arms", "contexts:4"], "does not name contexts"),
        (["ppcb", "--arms", "contexts:1,4"], "1 arms"),
        (["ppcb", "--arms", "kmeans:x"], "does not name contexts"),
        (["ppcb", "--arms", "kmeans:0"], "give a number of clusters"),
        (["ppcb", "--arms", "mnist:absent"], "absent"),
        (["ppcb", "--arms", "mnist:absent", "--sha256", "0"], "IMAGES,LABELS"),
        (["ppcb", "--bits", "25"], "25 bits"),
        (["ppcb", "--parties", "21"], "21 parties"),
        (["ppcb", "--delay", "-1"], "delay is -1"),
        (["ppcb", "--delta", "2"], "delta is"),
        (["ppcb", "--privacy-budget", "1"], "one step tells"),
        (["ppcb", "--budget", "1798"], "1797 rounds"),
        (["ppcb", "--budget", "0"], "budget of 0"),
        ([*PLAIN, "--bits", "20"], "--bits belongs to `lotor run ppcb`"),
        ([*PLAIN, "--parties", "2"], "--parties belongs to"),
        ([*PLAIN, "--delta", "0.1"], "--delta needs --privacy-budget"),
        ([*PLAIN, "--slot-bits", "64"], "for the policies of `lotor run linucb-ds`"),
        ([*PLAIN, "--arms", "0.9,0.1"], "does not name contexts"),
        (
            ["plain", "--policy", "linucb", "--delay", "2"],
            "it is for the policies of `lotor run ppcb` and `lotor run samba`",
        ),
        (["samba", "--bits", "20"], "--bits belongs to `lotor run ppcb`"),
        (["linucb-ds", "--privacy-budget", "2"], "--privacy-budget belongs to `lotor run ppcb`"),
    ],
    ids=" ".join,
)
def test_unusable_input_is_an_error_that_names_it(arguments: list[str], complaint: str) -> None:
    epsilon = ["--epsilon", "0.1"] if arguments[0] == "ppcb" else []
    done = CliRunner().invoke(app, ["run", *arguments, *epsilon])
    assert isinstance(done.exception, InputError)
    assert complaint in str(done.exception)
    assert done.stdout == ""


def test_policies_list_it() -> None:
    listed = {row["policy"].split(":")[0]: row for row in json.loads(output("policies", "--json"))}
    assert listed["linear-epsilon-greedy"]["protocols"] == ["ppcb", "plain"]


def test_help_names_the_defaults_that_depend_on_the_protocol() -> None:
    shown = output("run", "ppcb", "--help")
    for text in ("(1e-6)", "no limit", "--privacy-budget"):
        assert text in shown
    assert "(3072)" in output("run", "samba", "--help")
    assert "[members] of party.toml" in output("start", "ppcb", "--help")


def test_what_start_orders() -> None:
    default = lotor.PPCB.configured(None, {}).order_options()
    assert default == {
        "policy": "linear-epsilon-greedy:epsilon=0.1,ridge=1.0",
        "bits": 20,
        "delay": 0,
        "delta": "1e-06",
        "reciprocal": "shares",
        "form": "shared",
        "keep": 0,
        "predict": 0,
    }
    numbers = {"epsilon": 0.3, "bits": 18, "delay": 1, "privacy_budget": 100.0, "delta": 1e-5}
    options: dict[str, float | str] = {**numbers, "form": "dealt"}
    given = lotor.PPCB.configured(None, options).order_options()
    assert given == {
        "policy": "linear-epsilon-greedy:epsilon=0.3,ridge=1.0",
        "bits": 18,
        "delay": 1,
        "privacy_budget": "100.0",
        "delta": "1e-05",
        "reciprocal": "shares",
        "form": "dealt",
        "keep": 0,
        "predict": 0,
    }


@pytest.mark.parametrize(
    ("protocol", "options", "complaint"),
    [
        ("ppcb", ["--key-bits", "2048"], "--key-bits belongs to .*`lotor start samba`"),
        ("ppcb", ["--selection", "bits"], "--selection belongs to `lotor start samba`"),
        ("ppcb", ["--policy", "ucb"], "ppcb does not run the policy ucb"),
        ("ppcb", ["--bits", "3"], "bits is 3"),
        ("samba", ["--epsilon", "0.1"], "--epsilon belongs to `lotor start ppcb`"),
        ("linucb-ds", ["--delta", "0.1"], "--delta belongs to `lotor start ppcb`"),
        ("linucb-ds", ["--delay", "2"], "--delay belongs to `lotor start ppcb`"),
    ],
)
def test_what_start_refuses(
    tmp_path: Path, protocol: str, options: list[str], complaint: str
) -> None:
    order = ["start", protocol, "--kit", str(tmp_path), "--budget", "9", *options]
    with pytest.raises(InputError, match=complaint):
        CliRunner().invoke(app, order, catch_exceptions=False)


def test_trial_keys(tmp_path: Path) -> None:
    made = ["keys", "demo", str(tmp_path / "trial"), "--protocol", "ppcb", "--owner", "airline"]
    assert set(json.loads(output(*made, "--json"))) == {"authority", "airline", *SEATS}


def test_the_same_without_a_dealer() -> None:
    report = json.loads(output("run", "ppcb", *SMALL, "--compare", "--json", "--trajectory"))
    assert (report["same"], report["secure"]["options"]["form"]) == (True, "shared")
    assert report["operations"]["expected"] == report["operations"]["counted"]


def test_the_demo_has_no_hospitals_to_count() -> None:
    done = CliRunner().invoke(app, ["demo", "--protocol", "ppcb", "--hospitals", "3"])
    assert "three firms: give no number of hospitals" in str(done.exception)


@pytest.mark.long
def test_the_demo_survives_kills_and_each_party_sees_its_own(tmp_path: Path) -> None:
    report = killed_demo(tmp_path, "ppcb", "--budget", "60", "--keep")
    assert set(report["parties"]) == {*SEATS, *FIRMS}
    (folder,) = tmp_path.iterdir()

    def shown(name: str) -> dict[str, object]:
        kit = str(folder / name)
        found: dict[str, object] = json.loads(
            output("runs", "show", report["run"], "--kit", kit, "--json")
        )
        assert found["privacy"]["steps"] == 60  # type: ignore[index]
        return found

    assert shown("actor")["own_acts"] == 60
    assert "reward" not in shown("actor")
    assert shown("airline")["own_contexts"] == 60
    receiver = shown("receiver")
    assert (receiver["own_pulls"], receiver["reward"]) == (60, report["reward"])
    assert not {key for key in shown("server-0") if key.startswith("own_")}
    kit = ["--kit", str(folder / "receiver")]
    assert "What the arms tell" in output("runs", "show", report["run"], *kit)
    assert "total reward" in output("runs", "follow", report["run"], *kit)


def test_an_order_to_predict_without_a_model_is_refused_before_anybody_is_asked() -> None:
    done = command("start", "ppcb", "--kit", "absent", "--budget", "8", "--predict")
    assert done.returncode == 2
    assert "needs a model: continue an ended run that kept one, by --continue" in done.stderr


def test_an_order_with_an_impossible_delta_is_refused_before_anybody_is_asked() -> None:
    done = command("start", "ppcb", "--kit", "absent", "--budget", "8", "--delta", "0.5")
    assert done.returncode != 0
    assert done.stderr.startswith("lotor: --delta is the probability that the guarantee fails")
