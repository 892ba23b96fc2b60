"""A package that only has entry points: its policy and its protocol work wherever ours do.

CONTRIBUTING.md says what it had to write; nothing in Lotor knows of it.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from acceptance.installed import install

RUN = "from lotor.cli import main; main()"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return install(tmp_path_factory.mktemp("site"))


def lotor(site: Path, *arguments: str, code: int = 0) -> str:
    """What the command prints where the package is installed."""
    paths = [str(site), *filter(None, [os.environ.get("PYTHONPATH")])]
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", RUN, *arguments],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    assert done.returncode == code, done.stderr
    return done.stdout if code == 0 else done.stderr


def test_its_policy_is_listed_with_the_protocols_that_run_it(site: Path) -> None:
    rows = json.loads(lotor(site, "policies", "--json"))
    protocols = {row["policy"]: row["protocols"] for row in rows}
    assert protocols["first-best:optimism=0.5,often=5.0"] == ["samba", "toy", "plain"]
    assert "toy" in protocols["ucb"]


def test_its_policy_runs_in_plain_and_under_our_protocol(site: Path) -> None:
    options = ("--arms", "0.9,0.5,0.1", "--budget", "60", "--seed", "7", "--json")
    plain = json.loads(lotor(site, "run", "plain", "--policy", "first-best", *options))
    found = json.loads(lotor(site, "run", "samba", "--policy", "first-best", *options))
    assert found["reward"] == plain["reward"]
    assert found["options"]["policy"] == "first-best:optimism=0.5,often=5.0"


@pytest.mark.parametrize("policy", ["first-best:often=3", "pursuit", "epsilon-greedy"])
def test_its_protocol_is_compared_with_plain(site: Path, policy: str) -> None:
    options = ("--policy", policy, "--arms", "0.9,0.5,0.1", "--budget", "60", "--seed", "7")
    found = json.loads(lotor(site, "run", "toy", *options, "--compare", "--json"))
    assert found["same"] is True
    assert found["operations"]["counted"] == found["operations"]["expected"]
    assert found["leakage"]["referee"]["measured"] == "everything"
    shown = lotor(site, "run", "toy", *options, "--compare", "--rehearsals", "2")
    assert "referee" in shown
    assert "These must not collude: nobody" in shown


def test_its_options_and_forms_are_the_command_lines_too(site: Path) -> None:
    assert "How often the referee says hello first." in lotor(site, "run", "toy", "--help")
    assert "--rehearsals" in lotor(site, "start", "toy", "--help")
    assert "toy has no form 'shared': choose paper" in lotor(
        site, "run", "toy", "--form", "shared", code=2
    )
    assert "--rehearsals belongs to `lotor run toy`" in lotor(
        site, "run", "samba", "--rehearsals", "2", code=2
    )
    assert json.loads(lotor(site, "plan", "toy", "--k", "3", "--budget", "13", "--json")) == {
        "protocol": "toy",
        "form": "paper",
        "expected": {"scores_compared": 30},
    }


def test_its_attacks_are_tried_and_its_table_decides(site: Path) -> None:
    options = ("--arms", "0.9,0.5,0.1", "--budget", "60", "--seed", "7")
    found = json.loads(lotor(site, "audit", "toy", *options, "--json"))
    assert found["holds"] is True
    verdicts = {(row["party"], row["attack"]): row["verdict"] for row in found["rows"]}
    assert verdicts["referee", "the largest score"] == "leaks, as stated"
    assert verdicts["owner", "the most telling bit"] == "leaks, as stated"


def test_an_audit_finds_what_its_table_does_not_state(site: Path) -> None:
    """Sums travel as numbers without padding: a sum of 0 is shorter."""
    options = ("--policy", "first-best", "--arms", "0.9,0.5,0.1", "--budget", "60", "--seed", "7")
    paths = {**os.environ, "PYTHONPATH": str(site), "COLUMNS": "80"}
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", RUN, "audit", "toy", *options],
        env=paths,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    assert "network, lengths of messages: LEAKS MORE THAN STATED" in done.stdout


def test_it_runs_as_daemons_that_are_killed(site: Path) -> None:
    found = json.loads(lotor(site, "demo", "--protocol", "toy", "--kill", "--json"))
    assert found["reward"] == found["plain_reward"]
    assert found["same_arms"] is True
    assert set(found["parties"]) == {"referee", "asker", "left", "right"}


def test_keys_are_made_for_its_parties(site: Path, tmp_path: Path) -> None:
    made = lotor(site, "keys", "demo", str(tmp_path / "made"), "--protocol", "toy", "--owner", "a")
    assert all(name in made for name in ("asker", "referee", "a"))
