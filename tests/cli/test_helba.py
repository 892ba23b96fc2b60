"""HELBA on the command line."""

import io
import json
from pathlib import Path

import numpy as np
import pytest
from lotor.cli.helba_options import helba_from, linear_contexts_from
from lotor.cli.show_helba import show_judged
from rich.console import Console
from rich.progress import Progress
from typer.testing import CliRunner

import lotor
from lotor.cli.main import app
from lotor.cli.progress import TimeLeft
from lotor.core.errors import InputError
from lotor.crypto.ckks import InsecureParametersWarning
from lotor.policies.optimistic import BatchedOFUL
from lotor.protocols.helba.judging import Judged

TEACHING = ["--insecure-degree", "1024"]
SMALL = [*TEACHING, "--budget", "3", "--seed", "1"]

pytestmark = pytest.mark.filterwarnings("ignore::lotor.crypto.ckks.InsecureParametersWarning")


def output(*arguments: str, code: int = 0) -> str:
    done = CliRunner().invoke(app, list(arguments), env={"COLUMNS": "140"})
    assert done.exit_code == code, done.output
    return done.stdout


def test_compare_shows_plan_regrets_decisions_costs_and_leakage() -> None:
    shown = output("run", "helba", *SMALL, "--compare")
    for text in (
        "What the run takes: 3 rounds, 2 arms, d = 2",
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
    assert shown.index("What the run takes") < shown.index("HELBA, encrypted")


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
    monkeypatch.setattr(lotor, "run", None)
    options = [*TEACHING, "--arms", "contexts:5,5", "--budget", "130", "--rms-length", "3.7"]
    plan = json.loads(output("run", "helba", *options, "--plan", "--json"))
    assert (plan["levels"], plan["prime_bits"], plan["updates"]) == (18, 42, 130)
    assert "of 42 bits" in output("run", "helba", *options, "--plan")


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
    }


def test_what_builds_the_protocol() -> None:
    assert helba_from(None) == lotor.Helba()
    assert helba_from("batched-oful:L=4", eta=0.2).policy == BatchedOFUL(L=4, eta=0.2)
    with pytest.warns(InsecureParametersWarning):
        helba_from(None, insecure_degree=1024)


def test_without_an_option_the_budget_is_the_papers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lotor, "run", None)
    assert "130 rounds" in output("run", "helba", *TEACHING, "--plan")


def test_policies_alone_run_in_plain() -> None:
    for policy in ("oful", "rsoful:C=2", "rsoful-tr", "batched-oful:index=sqrt,C=1,eta=0.1"):
        shown = output("run", "plain", "--policy", policy, "--budget", "20", "--json")
        assert json.loads(shown)["rounds"] == 20


def test_policies_list_them() -> None:
    listed = {row["policy"].split(":")[0]: row for row in json.loads(output("policies", "--json"))}
    assert listed["batched-oful"]["protocols"] == ["helba", "plain"]
    assert listed["oful"]["protocols"] == ["plain"]


def test_sources_of_contexts(tmp_path: Path) -> None:
    toy = linear_contexts_from(None, budget=7)
    assert (toy.k, toy.d, toy.rounds) == (2, 2, 7)
    assert np.array_equal(linear_contexts_from("toy:0", budget=7).contexts, toy.contexts)
    assert not np.array_equal(linear_contexts_from("toy:1", budget=7).contexts, toy.contexts)
    made_up = linear_contexts_from("contexts:3,4", budget=5)
    assert (made_up.k, made_up.d, made_up.rounds) == (3, 4, 5)
    path = tmp_path / "made.npz"
    np.savez(path, contexts=made_up.contexts, theta=made_up.theta)
    read = linear_contexts_from(f"npz:{path}", budget=5, noise_sd=0.25)
    assert np.array_equal(read.contexts, made_up.contexts)
    assert read.noise_sd == 0.25


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["helba", "--policy", "oful"], "helba computes batched-oful"),
        (["helba", "--policy", "ucb"], "no optimistic policy is called 'ucb'"),
        (["helba", "--policy", "batched-oful:eta=1", "--eta", "2"], "both give eta"),
        (["helba", "--arms", "digits"], "no source of contexts of each arm"),
        (["helba", "--arms", "contexts:4"], "no source of contexts of each arm"),
        (["helba", "--arms", "npz:absent"], "cannot read absent"),
        (["helba", "--arms", "toy", "--noise-sd", "1"], "--noise-sd belongs to files"),
        (["helba", "--sha256", "0"], "--sha256 belongs to files"),
        (["helba", "--k", "3"], "--k belongs to arms without contexts"),
        (["helba", "--key-bits", "2048"], "--key-bits belongs to other protocols"),
        (["helba", "--epsilon", "0.1"], "--epsilon belongs to other protocols"),
        (["helba", "--security", "100"], "choose 128, 192 or 256"),
        (["helba", "--stages", "7"], "stages is 7"),
        (["helba", "--arms", "contexts:2,6"], "take stages=3 or budget=12 or d=5"),
        (["helba", "--arms", "contexts:100,2"], "take stages=3 or arms=65"),
        (["helba", "--rms-length", "6"], "rms_length is 6"),
        (["helba", "--insecure-degree", "1000"], "insecure_degree=1000"),
        (["helba", "--workers", "2"], "Take workers=1"),
        (["plain", "--policy", "oful", "--workers", "2"], "--workers belongs to"),
        (["helba", "--budget", "0", *TEACHING], "budget"),
        (["samba", "--stages", "3"], "--stages belongs to `lotor run helba`"),
        (["ppcb", "--plan"], "--plan belongs to `lotor run helba`"),
        (["plain", "--C", "1"], "--C belongs to `lotor run helba`"),
        (["plain", "--policy", "oful", "--stages", "3"], "--stages belongs to `lotor run helba`"),
        (["plain", "--policy", "oful", "--eta", "1"], "write it into --policy"),
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
    return [line[1:] for line in lines if line[:2] == ["lotor", "run"] and TEACHING[0] in line]


@pytest.mark.parametrize("arguments", examples(), ids=" ".join)
def test_the_commands_of_the_docs_run(arguments: list[str]) -> None:
    assert "What the run takes" in output(*arguments)


def test_the_docs_show_commands() -> None:
    assert len(examples()) >= 3


def judged_text(*found: Judged) -> str:
    text = io.StringIO()
    show_judged(Console(file=text, width=400), found)
    return text.getvalue()


def test_differences_are_explained() -> None:
    fine, below = Judged(1, 0, 0, 0.5, 0.1), Judged(2, 0, 1, 0.05, 0.1)
    above = Judged(3, 1, 0, 0.2, 0.1)
    assert "1 of 2 gaps are above" in judged_text(fine, Judged(2, 1, 1, 0.05, 0.1))
    explained = judged_text(fine, below)
    assert "1 of 2 decisions differ" in explained
    assert "below the resolution" in explained
    wrong = judged_text(fine, below, above)
    assert "1 of these gaps are ABOVE the resolution, the first in round 3" in wrong


def test_a_difference_above_the_resolution_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = [Judged(1, 0, 1, 0.5, 0.1)]
    monkeypatch.setattr("lotor.cli.helba_studies.judged", lambda *_: wrong)
    output("run", "helba", *SMALL, "--stages", "2", "--compare", code=1)


def test_the_time_left_is_foretold_before_the_first_round() -> None:
    bar = Progress(disable=True)
    bar.add_task("helba", total=130)
    (task,) = bar.tasks
    assert TimeLeft(3700.9).render(task).plain == "about 1:01:40"
    assert "about" not in TimeLeft().render(task).plain
