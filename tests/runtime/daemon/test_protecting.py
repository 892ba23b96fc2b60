"""Folders are protected and unprotected; a crash between any two writes loses nothing."""

import fcntl
import getpass
import os
import shutil
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from lotor.core.errors import ConfigError, JournalError
from lotor.crypto.certificates import PartyKey, Subject
from lotor.runtime.daemon.authority import AuthorityFolder
from lotor.runtime.daemon.credentials import VARIABLE
from lotor.runtime.daemon.enrolment import (
    install_certificate,
    make_request,
    renew_request,
)
from lotor.runtime.daemon.kit import Kit, unlock_key
from lotor.runtime.daemon.protecting import (
    Choice,
    SecretFolder,
    authority_folder,
    kit_folder,
    protect,
    unprotect,
)
from lotor.runtime.durable.file_store import Stores
from lotor.runtime.durable.journal import Journal
from lotor.sandbox.kits import make_kits
from runtime.daemon.protected import (
    CHEAP,
    PASSPHRASE,
    Killed,
    credential_file,
    killed_at,
    protect_with_key_file,
)
from runtime.daemon.test_credentials import Terminal

MEMBERS = {"lyon": "owner", "porto": "owner"}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    make_kits(folder, MEMBERS)
    return folder


@pytest.fixture
def here(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two kits and their authority, all unprotected, and a credential file."""
    shutil.copytree(made, tmp_path / "here")
    credential_file(tmp_path, monkeypatch)
    return tmp_path / "here"


FOLDERS = {"lyon": kit_folder, "authority": authority_folder}
folders = pytest.mark.parametrize("name", FOLDERS)


def secret_folder(here: Path, name: str) -> SecretFolder:
    return FOLDERS[name](here / name)


def key_of(path: Path) -> bytes:
    """The private key, as whoever uses the folder comes to it."""
    key = AuthorityFolder(path).authority._key if path.name == "authority" else Kit(path).key
    return key.private.private_bytes_raw()


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def plain_key(path: Path) -> bytes:
    """The middle line of a PEM file, which holds the key."""
    return path.read_bytes().splitlines()[1]


@folders
def test_a_protected_folder_is_used_as_before(here: Path, name: str) -> None:
    path, folder = here / name, secret_folder(here, name)
    before, key, plain = contents(path), key_of(path), plain_key(path / "key.pem")
    assert protect(folder, Choice(), cost=CHEAP) == "protected"
    assert key_of(path) == key
    after = contents(path)
    assert {file for file in after if after[file] != before.get(file)} == {
        "key.pem",
        "protection.json",
    }
    for secret in (plain, PASSPHRASE.encode()):
        assert not [file for file in after if secret in after[file]]
    assert {(path / file).stat().st_mode & 0o777 for file in ("key.pem", "protection.json")} == {
        0o600
    }
    unprotect(folder)
    assert contents(path) == before
    with pytest.raises(ConfigError, match="is not protected"):
        unprotect(folder)


@folders
@pytest.mark.parametrize("back", [False, True])
def test_killed_between_any_two_writes_it_completes_when_it_is_run_again(
    here: Path, tmp_path: Path, name: str, back: bool
) -> None:
    path, folder = here / name, secret_folder(here, name)
    key, plain = key_of(path), plain_key(path / "key.pem")
    if back:
        protect(folder, Choice(), cost=CHEAP)
    start = tmp_path / "start"
    shutil.copytree(path, start)

    def change() -> None:
        if back:
            unprotect(folder)
        else:
            protect(folder, Choice(), cost=CHEAP)

    step, died = 0, set()
    while True:
        shutil.rmtree(path)
        shutil.copytree(start, path)
        try:
            with killed_at(step) as done:
                change()
        except Killed:
            died.update(done)
        else:
            break
        step += 1
        if (path / "protection.json").exists():
            _opens_or_says_how_to_go_on(path, key)
        _completed(folder, key, plain, back=back)
    assert step > 12
    assert {"fsync", "replace"} <= died
    assert not back or "unlink" in died


def _opens_or_says_how_to_go_on(path: Path, key: bytes) -> None:
    if _is_done(path):
        assert key_of(path) == key
    else:
        with pytest.raises(
            ConfigError, match=r"was interrupted .*nothing is lost: run `lotor keys"
        ):
            key_of(path)


def _completed(folder: SecretFolder, key: bytes, plain: bytes, *, back: bool) -> None:
    path = folder.path
    protected = (path / "protection.json").exists()
    if back and protected:
        unprotect(folder)
    elif not back and not (protected and _is_done(path)):
        protect(folder, Choice(), cost=CHEAP)
    assert key_of(path) == key
    assert (path / "protection.json").exists() is not back
    left = [file for file in path.iterdir() if file.name.startswith(".")]
    assert back is False or not protected or not left
    if not back:
        assert not [file for file, data in contents(path).items() if plain in data]


def _is_done(path: Path) -> bool:
    return b'"phase": "protected"' in (path / "protection.json").read_bytes()


@folders
@pytest.mark.parametrize("back", [False, True])
def test_whoever_was_interrupted_can_also_go_the_other_way(
    here: Path, name: str, back: bool
) -> None:
    path, folder = here / name, secret_folder(here, name)
    key = key_of(path)
    if back:
        protect(folder, Choice(), cost=CHEAP)
    for step in range(1000):
        with killed_at(step), suppress(Killed):
            unprotect(folder) if back else protect(folder, Choice(), cost=CHEAP)
        words = b'"phase": "unprotecting"' if back else b'"phase": "protecting"'
        if (path / "protection.json").exists() and words in contents(path)["protection.json"]:
            break
    with pytest.raises(ConfigError, match="was interrupted"):
        key_of(path)
    if back:
        assert protect(folder, Choice(), cost=CHEAP) == "completed"
    else:
        unprotect(folder)
    assert key_of(path) == key
    assert (path / "protection.json").exists() is back


def test_what_a_killed_process_left_is_removed(here: Path) -> None:
    """A key in clear, for instance, under the name that a file has while it is written."""
    left = here / "lyon" / ".key.pem.0123456789abcdef"
    shutil.copy(here / "lyon" / "key.pem", left)
    kept = here / "lyon" / ".key.pem.mine"
    kept.touch()
    with left.open("rb") as old:
        protect(kit_folder(here / "lyon"), Choice(), cost=CHEAP)
        assert set(old.read()) == {0}
    assert (left.exists(), kept.exists()) == (False, True)


@pytest.mark.parametrize("back", [False, True])
def test_a_second_name_that_a_killed_process_left_takes_no_key_away(here: Path, back: bool) -> None:
    key = key_of(here / "lyon")
    if back:
        protect(kit_folder(here / "lyon"), Choice(), cost=CHEAP)
    left = here / "lyon" / ".key.pem.0123456789abcdef"
    left.hardlink_to(here / "lyon" / "key.pem")
    if back:
        unprotect(kit_folder(here / "lyon"))
    else:
        protect(kit_folder(here / "lyon"), Choice(), cost=CHEAP)
    assert not left.exists()
    assert key_of(here / "lyon") == key


def test_the_old_key_is_overwritten_unless_somebody_keeps_it(here: Path) -> None:
    path = here / "lyon" / "key.pem"
    with path.open("rb") as old:
        protect(kit_folder(here / "lyon"), Choice(), cost=CHEAP)
        assert set(old.read()) == {0}
    unprotect(kit_folder(here / "lyon"))
    plain, copy = path.read_bytes(), here / "copy"
    copy.hardlink_to(path)
    protect(kit_folder(here / "lyon"), Choice(), cost=CHEAP)
    assert copy.read_bytes() == plain != path.read_bytes()


def test_a_party_that_is_served_is_not_protected(here: Path) -> None:
    folder = kit_folder(here / "lyon")
    assert folder.state is not None
    folder.state.mkdir()
    before = contents(folder.path)
    lock = os.open(folder.state / "journal.lock", os.O_CREAT | os.O_RDWR, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(JournalError, match="serves owner lyon now, and nothing was changed"):
            protect(folder, Choice(), cost=CHEAP)
        assert contents(folder.path) == before
    finally:
        os.close(lock)
    protect(folder, Choice(), cost=CHEAP)


@pytest.mark.parametrize("back", [False, True])
@pytest.mark.parametrize("damage", ["unreadable", "altered"])
def test_a_file_of_a_run_that_cannot_be_used_changes_nothing(
    here: Path, back: bool, damage: str
) -> None:
    folder = kit_folder(here / "lyon")
    assert folder.state is not None
    Journal(folder.state, folder.subject).close()
    Stores(folder.state / "store").of("ab" * 16).keep(b"0123456789abcdef" * 20)
    if back:
        protect(folder, Choice(), cost=CHEAP)

    def change() -> None:
        unprotect(folder) if back else protect(folder, Choice(), cost=CHEAP)

    (kept,) = (folder.state / "store" / ("ab" * 16)).iterdir()
    whole = kept.read_bytes()
    if damage == "altered":
        kept.write_bytes(whole[:-1])
    else:
        kept.unlink()
        kept.mkdir()
    journal = folder.state / "journal.db"
    before = contents(folder.path), journal.read_bytes()
    words = r"cannot be used .*run this command again; nothing was changed"
    with pytest.raises(JournalError, match=words) as refused:
        change()
    assert str(kept) in str(refused.value)
    assert (contents(folder.path), journal.read_bytes()) == before
    assert key_of(folder.path)
    if damage != "altered":
        kept.rmdir()
    kept.write_bytes(whole)
    change()
    assert (folder.path / "protection.json").exists() is not back


def test_a_key_file_is_found_where_it_was_made(
    here: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(VARIABLE)
    monkeypatch.chdir(tmp_path)
    protect_with_key_file(here / "lyon", Path("lyon.key"))
    monkeypatch.chdir(here)
    kit = Kit(here / "lyon")
    assert kit.protection is not None
    assert kit.protection.key_file == str(tmp_path / "lyon.key")
    assert key_of(here / "lyon") == kit.key.private.private_bytes_raw()
    (tmp_path / "lyon.key").rename(tmp_path / "moved.key")
    with pytest.raises(ConfigError, match=r"lyon\.key is missing: put it back"):
        key_of(here / "lyon")
    monkeypatch.setenv(VARIABLE, str(tmp_path / "moved.key"))
    assert key_of(here / "lyon")


def test_a_key_file_within_the_folder_would_protect_nothing(here: Path) -> None:
    path = here / "lyon" / "lyon.key"
    with pytest.raises(ConfigError, match="would lie in the folder that it protects"):
        protect(kit_folder(here / "lyon"), Choice(new_key_file=path), cost=CHEAP)
    assert not path.exists()
    assert not (here / "lyon" / "protection.json").exists()


@folders
def test_what_opens_a_folder_can_be_changed(
    here: Path, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, folder = here / name, secret_folder(here, name)
    protect(folder, Choice(), cost=CHEAP)
    key, before = key_of(path), contents(path)
    assert protect(folder, Choice(new_key_file=tmp_path / "new.key"), cost=CHEAP) == "changed"
    after = contents(path)
    assert {file for file in after if after[file] != before[file]} == {"protection.json"}
    with pytest.raises(ConfigError, match="does not open"):
        key_of(path)
    monkeypatch.delenv(VARIABLE)
    assert key_of(path) == key
    monkeypatch.setattr(sys, "stdin", Terminal())
    monkeypatch.setattr(getpass, "getpass", lambda prompt, stream: "a passphrase that is new")
    assert protect(folder, Choice(), cost=CHEAP) == "changed"
    assert key_of(path) == key
    (tmp_path / "new.key").unlink()
    assert key_of(path) == key


def test_killed_while_it_is_changed_the_old_or_the_new_one_opens_it(
    here: Path, tmp_path: Path
) -> None:
    folder, choice = kit_folder(here / "lyon"), Choice(key_file=tmp_path / "new.key")
    protect_with_key_file(here / "porto", tmp_path / "new.key")
    protect(folder, Choice(), cost=CHEAP)
    key, before = key_of(here / "lyon"), contents(here / "lyon")["protection.json"]
    step = 0
    while contents(here / "lyon")["protection.json"] == before:
        with killed_at(step):
            try:
                protect(folder, choice, cost=CHEAP)
            except Killed:
                step += 1
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv(VARIABLE)
        assert key_of(here / "lyon") == key


def test_a_kit_is_protected_before_it_has_a_certificate_and_then_renewed(
    here: Path, tmp_path: Path
) -> None:
    kit = tmp_path / "graz"
    make_request(kit, Subject("graz", "owner"))
    assert protect(kit_folder(kit), Choice(), cost=CHEAP) == "protected"
    authority = AuthorityFolder(here / "authority")
    for _ in range(2):
        signed = authority.sign((kit / "request.pem").read_bytes())
        (tmp_path / "signed.pem").write_bytes(authority.bundle(signed))
        install_certificate(kit, tmp_path / "signed.pem")
        assert Kit(kit).key.public_bytes == unlock_key(kit).public_bytes == signed.key_bytes
        renew_request(kit)


def test_the_secret_is_asked_for_once(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    protect(kit_folder(here / "lyon"), Choice(), cost=CHEAP)
    monkeypatch.delenv(VARIABLE)
    asked: list[str] = []

    def typed(prompt: str, stream: object) -> str:
        asked.append(prompt)
        return PASSPHRASE

    monkeypatch.setattr(sys, "stdin", Terminal())
    monkeypatch.setattr(getpass, "getpass", typed)
    kit = Kit(here / "lyon")
    assert kit.subject.name == "lyon"
    assert asked == []
    assert kit.key is not None
    assert kit.password is not None
    assert kit.journal_key is not None
    assert asked == ["Passphrase of owner lyon: "]


# -- wrong, lost and swapped -----------------------------------------------------------------------


def refused(here: Path, name: str, match: str) -> None:
    """Whoever uses, protects or unprotects a folder hears this, and nothing is changed."""
    before = contents(here / name)
    uses: list[Callable[[], object]] = [
        lambda: key_of(here / name),
        lambda: protect(secret_folder(here, name), Choice(), cost=CHEAP),
        lambda: unprotect(secret_folder(here, name)),
    ]
    for use in uses:
        with pytest.raises(ConfigError, match=match):
            use()
        assert contents(here / name) == before


@folders
def test_a_wrong_or_lost_passphrase(
    here: Path, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    protect(secret_folder(here, name), Choice(), cost=CHEAP)
    credential_file(tmp_path, monkeypatch, "not " + PASSPHRASE)
    lost = {"lyon": "`lotor keys request` in a new folder", "authority": "sign every party's"}
    refused(
        here,
        name,
        rf"credential \({VARIABLE}\) does not open .*protection\.json, and nothing was changed; it "
        rf"is not the passphrase of .*: try again with the right passphrase; .*{lost[name]}",
    )


@folders
def test_a_wrong_key_file(here: Path, tmp_path: Path, name: str) -> None:
    choice = Choice(new_key_file=tmp_path / "key")
    protect(secret_folder(here, name), choice, cost=CHEAP)
    refused(here, name, "does not open .*it is not the key file of")


@pytest.mark.parametrize(("old", "new"), [("passphrase", "key-file"), ('"r": 1', '"r": 2')])
def test_an_altered_protection(here: Path, old: str, new: str) -> None:
    protect(kit_folder(here / "lyon"), Choice(), cost=CHEAP)
    path = here / "lyon" / "protection.json"
    path.write_text(path.read_text().replace(old, new))
    refused(here, "lyon", r"does not open .*protection\.json, and nothing was changed; .*altered")


@pytest.mark.parametrize("phase", ["protecting", "unprotecting"])
def test_a_whole_protection_cannot_be_passed_off_as_interrupted(here: Path, phase: str) -> None:
    """Else a plain file in its folder would be taken for one that was not encrypted yet."""
    protect(kit_folder(here / "lyon"), Choice(), cost=CHEAP)
    path = here / "lyon" / "protection.json"
    path.write_text(path.read_text().replace('"protected"', f'"{phase}"'))
    refused(here, "lyon", r"was interrupted|does not open .*nothing was changed; .*altered")


@pytest.mark.parametrize(
    "damage",
    [
        b"",
        b"{}",
        b'{"version": 2}',
        b"\xff",
        b'{"version": 1, "wrapped": {"cost": {"log2_n": 40}}}',
        b'{"x":' + b"[" * 9999,
    ],
)
def test_a_damaged_or_hostile_protection(here: Path, damage: bytes) -> None:
    protect(kit_folder(here / "lyon"), Choice(), cost=CHEAP)
    (here / "lyon" / "protection.json").write_bytes(damage)
    refused(here, "lyon", r"protection\.json is damaged or of another version .*put it back")


def test_a_protection_that_others_may_read(here: Path) -> None:
    protect(kit_folder(here / "lyon"), Choice(), cost=CHEAP)
    (here / "lyon" / "protection.json").chmod(0o644)
    refused(here, "lyon", "other users of this machine may reach it")


def test_the_protection_of_another_kit(here: Path) -> None:
    for name in MEMBERS:
        protect(kit_folder(here / name), Choice(), cost=CHEAP)
    shutil.copy(here / "porto" / "protection.json", here / "lyon")
    refused(here, "lyon", r"protection\.json is that of owner porto, and .*lyon is the folder of")


def test_the_protection_of_an_older_kit_of_the_same_name(here: Path, tmp_path: Path) -> None:
    make_kits(tmp_path / "older", MEMBERS)
    for folder in (here, tmp_path / "older"):
        protect(kit_folder(folder / "lyon"), Choice(), cost=CHEAP)
    shutil.copy(tmp_path / "older" / "lyon" / "protection.json", here / "lyon")
    refused(here, "lyon", r"key\.pem does not open with the key in .*put back both")


def test_the_encrypted_key_of_another_kit(here: Path) -> None:
    for name in MEMBERS:
        protect(kit_folder(here / name), Choice(), cost=CHEAP)
    shutil.copy(here / "porto" / "key.pem", here / "lyon")
    refused(here, "lyon", r"key\.pem does not open with the key in .*put back both")


@folders
def test_a_plain_key_in_a_protected_folder(here: Path, made: Path, name: str) -> None:
    protect(secret_folder(here, name), Choice(), cost=CHEAP)
    shutil.copy(made / name / "key.pem", here / name)
    path = here / name
    before = contents(path)
    for use in (
        lambda: key_of(path),
        lambda: protect(secret_folder(here, name), Choice(), cost=CHEAP),
    ):
        with pytest.raises(ConfigError, match=r"key\.pem is not encrypted, though .* is protected"):
            use()
        assert contents(path) == before


@folders
def test_an_encrypted_key_without_its_protection(here: Path, name: str) -> None:
    protect(secret_folder(here, name), Choice(), cost=CHEAP)
    (here / name / "protection.json").unlink()
    refused(here, name, r"is encrypted, and there is no protection\.json")


@folders
@pytest.mark.parametrize("protected", [False, True])
def test_a_key_that_is_lost(here: Path, name: str, protected: bool) -> None:
    """No command makes another one in its place, so none is named as if it did."""
    if protected:
        protect(secret_folder(here, name), Choice(), cost=CHEAP)
    (here / name / "key.pem").unlink()
    command = {"lyon": "request", "authority": "authority"}[name]
    words = rf"put it back from a backup of .*`lotor keys {command}` in a new folder"
    refused(here, name, rf"key\.pem is missing: {words}")


@folders
def test_to_change_a_passphrase_takes_a_terminal(here: Path, name: str) -> None:
    """The credential file, which holds the old one, is not named as a way out."""
    folder = secret_folder(here, name)
    protect(folder, Choice(), cost=CHEAP)
    before = contents(here / name)
    with pytest.raises(ConfigError, match=r"a new passphrase for .*--new-key-file FILE") as found:
        protect(folder, Choice(), cost=CHEAP)
    assert VARIABLE not in str(found.value)
    assert contents(here / name) == before


@folders
def test_the_key_of_somebody_else_is_not_protected_as_if_it_were_its_own(
    here: Path, name: str
) -> None:
    (here / name / "key.pem").write_bytes(PartyKey.new().to_pem())
    before = contents(here / name)
    with pytest.raises(ConfigError, match=r"is not the key of .*nothing was changed"):
        protect(secret_folder(here, name), Choice(), cost=CHEAP)
    assert contents(here / name) == before


def test_objects_show_no_secret(here: Path) -> None:
    protect(kit_folder(here / "lyon"), Choice(), cost=CHEAP)
    kit = Kit(here / "lyon")
    assert kit.keys is not None
    shown = repr((kit, kit.keys, kit.protection, vars(kit)))
    for secret in (kit.keys.master, kit.keys.journal, kit.keys.password, PASSPHRASE.encode()):
        assert secret.hex() not in shown
        assert repr(secret)[2:-1] not in shown
