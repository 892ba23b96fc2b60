"""A backup holds a kit and its journal, opens with its secret alone, and goes back whole or not."""

import shutil
import sqlite3
import stat
import sys
from contextlib import closing
from io import StringIO
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lotor.core.errors import ConfigError, FormatError, IntegrityError, JournalError, LotorError
from lotor.core.version import VERSION
from lotor.runtime.daemon.backup import archive, restoring
from lotor.runtime.daemon.backup.archive import BackupWriter
from lotor.runtime.daemon.backup.making import back_up
from lotor.runtime.daemon.backup.restoring import restore
from lotor.runtime.daemon.config import PartyConfig, write_config
from lotor.runtime.daemon.credentials import VARIABLE, Credential
from lotor.runtime.daemon.kit import Kit
from lotor.runtime.daemon.open_kit import open_kit
from lotor.runtime.daemon.protecting import Choice
from lotor.runtime.durable.journal import RUNNING, Journal, RunRow
from lotor.runtime.durable.ledger import Charge
from lotor.sandbox.kits import make_kits
from runtime.daemon.protected import (
    CHEAP,
    Killed,
    credential_file,
    killed_at,
    protect_with_key_file,
)

SECRET = b"a secret that is not in clear in any backup"


@pytest.fixture(autouse=True)
def _nobody_sits_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setattr(sys, "stdin", StringIO())


def made_kit(folder: Path, config: PartyConfig | None = None) -> Path:
    kit = make_kits(folder, {"lyon": "owner"})["lyon"]
    write_config(kit / "party.toml", config or PartyConfig())
    (kit / "hospital.py").write_text("# of the owner's own")
    return kit


def fill(kit: Path, run: str = "aa") -> None:
    """A run with a snapshot in the journal and a file beside it."""
    with open_kit(kit) as at:
        row = RunRow(run, b"announced", b"signed", "lyon", RUNNING, "", 1.0, 2.0, VERSION, 10)
        at.journal.add(row, SECRET, charge=Charge(customer="acme", pulls=10))
        at.journal.stores.of(run).keep(SECRET)


def rows(kit: Path) -> dict[str, list[tuple[object, ...]]]:
    with open_kit(kit) as at:
        found = at.journal.database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
        return {
            name: at.journal.database.execute(f"SELECT * FROM {name}").fetchall()  # noqa: S608
            for (name,) in found.fetchall()
        }


