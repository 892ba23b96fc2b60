"""HELBA on the command line."""

import json
from pathlib import Path

import numpy as np
import pytest
from rich.progress import Progress
from typer.testing import CliRunner

import lotor
from lotor.cli import simulate
from lotor.cli.main import app
from lotor.cli.progress import TimeLeft
from lotor.core.errors import InputError
from lotor.crypto.ckks import InsecureParametersWarning
from lotor.environments.sources import ArmContextSource
from lotor.policies.optimistic import BatchedOFUL
from lotor.protocols.helba.paper.judging import Judged
from lotor.protocols.helba.paper.report import verdict

PAPER = ["--form", "paper"]
TEACHING = [*PAPER, "--insecure-degree", "1024"]
SMALL = [*TEACHING, "--budget", "3", "--seed", "1"]

pytestmark = pytest.mark.filterwarnings("ignore::lotor.crypto.ckks.InsecureParametersWarning")


def output(*arguments: str, code: int = 0) -> str:
    done = CliRunner().invoke(app, list(arguments), env={"COLUMNS": "140"})
    assert done.exit_code == code, done.output
    return done.stdout


def test_compare_shows_plan_regrets_decisions_costs_and_leakage() -> None:
    shown = output("run", "helba", *SMALL, "--compare")
    for text in (
        "What the run will cost: 3 rounds, 2 arms, d = 2",
        "NONE: for teaching",
        "14 of 50 bits",
        "resolution in round 3",
        "a new estimate",
        "HELBA, encrypted",
        "the same in plain",
        "RSOFUL-TR",
        "Every decision is that of exact arithmetic",
        "authority",
        "not considered",
    ):
        assert text in shown
    assert shown.index("What the run will cost") < shown.index("HELBA, encrypted")


def test_compare_as_json() -> None:
    report = json.loads(output("run", "helba", *SMALL, "--compare", "--json", "--trajectory"))
    assert report["same"] is True
    assert report["secure"]["arms"] == report["plain"]["arms"]
    assert set(report["regret"]) == {"secure", "plain", "OFUL", "RSOFUL", "RSOFUL-TR"}
    assert report["regret"]["secure"] == report["regret"]["plain"]
    assert report["decisions"]["different"] == 0
    plan = report["plan"]
    assert (plan["levels"], plan["updates"], plan["insecure_degree"]) == (14, 3, 1024)
    assert plan["run_seconds"] > 0
    assert report["leakage"]["user"]["paper"] == "the arm"


def test_a_plan_computes_no_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simulate, "run", None)
    options = [*TEACHING, "--arms", "contexts:5,5", "--budget", "130", "--rms-length", "3.7"]
    plan = json.loads(output("plan", "helba", *options, "--json"))
    assert (plan["levels"], plan["prime_bits"], plan["updates"]) == (18, 42, 130)
    assert "of 42 bits" in output("plan", "helba", *options)


def test_the_papers_index() -> None:
    options = ["--index", "sqrt", "--C", "1", "--eta", "0.1", "--stages", "3"]
    shown = output("run", "helba", *SMALL, *options, "--compare")
    assert "resolution beside C" in shown
    assert "in all directions alike" not in shown
    assert "Every decision is that of exact arithmetic" in shown


def test_options_reach_the_protocol() -> None:
    options = ["--security", "192", "--stages", "2", "--noise-bits", "6", "--mean-bound", "1.5"]
    more = ["--rms-length", "5", "--eta", "0.5", "--policy", "batched-oful:ridge=2"]
    document = json.loads(output("run", "helba", *SMALL, *options, *more, "--json"))
    text = document["options"].pop("policy")
    assert text.startswith("batched-oful:ridge=2.0,")
    assert "eta=0.5" in text
    assert document["options"] == {
        "security": 192,
        "stages": 2,
        "noise_bits": 6,
        "mean_bound": "1.5",
        "rms_length": "5.0",
        "insecure_degree": 1024,
        "form": "paper",
    }


