"""`lotor keys protect`, and what the other commands do with protected folders."""

import json
import sys
from io import StringIO
from pathlib import Path

import pytest

from commands import lotor
from lotor.runtime.daemon.authority import AuthorityFolder
from lotor.runtime.daemon.config import PartyConfig, write_config
from lotor.runtime.daemon.credentials import VARIABLE, Credential
from lotor.runtime.daemon.kit import Kit
from lotor.sandbox.kits import make_kits
from runtime.daemon.protected import CHEAP, PASSPHRASE, credential_file, protect_with_key_file

TYPED = Credential("passphrase", PASSPHRASE.encode(), "what was typed")


@pytest.fixture(autouse=True)
def _in_a_new_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setattr(sys, "stdin", StringIO())


def data(*arguments: str) -> dict[str, object]:
    done = lotor(*arguments, "--json")
    assert done.returncode == 0, done.stderr
    found: dict[str, object] = json.loads(done.stdout)
    return found


def refused(*arguments: str) -> str:
    done = lotor(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1, "one line says it all"
    return done.stderr


def test_an_authority_is_protected_unless_somebody_says_otherwise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = refused("keys", "authority", "clinics")
    assert "a new passphrase for the authority clinics is needed" in words
    assert VARIABLE in words
    assert not Path("authority").exists()
    credential_file(tmp_path, monkeypatch)
    done = lotor("keys", "authority", "clinics", "--json")
    assert json.loads(done.stdout)["protection"] == "passphrase"
    assert f"Keep the passphrase, which is the content of {tmp_path}" in done.stderr
    assert f"({VARIABLE}), where no copy of this folder is" in done.stderr
    assert b"ENCRYPTED" in Path("authority/key.pem").read_bytes()
    plain = lotor("keys", "authority", "clinics", "--dir", "plain", "--unprotected", "--json")
    assert json.loads(plain.stdout)["protection"] == "none"
    assert "WARNING: plain/key.pem is not encrypted" in plain.stderr
    assert "ENCRYPTED" not in Path("plain/key.pem").read_text()
    assert "exists already" in refused("keys", "authority", "clinics", "--unprotected")


def test_an_authority_with_a_key_file() -> None:
    made = data("keys", "authority", "clinics", "--new-key-file", "clinics.key")
    assert made["protection"] == "key-file"
    assert AuthorityFolder(Path("authority")).authority.name == "clinics"
    assert "exclude each other" in refused(
        "keys", "authority", "x", "--dir", "x", "--key-file", "a", "--new-key-file", "b"
    )
    assert "leave one of them out" in refused(
        "keys", "authority", "x", "--dir", "x", "--unprotected", "--key-file", "clinics.key"
    )
    assert "exists already" in refused("keys", "authority", "x", "--new-key-file", "other.key")
    assert not Path("other.key").exists()


def test_whatever_needs_the_authoritys_key_asks_for_its_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    AuthorityFolder.create(Path("authority"), "clinics", credential=TYPED, cost=CHEAP)
    lotor("keys", "request", "--role", "owner", "--name", "lyon")
    before = {path: path.read_bytes() for path in Path("authority").iterdir()}
    commands = [
        ("keys", "sign", "lyon/request.pem", "--yes"),
        ("keys", "revoke", "lyon"),
        ("keys", "refresh"),
    ]
    for command in commands:
        assert "the passphrase of the authority clinics is needed" in refused(*command)
        assert {path: path.read_bytes() for path in Path("authority").iterdir()} == before
    assert not Path("lyon.certificate.pem").exists()
    assert data("keys", "show", "authority")["protection"] == "passphrase"  # asks nobody
    credential_file(tmp_path, monkeypatch)
    for command in commands:
        assert data(*command)
    assert "revoked" in lotor("keys", "show", "authority").stdout


def test_a_kit_is_protected_shown_and_taken_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kit = make_kits(tmp_path, {"lyon": "owner"})["lyon"]
    key = Kit(kit).key.public_bytes
    credential_file(tmp_path, monkeypatch)
    done = lotor("keys", "protect", "--kit", "lyon")
    assert done.returncode == 0, done.stderr
    assert "protection" in done.stdout
    assert "Key and journal are encrypted now" in done.stderr
    assert "Keep the passphrase" in done.stderr
    assert PASSPHRASE not in done.stdout + done.stderr
    monkeypatch.delenv(VARIABLE)
    assert data("keys", "show", "lyon")["protection"] == "passphrase"
    assert "there is no terminal to ask at" in refused("keys", "unprotect", "--kit", "lyon")
    credential_file(tmp_path, monkeypatch)
    back = lotor("keys", "unprotect", "--kit", "lyon", "--json")
    assert json.loads(back.stdout)["protection"] == "none"
    assert "WARNING" in back.stderr
    assert Kit(kit).key.public_bytes == key


def test_one_folder_must_be_named(tmp_path: Path) -> None:
    for command in ("protect", "unprotect"):
        assert "name one folder" in refused("keys", command)
        assert "name one folder" in refused("keys", command, "--kit", "a", "--authority", "b")
        assert "is missing" in refused("keys", command, "--kit", "nowhere")
        assert "is missing" in refused("keys", command, "--authority", "nowhere")


def test_commands_of_a_protected_party_never_wait_for_somebody_to_type(tmp_path: Path) -> None:
    kit = make_kits(tmp_path, {"lyon": "owner"})["lyon"]
    write_config(kit / "party.toml", PartyConfig())
    protect_with_key_file(kit, tmp_path / "lyon.key")
    assert lotor("runs", "list", "--kit", "lyon", "--json").returncode == 0
    (tmp_path / "lyon.key").unlink()
    for command in (("runs", "list"), ("serve",), ("keys", "renew"), ("keys", "unprotect")):
        assert "lyon.key is missing: put it back" in refused(*command, "--kit", "lyon")
    found = lotor("doctor", "--kit", "lyon", "--json")
    problems = {one["check"] for one in json.loads(found.stdout) if one["result"] == "problem"}
    assert "protection" in problems
    assert not {"key", "certificate", "journal"} & problems


def test_doctor_gives_no_advice_about_what_it_could_not_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kit = make_kits(tmp_path, {"lyon": "owner"})["lyon"]
    write_config(kit / "party.toml", PartyConfig())
    lotor("runs", "list", "--kit", str(kit))
    credential_file(tmp_path, monkeypatch)
    assert lotor("keys", "protect", "--kit", str(kit)).returncode == 0
    credential_file(tmp_path, monkeypatch, "not " + PASSPHRASE)
    wrong = json.loads(lotor("doctor", "--kit", str(kit), "--json").stdout)
    (todo,) = [one["todo"] for one in wrong if one["check"] == "protection"]
    assert todo.startswith("try again with the right passphrase; if it is lost, ")
    monkeypatch.delenv(VARIABLE)
    locked = json.loads(lotor("doctor", "--kit", str(kit), "--json").stdout)
    problems = {one["check"] for one in locked if one["result"] == "problem"}
    assert problems & {"protection", "journal", "runs", "trusted"} == {"protection"}
    (kit / "protection.json").unlink()
    lost = json.loads(lotor("doctor", "--kit", str(kit), "--json").stdout)
    assert not any(one["check"] == "protection" for one in lost)
    assert any("no protection.json beside it" in one["found"] for one in lost)