def files(folder: Path) -> dict[str, bytes]:
    found = {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
    return {str(path.relative_to(folder)): data for path, data in found.items()}


@pytest.fixture
def kit(tmp_path: Path) -> Path:
    kit = made_kit(tmp_path / "federation")
    fill(kit)
    return kit


@pytest.fixture
def backup(kit: Path, tmp_path: Path) -> Path:
    choice = Choice(new_key_file=tmp_path / "backup.key")
    back_up(kit, tmp_path / "lyon.backup", choice, cost=CHEAP)
    return tmp_path / "lyon.backup"


def test_all_of_it_comes_back(kit: Path, backup: Path, tmp_path: Path) -> None:
    report = restore(backup, tmp_path / "again")
    again = tmp_path / "again"
    assert report.replaced == ()
    assert report.subject == "owner lyon"
    assert rows(again) == rows(kit)
    here = {name: data for name, data in files(kit).items() if name not in NOT_IN_IT}
    there = {name: data for name, data in files(again).items() if name != "state/journal.lock"}
    journal = there.pop("state/journal.db")
    del here["state/journal.db"]
    assert there == here
    assert SECRET in journal
    assert str(Kit(again).subject) == "owner lyon"
    for path in [again, *again.rglob("*")]:
        mode = stat.S_IMODE(path.stat().st_mode)
        assert mode == (0o700 if path.is_dir() else 0o600), path


NOT_IN_IT = {"hospital.py", "state/journal.lock"}


def test_a_backup_shows_nothing(kit: Path, backup: Path, tmp_path: Path) -> None:
    data = backup.read_bytes()
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600
    assert SECRET not in data
    assert (kit / "key.pem").read_bytes() not in data
    assert b"owner lyon" in data, "whose it is can be read without the secret"
    assert (tmp_path / "backup.key").read_bytes() not in data
    assert list(kit.rglob(".journal.copy*")) == []


def test_the_journal_is_whole_while_somebody_writes_to_it(kit: Path, tmp_path: Path) -> None:
    with closing(Journal(kit / "state", "owner lyon")) as journal:
        assert journal.lock()
        with journal.transaction():
            journal.database.execute("INSERT INTO meta VALUES ('committed', '1')")
        journal.database.execute("BEGIN IMMEDIATE")
        journal.database.execute("INSERT INTO meta VALUES ('not committed', '1')")
        back_up(kit, tmp_path / "b", Choice(new_key_file=tmp_path / "k"), cost=CHEAP)
        journal.database.execute("ROLLBACK")
    restore(tmp_path / "b", tmp_path / "again")
    keys = {row[0] for row in rows(tmp_path / "again")["meta"]}
    assert "committed" in keys
    assert "not committed" not in keys


def test_a_passphrase_opens_it(kit: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigError, match="a new passphrase for the backup of owner lyon"):
        back_up(kit, tmp_path / "b", Choice())
    assert not (tmp_path / "b").exists()
    credential_file(tmp_path, monkeypatch)
    back_up(kit, tmp_path / "b", Choice(), cost=CHEAP)
    monkeypatch.delenv(VARIABLE)
    with pytest.raises(ConfigError, match="the passphrase of the backup of owner lyon is needed"):
        restore(tmp_path / "b", tmp_path / "again")
    credential_file(tmp_path, monkeypatch, "another passphrase")
    with pytest.raises(ConfigError, match="it is not the passphrase of this backup"):
        restore(tmp_path / "b", tmp_path / "again")
    assert not (tmp_path / "again").exists()
    credential_file(tmp_path, monkeypatch)
    with pytest.raises(ConfigError, match="leave out --key-file"):
        restore(tmp_path / "b", tmp_path / "again", key_file=tmp_path / "k")
    restore(tmp_path / "b", tmp_path / "again")


def test_a_key_file_that_was_moved_is_named(backup: Path, tmp_path: Path) -> None:
    (tmp_path / "backup.key").rename(tmp_path / "moved.key")
    with pytest.raises(ConfigError, match=r"backup\.key is missing"):
        restore(backup, tmp_path / "again")
    (tmp_path / "wrong.key").write_bytes(bytes(32))
    (tmp_path / "wrong.key").chmod(0o600)
    with pytest.raises(ConfigError, match="not the key file of this backup"):
        restore(backup, tmp_path / "again", key_file=tmp_path / "wrong.key")
    restore(backup, tmp_path / "again", key_file=tmp_path / "moved.key")


@given(place=st.floats(0, 1, exclude_max=True), cut=st.booleans())
@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_a_damaged_backup_writes_nothing(
    backup: Path, tmp_path: Path, place: float, cut: bool
) -> None:
    data = backup.read_bytes()
    at = int(place * len(data))
    bad = data[:at] if cut else data[:at] + bytes([data[at] ^ 4]) + data[at + 1 :]
    (tmp_path / "bad").write_bytes(bad)
    with pytest.raises((FormatError, IntegrityError, ConfigError)):
        restore(tmp_path / "bad", tmp_path / "again", key_file=tmp_path / "backup.key")
    assert not (tmp_path / "again").exists()
    assert list(tmp_path.glob(".again*")) == []


def test_a_header_cannot_ask_for_much_memory(backup: Path, tmp_path: Path) -> None:
    data = backup.read_bytes()
    assert data.count(b'"log2_n":2,') == 1
    backup.write_bytes(data.replace(b'"log2_n":2,', b'"log2_n":9,').replace(b'"r":1', b'"r":99'))
    with pytest.raises(IntegrityError, match="is damaged"):
        restore(backup, tmp_path / "again")


def test_an_empty_folder_may_be_there_already(backup: Path, tmp_path: Path) -> None:
    (tmp_path / "again").mkdir()
    assert restore(backup, tmp_path / "again").replaced == ()
    assert str(Kit(tmp_path / "again").subject) == "owner lyon"


def test_something_else_is_no_backup(tmp_path: Path) -> None:
    (tmp_path / "b").write_bytes(b"PK\x03\x04 and so on")
    with pytest.raises(FormatError, match="is no backup"):
        restore(tmp_path / "b", tmp_path / "again")
    with pytest.raises(ConfigError, match="No such file"):
        restore(tmp_path / "none", tmp_path / "again")


@pytest.mark.parametrize(
    "name",
    [
        "../../.ssh/authorized_keys",
        "/etc/passwd",
        "hospital.py",
        "state/store/../../x/" + "0" * 64,
        "state/store/aa/" + "0" * 63,
        "state/store/aa/" + "0" * 64 + "/x",
        "state/journal.db-wal",
        "state",
        "",
    ],
)
def test_names_are_of_a_fixed_list(tmp_path: Path, name: str) -> None:
    credential = Credential("key-file", bytes(32), "a key file")
    with (tmp_path / "b").open("wb") as file:
        writer = BackupWriter("owner lyon", 0.0, credential, CHEAP)
        writer.write(file, [(name, 4, [b"evil"])])
    (tmp_path / "k").write_bytes(bytes(32))
    (tmp_path / "k").chmod(0o600)
    before = files(tmp_path)
    with pytest.raises(FormatError, match="belongs into no kit"):
        restore(tmp_path / "b", tmp_path / "again", key_file=tmp_path / "k")
    assert files(tmp_path) == before


def test_a_name_may_come_once(tmp_path: Path) -> None:
    credential = Credential("key-file", bytes(32), "a key file")
    with (tmp_path / "b").open("wb") as file:
        writer = BackupWriter("owner lyon", 0.0, credential, CHEAP)
        writer.write(file, [("key.pem", 1, [b"a"]), ("key.pem", 1, [b"b"])])
    (tmp_path / "k").write_bytes(bytes(32))
    (tmp_path / "k").chmod(0o600)
    with pytest.raises(FormatError, match="twice"):
        restore(tmp_path / "b", tmp_path / "again", key_file=tmp_path / "k")
    assert not (tmp_path / "again").exists()


def test_a_kit_is_replaced_only_on_purpose_and_is_kept(
    kit: Path, backup: Path, tmp_path: Path
) -> None:
    fill(kit, "bb")
    before = files(kit)
    with pytest.raises(ConfigError, match="its journal may be newer than the backup"):
        restore(backup, kit)
    assert files(kit) == before
    report = restore(backup, kit, force=True)
    assert [row[0] for row in rows(kit)["runs"]] == ["aa"]
    assert (kit / "hospital.py").exists()
    aside = {Path(name) for name in report.replaced}
    assert {path.parent for path in aside} == {kit, kit / "state"}
    kept = {path.name: path for folder in aside for path in folder.iterdir()}
    assert kept["key.pem"].read_bytes() == before["key.pem"]
    with closing(sqlite3.connect(kept["journal.db"])) as database:
        assert len(database.execute("SELECT * FROM runs").fetchall()) == 2


def test_a_kit_that_is_served_is_left_alone(kit: Path, backup: Path) -> None:
    before = files(kit)
    with closing(Journal(kit / "state", "owner lyon")) as journal:
        assert journal.lock()
        with pytest.raises(JournalError, match="a process serves the party"):
            restore(backup, kit, force=True)
    assert {name: data for name, data in files(kit).items() if "journal" not in name} == {
        name: data for name, data in before.items() if "journal" not in name
    }


@pytest.mark.parametrize("where", ["deep/er/state", ".", "../elsewhere", "absolute"])
def test_a_state_folder_may_be_anywhere(tmp_path: Path, where: str) -> None:
    state = str(tmp_path / "var" / "lyon") if where == "absolute" else where
    kit = made_kit(tmp_path / "federation", PartyConfig(state=state))
    fill(kit)
    back_up(kit, tmp_path / "b", Choice(new_key_file=tmp_path / "k"), cost=CHEAP)
    before = rows(kit)
    target = tmp_path / "new" / "lyon"
    target.parent.mkdir()
    if where == "absolute":
        with pytest.raises(ConfigError, match="there is a journal in that folder already"):
            restore(tmp_path / "b", target)
        assert not target.exists()
    report = restore(tmp_path / "b", target, force=where == "absolute")
    assert rows(target) == before
    assert (Path(report.state) / "journal.db").exists()
    if where == "absolute":
        assert [Path(name).parent for name in report.replaced] == [Path(state)]


@pytest.mark.parametrize("at_rest", [True, False])
def test_a_protected_kit_stays_so(tmp_path: Path, at_rest: bool) -> None:
    """Its own secret is needed only while somebody has the journal open."""
    kit = made_kit(tmp_path / "federation")
    key_file = tmp_path / "kit.key"
    protect_with_key_file(kit, key_file)
    fill(kit)
    moved = tmp_path / "away.key"
    choice = Choice(new_key_file=tmp_path / "k")

    def make() -> None:
        back_up(kit, tmp_path / "b", choice, cost=CHEAP)

    if at_rest:
        key_file.rename(moved)
        make()
        moved.rename(key_file)
    else:
        with open_kit(kit):
            key_file.rename(moved)
            with pytest.raises(ConfigError, match="is missing"):
                make()
            assert not (tmp_path / "b").exists()
            (tmp_path / "k").unlink()
            moved.rename(key_file)
            make()
    restore(tmp_path / "b", tmp_path / "again")
    assert not any(SECRET in data for data in files(tmp_path / "again").values())
    assert rows(tmp_path / "again") == rows(kit)
    with open_kit(tmp_path / "again") as at:
        store = at.journal.stores.of("aa")
        assert [store.fetch(name) for name in store.names()] == [SECRET]


@pytest.mark.parametrize("force", [False, True])
def test_a_restore_that_is_killed_loses_nothing(
    kit: Path, backup: Path, tmp_path: Path, force: bool
) -> None:
    """At every operation on files; the same command then completes it."""
    target = kit if force else tmp_path / "again"
    key, expected = (kit / "key.pem").read_bytes(), rows(kit)
    for step in range(0, 1000, 3):
        try:
            with killed_at(step):
                restore(backup, target, force=force)
        except Killed:
            assert key in files(tmp_path).values()
            if not force and target.exists():
                assert rows(target) == expected, "it appears in one step"
                shutil.rmtree(target)
        else:
            assert step > 30
            break
    restore(backup, target, force=True)
    assert rows(target) == expected
    assert list(tmp_path.rglob(".*.restoring.*")) == []


def test_two_restores_of_one_kit_do_not_disturb_each_other(
    backup: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target, place = tmp_path / "again", restoring._place

    def meanwhile(*where: Path) -> tuple[str, ...]:
        with pytest.raises(ConfigError, match="another process restores"):
            restore(backup, target)
        return place(*where)

    monkeypatch.setattr(restoring, "_place", meanwhile)
    restore(backup, target)
    assert (target / "state" / "journal.db").exists()
    assert not (target / "journal.lock").exists()


def cut_off(*_: object, **__: object) -> None:
    raise RuntimeError("cut off")


def test_a_backup_that_fails_leaves_nothing(
    kit: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "there").write_text("")
    with pytest.raises(ConfigError, match="is not overwritten"):
        back_up(kit, tmp_path / "there", Choice())
    with pytest.raises(ConfigError, match="there is no folder"):
        back_up(kit, tmp_path / "nowhere" / "b", Choice())
    with pytest.raises(ConfigError, match="would lie in the folder that it protects"):
        back_up(kit, tmp_path / "b", Choice(new_key_file=kit / "k"))
    monkeypatch.setattr(archive, "seal_chunks", cut_off)
    with pytest.raises(RuntimeError):
        back_up(kit, tmp_path / "b", Choice(new_key_file=tmp_path / "k"), cost=CHEAP)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["federation", "k", "there"]


def test_an_interrupted_protection_is_completed_first(kit: Path, tmp_path: Path) -> None:
    (kit / "state" / "rewriting").write_text("{}")
    with pytest.raises(LotorError, match="was interrupted"):
        back_up(kit, tmp_path / "b", Choice(new_key_file=tmp_path / "k"), cost=CHEAP)
    assert not (tmp_path / "b").exists()
