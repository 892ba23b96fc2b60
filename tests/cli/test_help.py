"""What the command line says of itself, what it refuses, and how little it loads for that."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from commands import lotor
from golden.commands import tree
from golden.surface import below
from lotor.cli.lazy import COMMANDS
from lotor.protocols.protocol import PROTOCOLS

COMMAND_LINE = "import sys; from lotor.cli import main; sys.argv[0] = 'lotor'; main()"
HEAVY = {"cryptography", "gmpy2", "numpy", "rich", "scipy", "tenseal", "websockets"}
PAGES = """
from lotor.cli.main import app

for words in ("run", "start", "plan", "run samba", "start helba", "runs approve"):
    app([*words.split(), "--help"], standalone_mode=False)
"""
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


def test_no_command_offers_to_change_the_shell() -> None:
    for arguments in ((), ("runs",), ("start",), ("keys",), ("run",), ("serve",)):
        assert "completion" not in lotor(*arguments, "--help").stdout


def test_a_stub_says_what_its_command_says_first() -> None:
    for name, command in below(tree()).items():
        said = " ".join(command.help.split())
        assert f"{said.partition('. ')[0].removesuffix('.')}." == COMMANDS[name]


def test_help_lists_every_command_with_its_stub() -> None:
    shown = " ".join(lotor("--help").stdout.replace("│", " ").split())
    for name, text in COMMANDS.items():
        assert f"{name} {text}" in shown


@pytest.mark.parametrize("command", ["run", "start", "plan", "audit"])
def test_each_protocol_has_a_line_and_a_page_of_its_own(command: str) -> None:
    shown = lotor(command, "--help").stdout
    for name, kind in PROTOCOLS.items():
        assert name in shown
        page = " ".join(lotor(command, name, "--help").stdout.replace("│", " ").split())
        assert kind.summary in page
        assert f"Which form of it to run: {' or '.join(kind.forms)}." in page


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(
    "command",
    [
        ("run", "{protocol}"),
        ("start", "{protocol}", "--kit", "nowhere", "--budget", "9"),
        ("plan", "{protocol}"),
        ("audit", "{protocol}"),
        ("demo", "--protocol", "{protocol}"),
        ("keys", "demo", "{folder}", "--protocol", "{protocol}"),
    ],
    ids=lambda command: command[0],
)
def test_a_form_that_does_not_exist(
    tmp_path: Path, command: tuple[str, ...], protocol: str
) -> None:
    words = [word.format(protocol=protocol, folder=tmp_path / "trial") for word in command]
    done = lotor(*words, "--form", "nonsense")
    forms = " or ".join(PROTOCOLS[protocol].forms)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"lotor: {protocol} has no form 'nonsense': choose {forms}\n"
    assert list(tmp_path.iterdir()) == []


def test_a_policy_of_ones_own_in_the_current_folder(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(POLICY)
    arms = ["--arms", "0.9,0.5", "--budget", "6", "--seed", "7", "--json"]
    runs = [["samba", *arms], ["plain", *arms]]
    found = []
    for run in runs:
        policy = ["--policy", "mine:Greedy:least=0.25"]
        done = _python(tmp_path, COMMAND_LINE, "run", *run, *policy)
        assert done.returncode == 0, done.stderr
        found.append(json.loads(done.stdout))
    secure, plain = found
    assert secure["reward"] == plain["reward"]
    assert secure["options"]["policy"] == plain["options"]["policy"] == "mine:Greedy:least=0.25"


def test_a_policy_that_is_not_there(tmp_path: Path) -> None:
    done = _python(tmp_path, COMMAND_LINE, "run", "plain", "--policy", "absent:Greedy")
    assert (done.returncode, done.stdout) == (2, "")
    assert "absent" in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("program", "allowed"),
    [
        ("import lotor", set()),
        ("from lotor.cli import main", set()),
        ("from lotor.cli.main import app; app(['--version'], standalone_mode=False)", set()),
        ("from lotor.cli.main import app; app(['--help'], standalone_mode=False)", {"rich"}),
        (
            PAGES,
            {"cryptography", "numpy", "rich", "websockets"},
        ),
        ("import lotor; lotor.Samba", {"cryptography", "gmpy2", "numpy"}),
    ],
)
def test_only_what_is_used_is_imported(tmp_path: Path, program: str, allowed: set[str]) -> None:
    told = "import sys; print(*{name.split('.')[0] for name in sys.modules}, file=sys.stderr)"
    done = _python(tmp_path, f"{program}\n{told}")
    assert done.returncode == 0, done.stderr
    assert HEAVY & set(done.stderr.split()) <= allowed


def _python(folder: Path, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603
        [sys.executable, "-P", "-c", program, *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
    )
