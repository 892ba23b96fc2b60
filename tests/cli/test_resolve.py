"""`lotor runs resolve` refuses what this party is never asked for."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from lotor.cli.main import app
from lotor.core.errors import InputError
from lotor.runtime.daemon.config import OwnerTable, PartyConfig, write_config
from lotor.runtime.daemon.serving import open_kit
from lotor.runtime.durable.journal import RUNNING, RunRow
from lotor.sandbox.kits import make_kits

PULL = OwnerTable(pull="w:pull", reward_range=(0.0, 2.0))
ACT = OwnerTable(act="w:act")
FEATURES = OwnerTable(features="w:features", dimensions=2)
DECISION = "aa/1"


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
    kit = make_kits(tmp_path / "f", {"lyon": "owner"})["lyon"]
    write_config(kit / "party.toml", PartyConfig(owner=owner))
    with open_kit(kit) as at:
        note = f"in doubt: decision {DECISION}"
        row = RunRow("aa", b"", b"", "owner", RUNNING, note, 1.0, 1.0, "0")
        at.journal.add(row, b"state")
    arguments = ["runs", "resolve", "aa", DECISION, "--kit", str(kit), *options]
    result = CliRunner().invoke(app, arguments)
    with open_kit(kit) as at:
        asked = at.journal.commands.waiting()
    if complaint is None:
        assert result.exit_code == 0
        assert len(asked) == 1
    else:
        assert isinstance(result.exception, InputError)
        assert complaint in str(result.exception)
        assert asked == []
