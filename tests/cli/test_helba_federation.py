"""HELBA's parties on the command line: keys, orders, checks and the demo."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from lotor.cli.main import app
from lotor.core.errors import InputError
from lotor.environments import LinearContexts
from lotor.protocols.helba import Helba
from lotor.protocols.helba.demo import one_user
from lotor.sandbox import Federation

FORM = Helba.form_called("paper")
SEATS = [seat for role in FORM.roles for seat in role.seats]
LOTOR = [sys.executable, "-P", "-c", "from lotor.cli import main; main()"]


def output(*arguments: str) -> str:
    done = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_trial_keys(tmp_path: Path) -> None:
    made = ["keys", "demo", str(tmp_path / "trial"), "--protocol", "helba"]
    assert set(json.loads(output(*made, "--json"))) == {"authority", *SEATS}
    with pytest.raises(
        InputError, match="--owner does not go with helba: its parties have fixed roles"
    ):
        CliRunner().invoke(app, [*made, "--owner", "lyon"], catch_exceptions=False)


@pytest.mark.parametrize("role", ["user", "key-authority"])
def test_a_request_for_each_role(tmp_path: Path, role: str) -> None:
    kit = tmp_path / "kit"
    made = output("keys", "request", "--role", role, "--name", "ann", "--kit", str(kit), "--json")
    assert json.loads(made)["role"] == role


def test_an_order_says_all_that_was_chosen() -> None:
    options: dict[str, float | str] = {
        "eta": 0.5,
        "stages": 5,
        "rms_length": 3.5,
        "form": "paper",
    }
    ordered = Helba.configured(None, options).order_options()
    assert ordered["stages"] == 5
    assert ordered["rms_length"] == "3.5"
    assert "eta=0.5" in str(ordered["policy"])
    by_text = Helba.configured("batched-oful:eta=0.5", {})
    assert by_text.order_options() == Helba.configured(None, {"eta": 0.5}).order_options()


@pytest.mark.parametrize(
    ("protocol", "options", "complaint"),
    [
        ("helba", ["--key-bits", "2048"], "--key-bits belongs to .*`lotor start samba`"),
        ("helba", ["--policy", "ucb"], "helba does not run the policy ucb, which is for samba"),
        ("helba", ["--policy", "oful"], r"Helba takes BatchedOFUL\(\) as its policy"),
        ("helba", ["--epsilon", "0.1"], "--epsilon belongs to `lotor start ppcb`"),
        ("samba", ["--stages", "4"], "--stages belongs to `lotor start helba`"),
        ("ppcb", ["--eta", "0.1"], "--eta belongs to `lotor start helba`"),
    ],
)
def test_what_start_refuses(
    tmp_path: Path, protocol: str, options: list[str], complaint: str
) -> None:
    order = ["start", protocol, "--kit", str(tmp_path), "--budget", "9", *options]
    with pytest.raises(InputError, match=complaint):
        CliRunner().invoke(app, order, catch_exceptions=False)


def test_the_demo_is_the_papers_toy_problem_where_that_takes_seconds() -> None:
    assert Helba().demo_rounds == Helba.default_budget == 130
    assert Helba(form="paper").demo_rounds == 10


def test_the_demo_has_no_hospitals_to_count() -> None:
    done = CliRunner().invoke(app, ["demo", "--protocol", "helba", "--hospitals", "3"])
    assert "one user: give no number of hospitals" in str(done.exception)


@pytest.mark.parametrize("name", SEATS)
def test_the_doctor_finds_nothing_wrong(tmp_path: Path, name: str) -> None:
    made = Federation(tmp_path / "f", FORM, one_user(LinearContexts.toy(2, seed=5), seed=1), 1)
    made.prepare()
    done = CliRunner().invoke(app, ["doctor", "--kit", str(made.kits[name]), "--json"])
    found = {one["check"]: one["result"] for one in json.loads(done.stdout)}
    assert found["role"] == "ok"
    # A function without a check() is hinted at.
    assert all(found[key] in ("ok", "hint") for key in ("pull", "features") if key in found)


@pytest.mark.long
@pytest.mark.parametrize("options", [(), ("--kill",)], ids=["smooth", "kill"])
def test_the_demo_equals_plain(options: tuple[str, ...]) -> None:
    command = [*LOTOR, "demo", "--protocol", "helba", "--budget", "5", "--json", *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)  # noqa: S603
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["same_arms"]
    assert document["reward"] == document["plain_reward"]
    assert set(document["parties"]) == set(SEATS)
    assert (document["kills"] > 0) == bool(options)
