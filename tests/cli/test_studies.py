"""`lotor compare` and `lotor tune`."""

import csv
import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import lotor as package
from commands import lotor
from lotor.cli.subjects import to_subject
from lotor.core.errors import InputError
from lotor.policies import to_text
from lotor.protocols.protocol import SecureProtocol

ARMS = ("--arms", "0.9,0.1", "--budget", "20", "--repeat", "3", "--workers", "1")
TIMES = {"seconds", "cpu_seconds", "cpu of agent"}
POLICY = '''
from dataclasses import dataclass

from lotor.policies import Policy


@dataclass(frozen=True, slots=True)
class Greedy(Policy):
    """The best mean so far."""

    least: float = 0.0

    def score(self, arms, t, l, draw):
        return arms.mean.clip(self.least)
'''


def test_compare_prints_what_python_finds() -> None:
    done = lotor("compare", "ucb", "softmax:tau=0.1", *ARMS, "--json")
    rows = json.loads(done.stdout)
    policies = {"ucb": package.UCB(), "softmax:tau=0.1": package.Softmax(tau=0.1)}
    arms = {"0.9,0.1": package.BernoulliArms([0.9, 0.1])}
    frame = package.compare(policies, arms, 20, seeds=range(3), workers=1).to_frame("columns")
    for name in frame.keys() - TIMES:
        assert [row[name] for row in rows] == frame[name]


def test_compare_shows_the_best_first_and_writes_files(tmp_path: Path) -> None:
    table, picture = tmp_path / "rows.csv", tmp_path / "plot.svg"
    files = ("--csv", str(table), "--curves", "--points", "4", "--plot", str(picture))
    done = lotor("compare", "ucb", "thompson-sampling", *ARMS, *files)
    assert done.stdout.index("thompson-sampling") < done.stdout.index(" ucb ")
    assert "Means of 3 runs" in " ".join(done.stdout.split())
    rows = list(csv.DictReader(table.read_text().splitlines()))
    assert [row["round"] for row in rows] == ["5", "10", "15", "20"] * 2
    assert "<svg" in picture.read_text()


def test_secure_stands_beside_plain(tmp_path: Path) -> None:
    keep = ("--keep", str(tmp_path), "--json")
    arms = ("--arms", "linear:4,2", "--budget", "5", "--repeat", "1", "--workers", "1")
    rows = json.loads(lotor("compare", "linucb", "linucb-ds/dealt", *arms, *keep).stdout)
    assert rows[0]["reward"] == rows[1]["reward"]
    assert len(list(tmp_path.iterdir())) == 2
    # Times included: nothing ran again.
    assert json.loads(lotor("compare", "linucb", "linucb-ds/dealt", *arms, *keep).stdout) == rows


def test_several_arms_and_budgets_give_a_row_each() -> None:
    several = ("--arms", "0.9,0.1", "--arms", "0.5,0.4,0.3", "--budget", "10", "--budget", "20")
    done = lotor("compare", "ucb", *several, "--repeat", "2", "--workers", "1", "--json")
    places = [(row["environment"], row["budget"]) for row in json.loads(done.stdout)]
    assert places == [(arms, n) for n in (10, 20) for arms in ("0.9,0.1", "0.5,0.4,0.3")]