def test_what_builds_the_protocol() -> None:
    assert lotor.Helba.configured(None, {}) == lotor.Helba()
    chosen = lotor.Helba.configured("batched-oful:L=4", {"eta": 0.2})
    assert chosen.policy == BatchedOFUL(L=4, eta=0.2)
    with pytest.warns(InsecureParametersWarning):
        lotor.Helba.configured(None, {"insecure_degree": 1024, "form": "paper"})


def test_without_an_option_the_budget_is_the_papers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simulate, "run", None)
    assert "130 rounds" in output("plan", "helba", *TEACHING)


def test_policies_alone_run_in_plain() -> None:
    for policy in ("oful", "rsoful:C=2", "rsoful-tr", "batched-oful:index=sqrt,C=1,eta=0.1"):
        shown = output("run", "plain", "--policy", policy, "--budget", "20", "--json")
        assert json.loads(shown)["rounds"] == 20


def test_policies_list_them() -> None:
    listed = {row["policy"].split(":")[0]: row for row in json.loads(output("policies", "--json"))}
    assert listed["batched-oful"]["protocols"] == ["helba", "plain"]
    assert listed["oful"]["protocols"] == ["plain"]


def test_sources_of_contexts(tmp_path: Path) -> None:
    source = ArmContextSource()
    toy = source.environment(source.default_text(), 7)
    assert (toy.k, toy.d, toy.rounds) == (2, 2, 7)
    assert np.array_equal(source.environment("toy:0", 7).contexts, toy.contexts)
    assert not np.array_equal(source.environment("toy:1", 7).contexts, toy.contexts)
    made_up = source.environment("contexts:3,4", 5)
    assert (made_up.k, made_up.d, made_up.rounds) == (3, 4, 5)
    path = tmp_path / "made.npz"
    np.savez(path, contexts=made_up.contexts, theta=made_up.theta)
    read = ArmContextSource(noise_sd=0.25).environment(f"npz:{path}", 5)
    assert np.array_equal(read.contexts, made_up.contexts)
    assert read.noise_sd == 0.25


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["helba", "--policy", "oful"], "Helba takes BatchedOFUL() as its policy"),
        (["helba", "--policy", "ucb"], "helba does not run the policy ucb, which is for samba"),
        (["helba", "--policy", "batched-oful:eta=1", "--eta", "2"], "--eta is given twice"),
        (["helba", "--arms", "digits"], "does not give each arm a context"),
        (["helba", "--arms", "contexts:4"], "does not give each arm a context"),
        (["helba", "--arms", "npz:absent"], "cannot read absent"),
        (["helba", "--arms", "toy", "--noise-sd", "1"], "--noise-sd belongs to files"),
        (["helba", "--sha256", "0"], "--sha256 belongs to files"),
        (["helba", "--k", "3"], "--k belongs to `lotor run linucb-ds`"),
        (["helba", "--key-bits", "2048"], "--key-bits belongs to `lotor run linucb-ds`"),
        (["helba", "--epsilon", "0.1"], "--epsilon belongs to `lotor run ppcb`"),
        (["helba", *PAPER, "--security", "100"], "choose 128, 192 or 256"),
        (["helba", *PAPER, "--stages", "7"], "stages is 7"),
        (["helba", *PAPER, "--arms", "contexts:2,6"], "take 3 stages or a budget of 12 or d = 5"),
        (["helba", *PAPER, "--arms", "contexts:100,2"], "take 3 stages or 65 arms"),
        (["helba", *PAPER, "--rms-length", "6"], "--rms-length is 6"),
        (["helba", *PAPER, "--insecure-degree", "1000"], "--insecure-degree 1000"),
        (["helba", *PAPER, "--workers", "2"], "Take --workers 1"),
        (["plain", "--policy", "oful", "--workers", "2"], "--workers belongs to"),
        (["helba", "--budget", "0", *TEACHING], "budget"),
        (["samba", "--stages", "3"], "--stages belongs to `lotor run helba`"),
        (["plain", "--C", "1"], "it is for the policies of `lotor run helba`"),
        (["plain", "--policy", "oful", "--stages", "3"], "--stages belongs to `lotor run helba`"),
        (["plain", "--policy", "oful", "--eta", "1"], "--eta does not go with --policy oful"),
    ],
    ids=" ".join,
)
def test_unusable_input_is_an_error_that_names_it(arguments: list[str], complaint: str) -> None:
    done = CliRunner().invoke(app, ["run", *arguments])
    assert isinstance(done.exception, InputError)
    assert complaint in str(done.exception)
    assert done.stdout == ""


