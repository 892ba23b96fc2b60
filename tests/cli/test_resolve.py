"""`lotor runs resolve` refuses what this party is never asked for."""

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from lotor.cli.main import app
from lotor.core.errors import InputError
from lotor.runtime.daemon.commands import AnyCommand, Resolve, from_bytes
from lotor.runtime.daemon.config import OwnerTable, PartyConfig, write_config
from lotor.runtime.daemon.serving import open_kit
from lotor.runtime.durable.journal import RUNNING, RunRow
from lotor.sandbox.kits import make_kits

PULL = OwnerTable(pull="w:pull", reward_range=(0.0, 2.0))
ACT = OwnerTable(act="w:act")
FEATURES = OwnerTable(features="w:features", dimensions=2)
DECISION = "aa/1"


def resolved(
    folder: Path, owner: OwnerTable, options: tuple[str, ...], typed: str = ""
) -> tuple[Result, list[AnyCommand]]:
    """What the command said, and what it passed on to the daemon."""
    kit = make_kits(folder / "f", {"lyon": "owner"})["lyon"]
    write_config(kit / "party.toml", PartyConfig(owner=owner))
    with open_kit(kit) as at:
        note = f"in doubt: decision {DECISION}"
        row = RunRow("aa", b"", b"", "owner", RUNNING, note, 1.0, 1.0, "0")
        at.journal.add(row, b"state")
    arguments = ["runs", "resolve", "aa", DECISION, "--kit", str(kit), *options]
    result = CliRunner().invoke(app, arguments, input=typed)
    with open_kit(kit) as at:
        return result, [from_bytes(data) for _, _, data in at.journal.commands.waiting()]


@pytest.mark.parametrize(
    ("owner", "option", "typed", "passed_on"),
    [
        (PULL, "--reward", "1.5\n", Resolve(DECISION, 1.5)),
        (FEATURES, "--features", "0.5,-0.25\n", Resolve(DECISION, features=(0.5, -0.25))),
    ],
)
def test_an_answer_can_be_typed_where_no_list_of_processes_shows_it(
    tmp_path: Path, owner: OwnerTable, option: str, typed: str, passed_on: Resolve
) -> None:
    result, asked = resolved(tmp_path, owner, (option, "-"), typed)
    assert result.exit_code == 0, result.output
    assert asked == [passed_on]


def test_an_answer_that_cannot_be_used_is_not_repeated(tmp_path: Path) -> None:
    result, asked = resolved(tmp_path, PULL, ("--reward", "-"), "7.0625\n")
    assert isinstance(result.exception, InputError)
    assert "7.06" not in str(result.exception)
    assert asked == []


@pytest.mark.parametrize(
    ("owner", "options", "complaint"),
    [
        (PULL, (), "give exactly one of"),
        (PULL, ("--reward", "1", "--again"), "give exactly one of"),
        (PULL, ("--reward", "3"), "reward_range"),
        (PULL, ("--features", "0.5,0.5"), "none, not 2"),
        (ACT, ("--reward", "1"), "that has `pull`"),
        (FEATURES, ("--lost",), "cannot be lost"),
        (FEATURES, ("--features", "0.5"), "2, not 1"),
        (FEATURES, ("--features", "high,low"), "numbers with commas"),
        (PULL, ("--reward", "high"), "--reward takes numbers"),
        (PULL, ("--reward", "1,1"), "--reward takes one number"),
        (PULL, ("--reward", "2"), None),
        (ACT, ("--lost",), None),
        (ACT, ("--again",), None),
        (FEATURES, ("--features", "0.5,-0.5"), None),
        (FEATURES, ("--again",), None),
    ],
)
def test_what_fits_is_passed_on(
    tmp_path: Path, owner: OwnerTable, options: tuple[str, ...], complaint: str | None
) -> None:
    result, asked = resolved(tmp_path, owner, options)
    if complaint is None:
        assert result.exit_code == 0
        assert len(asked) == 1
    else:
        assert isinstance(result.exception, InputError)
        assert complaint in str(result.exception)
        assert asked == []