def test_a_policy_of_ones_own_reaches_the_workers(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(POLICY)
    what = ("compare", "mine:Greedy:least=0.1", "ucb", "--arms", "0.9,0.1", "--budget", "20")
    kept = ("--keep", str(tmp_path / "kept"), "--repeat", "2", "--json")

    def compared(workers: int) -> list[dict[str, float | str]]:
        script = "from lotor.cli import main; main()"
        command = [sys.executable, "-c", script, *what, *kept, "--workers", str(workers)]
        done = subprocess.run(  # noqa: S603
            command, cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        found: list[dict[str, float | str]] = json.loads(done.stdout)
        return found

    first = compared(2)
    assert first[0]["protocol"] == "mine:Greedy:least=0.1"
    assert len(list((tmp_path / "kept").iterdir())) == 4
    (tmp_path / "mine.py").write_text(POLICY.replace("arms.mean.clip", "(1 - arms.mean).clip"))
    # Another program by the same name: its runs are other ones.
    assert compared(1)[0]["reward"] != first[0]["reward"]
    assert len(list((tmp_path / "kept").iterdir())) == 6


INTERRUPTED = """
import os, signal, sys
from lotor.cli import main, study

def report(label, unit):
    from contextlib import nullcontext
    def noted(done, total):
        if done == 3:
            os.kill(os.getpid(), signal.{signal})
    return nullcontext(noted)

study.progress_bar = report
sys.argv = ["lotor", "compare", "ucb", "--arms", "0.9,0.1", "--budget", "9", "--workers", "{n}",
            "--keep", {folder!r}]
main()
"""


@pytest.mark.parametrize(("sign", "workers"), [("SIGINT", 2), ("SIGKILL", 1)])
def test_an_interrupted_comparison_says_so_and_goes_on(
    tmp_path: Path, sign: str, workers: int
) -> None:
    script = INTERRUPTED.format(signal=sign, folder=str(tmp_path), n=workers)
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    if sign == "SIGINT":
        said = f"lotor: interrupted; 3 runs are kept in {tmp_path}: the same command goes on\n"
        assert (done.returncode, done.stderr) == (130, said)
    else:
        assert done.returncode == -signal.SIGKILL
    kept = sorted(tmp_path.iterdir())
    assert len(kept) == 3
    times = [path.stat().st_mtime_ns for path in kept]
    same = ("--arms", "0.9,0.1", "--budget", "9", "--workers", "1", "--json")
    rows = json.loads(lotor("compare", "ucb", *same, "--keep", str(tmp_path)).stdout)
    assert [path.stat().st_mtime_ns for path in kept] == times
    assert len(list(tmp_path.iterdir())) == 10
    assert rows[0]["reward"] == json.loads(lotor("compare", "ucb", *same).stdout)[0]["reward"]


def test_tune_tries_the_papers_grid_and_says_which_point_is_best(tmp_path: Path) -> None:
    table, picture = tmp_path / "points.csv", tmp_path / "plot.png"
    files = ("--csv", str(table), "--plot", str(picture), "--keep", str(tmp_path / "kept"))
    done = lotor("tune", "pursuit", *ARMS, *files)
    found = json.loads(lotor("tune", "pursuit", *ARMS, *files, "--json").stdout)
    assert f"best: {found['policy']}" in done.stdout
    assert [row["beta"] for row in found["points"]] == [i / 10 for i in range(11)]
    assert len(list((tmp_path / "kept").iterdir())) == 33
    assert picture.stat().st_size > 0
    assert table.read_text().startswith("beta,runs,reward,")


def test_tune_searches_with_optuna() -> None:
    pytest.importorskip("optuna")
    search = ("--search", "tau=0.01:1:log", "--trials", "3")
    found = json.loads(lotor("tune", "softmax", *ARMS, *search, "--json").stdout)
    assert len(found["points"]) == 3
    assert all(0.01 <= row["tau"] <= 1 for row in found["points"])


@pytest.mark.parametrize(
    ("text", "policy", "options"),
    [
        ("samba", "ucb", {"form": "shared", "owners": 1}),
        ("samba/dealt:softmax:tau=0.2", "softmax:tau=0.2", {"form": "dealt"}),
        (
            "samba/paper/owners=3/selection=position",
            "ucb",
            {"form": "paper", "owners": 3, "selection": "position"},
        ),
        ("samba/owners=2:pursuit", "pursuit:beta=0.1", {"form": "shared", "owners": 2}),
    ],
)
def test_a_text_names_a_protocol(text: str, policy: str, options: dict[str, object]) -> None:
    subject = to_subject(text).subject
    assert isinstance(subject, SecureProtocol)
    assert to_text(subject.policy) == policy
    for name, value in options.items():
        assert getattr(subject, name) == value


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("samba/fast", "has no form 'fast'"),
        ("samba/paper/dealt", "gives form twice"),
        ("samba/speed=2", "does not take speed"),
        ("sambo/paper", "no protocol is called 'sambo'"),
        ("ucbb", "no policy is called 'ucbb'"),
        ("samba:linucb", "samba does not run the policy linucb"),
    ],
)
def test_a_text_that_names_nothing_is_refused(text: str, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        to_subject(text)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ("compare ucb linucb", "ucb and linucb choose from different kinds of arms"),
        ("compare ucb ucb", "ucb is given twice"),
        ("compare ucb --arms 0.9 --arms 0.9", "--arms 0.9 is given twice"),
        ("compare ucb --budget 5 --budget 5", "the same budget twice"),
        ("compare ucb --repeat 0", "--repeat is 0"),
        ("compare ucb --user 3", "--user does not belong to these arms"),
        ("compare ucb --curves", "--curves needs --csv or --json"),
        ("compare ucb --measure regret", "--measure needs --plot"),
        ("compare ucb --plot x.txt", "no kind of picture"),
        ("compare ucb --cluster nowhere", "no Ray cluster can be joined at 'nowhere'"),
        ("compare ucb --cluster 127.0.0.1:1", "no Ray cluster can be joined"),
        ("tune ucb", "no paper says which parameters of ucb to try"),
        ("tune softmax --trials 5", "--trials needs --search"),
        ("tune softmax --grid tau", "--grid 'tau' is not understood"),
        ("tune softmax --search tau=1", "--search 'tau=1' is not understood"),
    ],
)
def test_what_cannot_be_studied_is_refused(arguments: str, reason: str) -> None:
    done = lotor(*arguments.split())
    assert done.returncode == 2
    assert reason in done.stderr


@pytest.mark.parametrize("command", ["compare ucb", "tune softmax", "run plain", "run samba"])
@pytest.mark.parametrize("option", ["--csv", "--plot"])
def test_files_that_cannot_be_written_are_refused_before_anything_runs(
    monkeypatch: pytest.MonkeyPatch, command: str, option: str
) -> None:
    def never(*_: object, **__: object) -> None:
        raise AssertionError("it ran")

    for place in ("compare.sweep", "tune.tune", "simulate.run"):
        monkeypatch.setattr(f"lotor.cli.{place}", never)
    done = lotor(*command.split(), option, "nowhere/x.svg")
    assert (done.returncode, done.stdout) == (2, "")
    said = "nowhere/x.svg cannot be written, because there is no folder nowhere: make it"
    assert said in " ".join(done.stderr.split())