def examples() -> list[list[str]]:
    """The commands of the docs that take seconds."""
    page = Path(__file__).parents[2] / "docs" / "helba.md"
    lines = [line.partition("#")[0].split() for line in page.read_text().splitlines()]
    return [line[1:] for line in lines if line[:1] == ["lotor"] and TEACHING[-2] in line]


@pytest.mark.parametrize("arguments", examples(), ids=" ".join)
def test_the_commands_of_the_docs_run(arguments: list[str]) -> None:
    assert "What the run will cost" in output(*arguments)


def test_the_docs_show_commands() -> None:
    assert len(examples()) >= 3


def test_differences_are_explained() -> None:
    fine, below = Judged(1, 0, 0, 0.5, 0.1), Judged(2, 0, 1, 0.05, 0.1)
    above = Judged(3, 1, 0, 0.2, 0.1)
    assert "1 of 2 gaps are above" in verdict([fine, Judged(2, 1, 1, 0.05, 0.1)])
    explained = verdict([fine, below])
    assert "1 of 2 decisions differ" in explained
    assert "below the resolution" in explained
    wrong = verdict([fine, below, above])
    assert "1 of these gaps are ABOVE the resolution, the first in round 3" in wrong


def test_a_difference_above_the_resolution_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = [Judged(1, 0, 1, 0.5, 0.1)]
    monkeypatch.setattr("lotor.protocols.helba.paper.form._judged", lambda *_: wrong)
    output("run", "helba", *SMALL, "--stages", "2", "--compare", code=1)


def test_the_time_left_is_foretold_before_the_first_round() -> None:
    bar = Progress(disable=True)
    bar.add_task("helba", total=130)
    (task,) = bar.tasks
    assert TimeLeft(3700.9).render(task).plain == "about 1:01:40 left"
    assert "about" not in TimeLeft().render(task).plain


def test_the_papers_policy_can_be_asked_for_and_stands_beside_its_theorems() -> None:
    index = ["--index", "sqrt", "--width", "union", "--C", "1", "--eta", "0.1"]
    report = json.loads(output("run", "helba", *SMALL, *index, "--compare", "--json"))
    assert "width=union" in report["secure"]["options"]["policy"]
    assert report["guaranteed"]["updates"] == 3
    assert report["guaranteed"]["most_updates"] == 3
    assert report["guaranteed"]["regret_bound"] > report["regret"]["secure"]
    assert report["decisions"]["beyond_corollary_5"] == 0


def test_a_comparison_says_what_the_theorems_allow() -> None:
    shown = output("run", "helba", "--eta", "0.1", "--budget", "30", "--seed", "1", "--compare")
    assert "allowed by Theorem 8 and Proposition 7" in shown


def test_a_run_that_does_not_fit_names_what_does() -> None:
    arguments = ["--form", "paper", "--arms", "contexts:10,10", "--budget", "1000"]
    done = CliRunner().invoke(app, ["run", "helba", *arguments])
    assert "take d = 5, or the form shared, which has no levels" in str(done.exception)
    root = ["--index", "sqrt", "--width", "union"]
    done = CliRunner().invoke(app, ["run", "helba", *arguments, *root])
    assert "take 3 stages or 5 arms, or the form shared" in str(done.exception)
