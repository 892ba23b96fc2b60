import json
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from lotor.cli.main import app
from lotor.core.errors import ConfigError
from lotor.runtime.daemon.config import Address, PartyConfig, write_config
from lotor.sandbox.kits import make_kits


def doctor(kit: Path, *options: str) -> Result:
    return CliRunner().invoke(app, ["doctor", "--kit", str(kit), *options])


@pytest.fixture
def kit(tmp_path: Path) -> Path:
    kit = make_kits(tmp_path, {"cloud": "controller"})["cloud"]
    shutil.copy(tmp_path / "authority" / "revoked.pem", kit)
    write_config(kit / "party.toml", PartyConfig(listen=Address("127.0.0.1", 0)))
    return kit


def test_warnings_are_no_failure(kit: Path) -> None:
    done = doctor(kit)
    assert done.exit_code == 0, done.output
    assert "problems: 0, warnings: 2" in done.stdout
    assert "lotor serve" in " ".join(done.stdout.split())


def test_problems_are_exit_code_1(kit: Path) -> None:
    (kit / "party.toml").write_text("[owner]\n")
    done = doctor(kit)
    assert done.exit_code == 1
    assert "problems: 1" in done.stdout
    assert "[owner]" not in done.stdout
    assert "owner.pull" in done.stdout


def test_json_for_programs(kit: Path) -> None:
    (kit / "key.pem").chmod(0o644)
    done = doctor(kit, "--json")
    assert done.exit_code == 1
    findings = json.loads(done.stdout)
    assert all(set(one) == {"check", "result", "found", "todo"} for one in findings)
    (problem,) = [one for one in findings if one["result"] == "problem"]
    assert problem["check"] == "key"
    assert "chmod 600" in problem["todo"]


def test_square_brackets_are_shown(kit: Path) -> None:
    write_config(kit / "party.toml", PartyConfig())
    assert "[peers]" in doctor(kit).stdout


def test_no_kit_is_unusable_input(tmp_path: Path) -> None:
    done = doctor(tmp_path / "nowhere")
    assert isinstance(done.exception, ConfigError)
    assert done.stdout == ""
