import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from commands import lotor

LOTOR = [sys.executable, "-c", "from lotor.cli import main; main()"]
SMALL = ["--budget", "60", "--k", "3", "--seed", "7"]
FAST = [*SMALL, "--form", "paper", "--key-bits", "2048"]


def test_compare_shows_costs_counts_and_the_measured_leakage() -> None:
    done = lotor("run", "samba", "--policy", "ucb", *FAST, "--compare")
    assert done.returncode == 0, done.stderr
    for text in (
        "same arms",
        "controller",
        "as Theorem 4",
        "overhead",
        "measured",
        "everything but",
    ):
        assert text in done.stdout


def test_compare_as_json() -> None:
    done = lotor("run", "samba", "--policy", "pursuit:beta=0.2", *FAST, "--compare", "--json")
    report = json.loads(done.stdout)
    assert report["same"] is True
    assert report["secure"]["reward"] == report["plain"]["reward"]
    assert report["secure"]["options"]["policy"] == "pursuit:beta=0.2"
    assert report["secure"]["arms"] is None
    assert report["overhead"] > 1
    assert report["leakage"]["comp"]["measured"].startswith("everything but")


def test_the_form_that_is_run_unless_another_is_asked_for() -> None:
    done = lotor("run", "samba", *SMALL, "--compare")
    assert done.returncode == 0, done.stderr
    assert "Form shared. These must not collude: controller and comp." in done.stdout
    for text in ("same arms", "garbled and gates", "nothing of any score, arm, reward or total"):
        assert text in " ".join(done.stdout.replace("│", " ").split())


def test_an_option_of_another_form_is_refused() -> None:
    done = lotor("run", "samba", *SMALL, "--key-bits", "2048")
    assert done.returncode == 2
    assert "choose --form 'paper'" in " ".join(done.stderr.split())


def test_the_position_form_says_what_it_shows() -> None:
    done = lotor("run", "samba", *FAST, "--compare", "--selection", "position")
    assert "By position: each owner learns" in done.stdout


def test_a_run_without_comparison_and_with_its_trajectory() -> None:
    done = lotor("run", "samba", *FAST, "--json", "--trajectory", "--selection", "position")
    document = json.loads(done.stdout)
    assert len(document["arms"]) == 60
    assert document["options"]["selection"] == "position"
    assert "total reward" in lotor("run", "samba", *FAST, "--owners", "3").stdout


def test_plain_runs_what_samba_refuses() -> None:
    policy = ("--policy", "reinforcement-comparison", "--arms", "0.9,0.1")
    refused = lotor("run", "samba", *policy)
    assert refused.returncode == 2
    assert "arm score locality" in refused.stderr
    assert refused.stdout == ""
    assert json.loads(lotor("run", "plain", *policy, "--json").stdout)["protocol"] == "plain"
    assert "total reward" in lotor("run", "plain", *policy).stdout


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--policy", "nope"], "no policy is called 'nope'"),
        (["--policy", "softmax:tau=-1"], "temperature"),
        (["--policy", "ucb:c=1"], "no parameter 'c'"),
        (["--arms", "nowhere"], "neither"),
        (["--arms", "0.5,1.5"], "1.5"),
        (["--arms", "movielens:absent.data"], "absent.data"),
        (["--arms", "0.5,0.4", "--k", "3"], "--k"),
        (["--choose", "first"], "--choose"),
        (["--budget", "5"], "budget of 5"),
        (["--key-bits", "512"], "2048"),
        (["--trajectory"], "--json"),
        (["--seed", "-1"], "seed"),
    ],
)
def test_unusable_input_is_one_line_on_stderr(arguments: list[str], complaint: str) -> None:
    done = lotor("run", "samba", *arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("lotor: ")
    assert len(done.stderr.strip().splitlines()) == 1
    assert complaint in done.stderr


def test_a_process_of_its_own_says_the_same() -> None:
    """All others call the entry point within this process."""
    for arguments in (["run", "samba", "--budget", "5"], ["--version"]):
        done = subprocess.run([*LOTOR, *arguments], capture_output=True, text=True, check=False)  # noqa: S603
        here = lotor(*arguments)
        assert (done.returncode, done.stdout, done.stderr) == (
            here.returncode,
            here.stdout,
            here.stderr,
        )


def test_options_of_samba_mean_nothing_in_plain() -> None:
    for option in (["--compare"], ["--owners", "0"], ["--key-bits", "2048"]):
        done = lotor("run", "plain", *option)
        assert (done.returncode, done.stdout) == (2, "")


def test_rating_files(tmp_path: Path) -> None:
    path = tmp_path / "jester.csv"
    path.write_text("2,-3.1,5.0\n2,6.0,7.5\n")
    done = lotor(
        "run", "plain", "--arms", f"jester:{path}", "--k", "2", "--minimum-ratings", "1", "--json"
    )
    assert json.loads(done.stdout)["k"] == 2
    assert "Goldberg" in done.stderr


def test_policies() -> None:
    listed = {
        row["policy"].split(":")[0]: row for row in json.loads(lotor("policies", "--json").stdout)
    }
    assert "samba" not in listed["ucb"]["why_not"]
    assert "other arms" in listed["reinforcement-comparison"]["why_not"]["samba"]
    assert "softmax:tau=0.06" in lotor("policies").stdout


def test_version_and_help() -> None:
    assert lotor("--version").stdout.startswith("lotor 0.")
    assert "Exit codes" in lotor("--help").stdout
    assert "--compare" in lotor("run", "samba", "--help").stdout


def test_ctrl_c_ends_cleanly_and_long_runs_show_progress() -> None:
    """On a terminal; the bar tells that the run has begun."""
    terminal, stderr = os.openpty()
    process = subprocess.Popen(  # noqa: S603
        [*LOTOR, "run", "plain", "--budget", "100000000"],
        stdout=subprocess.PIPE,
        stderr=stderr,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "100"},
    )
    os.close(stderr)
    shown = b""
    while b"rounds" not in shown:
        shown += os.read(terminal, 4096)
    process.send_signal(signal.SIGINT)
    while b"nothing was kept" not in shown:
        shown += os.read(terminal, 4096)
    out, _ = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, b"")
    os.close(terminal)
