"""`lotor backup` and `lotor restore`, as an operator uses them."""

import json
from hashlib import sha256
from pathlib import Path

import pytest

from commands import lotor
from lotor.crypto import wrapping
from lotor.runtime.daemon.config import PartyConfig, write_config
from lotor.runtime.daemon.credentials import VARIABLE
from lotor.runtime.daemon.open_kit import open_kit
from lotor.sandbox.kits import make_kits
from runtime.daemon.protected import credential_file


@pytest.fixture(autouse=True)
def _a_kit_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(VARIABLE, raising=False)
    # What a passphrase costs is not tested here.
    monkeypatch.setattr(wrapping, "stretch", lambda secret, salt, _: sha256(secret + salt).digest())
    kit = make_kits(tmp_path / "keys", {"lyon": "owner"})["lyon"]
    kit.rename(tmp_path / "lyon")
    write_config(tmp_path / "lyon" / "party.toml", PartyConfig())
    with open_kit(tmp_path / "lyon"):
        pass


def test_there_and_back_with_a_key_file() -> None:
    done = lotor("backup", "lyon.backup", "--kit", "lyon", "--new-key-file", "b.key", "--json")
    assert done.returncode == 0, done.stderr
    shown = json.loads(done.stdout)
    assert (shown["file"], shown["party"]) == ("lyon.backup", "owner lyon")
    assert shown["bytes"] == Path("lyon.backup").stat().st_size
    assert "Keep b.key where no copy of this file is" in done.stderr
    back = lotor("restore", "lyon.backup", "--kit", "new", "--json")
    assert back.returncode == 0, back.stderr
    shown = json.loads(back.stdout)
    assert (shown["kit"], shown["party"], "replaced" in shown) == ("new", "owner lyon", False)
    assert f"This journal is as of {shown['made']}" in back.stderr
    assert "their other parties refuse it" in back.stderr
    assert Path("new/key.pem").read_bytes() == Path("lyon/key.pem").read_bytes()


def test_there_and_back_with_a_passphrase(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    credential = credential_file(tmp_path, monkeypatch)
    done = lotor("backup", "lyon.backup", "--kit", "lyon")
    assert f"the passphrase, which is the content of {credential}" in done.stderr
    again = lotor("backup", "lyon.backup", "--kit", "lyon")
    assert (again.returncode, again.stdout) == (2, "")
    assert "is not overwritten" in again.stderr
    refused = lotor("restore", "lyon.backup", "--kit", "lyon")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "or use --force, which keeps what is there" in refused.stderr
    back = lotor("restore", "lyon.backup", "--kit", "lyon", "--force")
    assert back.returncode == 0, back.stderr
    assert "What was there is now in lyon/replaced-" in back.stderr
    assert "secrets included" in back.stderr


def test_a_damaged_one_is_one_line(tmp_path: Path) -> None:
    lotor("backup", "lyon.backup", "--kit", "lyon", "--new-key-file", "b.key")
    data = Path("lyon.backup").read_bytes()
    Path("lyon.backup").write_bytes(data[:-1])
    done = lotor("restore", "lyon.backup", "--kit", "new")
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr == (
        "lotor: lyon.backup is damaged: it was cut short or altered, and nothing was written; take "
        "another copy of it, or an older backup\n"
    )
    assert not Path("new").exists()
