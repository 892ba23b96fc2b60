"""A package that only has entry points: its policy and its protocol work wherever ours do.

CONTRIBUTING.md says what it had to write; nothing in Lotor knows of it.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from acceptance.installed import install

# Commands one after another, as in tests/commands.py: each is an array on stdin, and an answer on
# stdout has its exit code and what it printed.
COMMANDS = """
import json, sys
from commands import lotor
for line in sys.stdin:
    done = lotor(*json.loads(line))
    print(json.dumps([done.returncode, done.stdout, done.stderr]), flush=True)
"""


class Installed:
    """A Python in which the package is installed."""

    def __init__(self, site: Path) -> None:
        paths = [str(site), str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
        self._process = subprocess.Popen(  # noqa: S603
            [sys.executable, "-c", COMMANDS],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def lotor(self, *arguments: str, code: int = 0) -> str:
        """What a command prints; its errors, if it is to fail."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps(arguments), file=self._process.stdin, flush=True)
        found, out, err = json.loads(self._process.stdout.readline())
        assert found == code, err
        return str(out or err if code else out)

    def close(self) -> None:
        self._process.communicate()


@pytest.fixture(scope="module")
def there(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installed]:
    with closing(Installed(install(tmp_path_factory.mktemp("site")))) as made:
        yield made


def test_its_policy_is_listed_with_the_protocols_that_run_it(there: Installed) -> None:
    rows = json.loads(there.lotor("policies", "--json"))
    protocols = {row["policy"]: row["protocols"] for row in rows}
    assert protocols["first-best:optimism=0.5,often=5.0"] == ["samba", "toy", "plain"]
    assert "toy" in protocols["ucb"]


def test_its_policy_runs_in_plain_and_under_our_protocol(there: Installed) -> None:
    options = ("--arms", "0.9,0.5,0.1", "--budget", "60", "--seed", "7", "--json")
    plain = json.loads(there.lotor("run", "plain", "--policy", "first-best", *options))
    found = json.loads(there.lotor("run", "samba", "--policy", "first-best", *options))
    assert found["reward"] == plain["reward"]
    assert found["options"]["policy"] == "first-best:optimism=0.5,often=5.0"


@pytest.mark.parametrize("policy", ["first-best:often=3", "pursuit", "epsilon-greedy"])
def test_its_protocol_is_compared_with_plain(there: Installed, policy: str) -> None:
    options = ("--policy", policy, "--arms", "0.9,0.5,0.1", "--budget", "60", "--seed", "7")
    found = json.loads(there.lotor("run", "toy", *options, "--compare", "--json"))
    assert found["same"] is True
    assert found["operations"]["counted"] == found["operations"]["expected"]
    assert found["leakage"]["referee"]["measured"] == "everything"
    shown = there.lotor("run", "toy", *options, "--compare", "--rehearsals", "2")
    assert "referee" in shown
    assert "These must not collude: nobody" in shown


def test_its_options_and_forms_are_the_command_lines_too(there: Installed) -> None:
    assert "How often the referee says hello first." in there.lotor("run", "toy", "--help")
    assert "--rehearsals" in there.lotor("start", "toy", "--help")
    assert "toy has no form 'shared': choose paper" in there.lotor(
        "run", "toy", "--form", "shared", code=2
    )
    assert "--rehearsals belongs to `lotor run toy`" in there.lotor(
        "run", "samba", "--rehearsals", "2", code=2
    )
    planned = json.loads(there.lotor("plan", "toy", "--k", "3", "--budget", "13", "--json"))
    rehearsal = planned.pop("rehearsal")
    assert (rehearsal["rehearsed"], rehearsal["exact"]) == (13, True)
    assert set(rehearsal["bytes_sent"]) == set(rehearsal["cpu_seconds"])
    assert planned == {"protocol": "toy", "form": "paper", "expected": {"scores_compared": 30}}


def test_its_attacks_are_tried_and_its_table_decides(there: Installed) -> None:
    options = ("--arms", "0.9,0.5,0.1", "--budget", "60", "--seed", "7")
    found = json.loads(there.lotor("audit", "toy", *options, "--json"))
    assert found["holds"] is True
    verdicts = {(row["party"], row["attack"]): row["verdict"] for row in found["rows"]}
    assert verdicts["referee", "the largest score"] == "leaks, as stated"
    assert verdicts["owner", "the most telling bit"] == "leaks, as stated"


def test_an_audit_finds_what_its_table_does_not_state(there: Installed) -> None:
    """Sums travel as numbers without padding: a sum of 0 is shorter."""
    options = ("--policy", "first-best", "--arms", "0.9,0.5,0.1", "--budget", "60", "--seed", "7")
    found = there.lotor("audit", "toy", *options, code=1)
    assert "network, lengths of messages: LEAKS MORE THAN STATED" in found


@pytest.mark.long
def test_it_runs_as_daemons_that_are_killed(there: Installed) -> None:
    found = json.loads(there.lotor("demo", "--protocol", "toy", "--kill", "--json"))
    assert found["reward"] == found["plain_reward"]
    assert found["same_arms"] is True
    assert set(found["parties"]) == {"referee", "asker", "left", "right"}


def test_keys_are_made_for_its_parties(there: Installed, tmp_path: Path) -> None:
    made = there.lotor("keys", "demo", str(tmp_path / "made"), "--protocol", "toy", "--owner", "a")
    assert all(name in made for name in ("asker", "referee", "a"))
