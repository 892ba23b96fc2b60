"""`lotor decisions` and `lotor reward`: from another process than the daemon's, or without one."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from lotor.cli.main import app
from lotor.core.effects import Decision
from lotor.core.errors import InputError
from lotor.runtime.daemon.config import OwnerTable, PartyConfig, write_config
from lotor.runtime.daemon.serving import open_kit
from lotor.runtime.durable.journal import RUNNING, RunRow
from lotor.sandbox.kits import make_kits

RUN = "ab" * 16


@pytest.fixture
def kit(tmp_path: Path) -> Path:
    """A party with three decisions, the second of which is hidden from it."""
    kit = make_kits(tmp_path / "f", {"lyon": "owner"})["lyon"]
    owner = OwnerTable(inbox=True, reward_range=(0.0, 2.0))
    write_config(kit / "party.toml", PartyConfig(owner=owner))
    with open_kit(kit) as at:
        at.journal.add(RunRow(RUN, b"", b"", "lyon", RUNNING, "", 1.0, 1.0, "0"), b"state")
        record = at.journal.record(RUN)
        record.show(Decision.named(RUN, 1, 0))
        record.show(Decision.hidden(RUN, 2))
        record.show(Decision.named(RUN, 3, 1))
    return kit


def lotor_command(kit: Path, *arguments: str, typed: str = "") -> Result:
    return CliRunner().invoke(app, [*arguments, "--kit", str(kit)], input=typed)


def refused(kit: Path, *arguments: str, typed: str = "") -> str:
    result = lotor_command(kit, *arguments, typed=typed)
    assert isinstance(result.exception, InputError), result.output
    return str(result.exception)


def waiting(kit: Path) -> list[str]:
    listed = lotor_command(kit, "decisions", "list", "--json")
    return [one["id"].removeprefix(f"{RUN}/") for one in json.loads(listed.stdout)]


def test_decisions_are_listed_and_taken_once(kit: Path) -> None:
    shown = lotor_command(kit, "decisions", "list").output
    assert "hidden here" in shown
    assert "to be carried out" in shown
    taken = lotor_command(kit, "decisions", "take", RUN[:4], "--count", "2").stdout.split("\n")
    assert taken == [f"{RUN}/0/1\tarm 0", f"{RUN}/2\thidden here", ""]
    assert json.loads(lotor_command(kit, "decisions", "take", "--json").stdout)[0]["round"] == 3
    assert "no decision waits" in lotor_command(kit, "decisions", "take").output
    assert "taken 0 s ago" in lotor_command(kit, "decisions", "list").output
    assert lotor_command(kit, "decisions", "give-back", f"{RUN}/2").exit_code == 0
    assert lotor_command(kit, "decisions", "take").stdout.startswith(f"{RUN}/2\t")
    assert waiting(kit) == ["0/1", "2", "1/3"]


@pytest.mark.parametrize("decision", ["1/3", f"{RUN}/1/3"])
def test_an_outcome_is_typed_where_no_list_of_processes_shows_it(kit: Path, decision: str) -> None:
    done = lotor_command(kit, "reward", "ab", decision, typed="1.25\n")
    assert f"1 outcome of run {RUN} written down" in done.output
    again = lotor_command(kit, "reward", "ab", decision, typed="1.25\n")
    assert "0 outcomes" in again.output
    assert "1 had been told before" in again.output
    assert "another outcome already" in refused(kit, "reward", "ab", decision, typed="0.5")
    assert waiting(kit) == ["0/1", "2"]


def test_outcomes_come_from_files(kit: Path, tmp_path: Path) -> None:
    (tmp_path / "one").write_text("0.5\n")
    assert lotor_command(kit, "reward", RUN, "2", "--file", str(tmp_path / "one")).exit_code == 0
    many = "decision,reward\n2,0.5\n0/1,\n1/3,2\n"
    (tmp_path / "many.csv").write_text(many)
    done = lotor_command(kit, "reward", RUN, "--csv", str(tmp_path / "many.csv"))
    assert "2 outcomes" in done.output
    assert "1 had been told before" in done.output
    assert waiting(kit) == []
    assert lotor_command(kit, "reward", RUN, "--csv", "-", typed=many).exit_code == 0


def test_a_lost_outcome(kit: Path) -> None:
    assert lotor_command(kit, "reward", RUN, "2", "--lost").exit_code == 0
    assert waiting(kit) == ["0/1", "1/3"]


@pytest.mark.parametrize(
    ("arguments", "typed", "complaint"),
    [
        (["2"], "3.5", "outside this party's reward_range"),
        (["2"], "a secret", "does not hold one number"),
        (["2"], "", "does not hold one number"),
        (["9/9"], "1", "there is no decision"),
        ([], "", "give the id of one decision, or --csv"),
        (["2", "--csv", "-"], "", "give the id of one decision, or --csv"),
        (["2", "--lost", "--file", "f"], "", "--lost stands for the outcome"),
        (["2", "--file", "absent"], "", "absent cannot be read"),
        (["--csv", "-"], "reward\n", "does not begin with the line"),
        (["--csv", "-"], "decision,reward\n2,x\n", "line 2 of -"),
        (["--csv", "-"], "decision,reward\n2,1\n9/9,1\n", "there is no decision"),
    ],
    ids=str,
)
def test_what_cannot_be_told_is_refused(
    kit: Path, arguments: list[str], typed: str, complaint: str
) -> None:
    said = refused(kit, "reward", RUN, *arguments, typed=typed)
    assert complaint in said
    assert "secret" not in said
    assert waiting(kit) == ["0/1", "2", "1/3"]


def test_a_party_that_carries_out_nothing_has_no_decisions(kit: Path) -> None:
    write_config(kit / "party.toml", PartyConfig())
    assert "carries out no decisions" in refused(kit, "decisions", "list")
    assert "carries out no decisions" in refused(kit, "reward", RUN, "2", typed="1")
