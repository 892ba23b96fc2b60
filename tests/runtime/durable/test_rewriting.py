"""A state folder changes its key as a whole, whenever the process that does it is killed."""

import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from crashing import CrashError
from encrypted import KEY, all_rows
from lotor.core.errors import JournalError
from lotor.runtime.durable import file_store, rewriting
from lotor.runtime.durable.database import open_cipher
from lotor.runtime.durable.journal import Journal
from lotor.runtime.durable.rewriting import StateRewriter, rewrite_state
from runtime.durable.test_protected import FILE, PARTY, RUN, SHOWN, filled, found

OTHER = KEY[::-1]
WAYS = [(None, KEY), (KEY, None), (KEY, OTHER)]
AGAIN = "run the same command again, or go back with `lotor keys unprotect`; nothing is lost"
IDS = ["protect", "unprotect", "other key"]
Rows = tuple[dict[str, list[tuple[object, ...]]], bytes]


def state(folder: Path, key: bytes | None) -> Rows:
    """All that a state folder holds; it opens with this key."""
    with closing(Journal(folder, PARTY, key)) as journal:
        (name,) = journal.stores.of(RUN).names()
        return all_rows(journal.database), journal.stores.of(RUN).fetch(name)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "state"


def made(folder: Path, key: bytes | None) -> Rows:
    with closing(Journal(folder, PARTY, key)) as journal:
        filled(journal)
        (folder / "store" / RUN / "unfinished-file").write_bytes(FILE)
    return state(folder, key)


def assert_nothing_beside(folder: Path) -> None:
    assert {path.name for path in folder.iterdir()} == {"journal.db", "journal.lock", "store"}


def assert_clean(folder: Path, key: bytes | None) -> None:
    assert_nothing_beside(folder)
    files = b"".join(found(folder).values())
    assert key is None or not any(secret in files for secret in SHOWN.values())
    assert len(list((folder / "store" / RUN).iterdir())) == 1
    for path in (folder / "journal.db", *(folder / "store").rglob("*")):
        assert path.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(("old", "new"), WAYS, ids=IDS)
def test_everything_is_there_under_the_new_key(
    folder: Path, old: bytes | None, new: bytes | None
) -> None:
    before = made(folder, old)
    rewrite_state(folder, PARTY, old, new)
    assert state(folder, new) == before
    with pytest.raises(JournalError):
        Journal(folder, PARTY, old)
    assert_clean(folder, new)
    rewrite_state(folder, PARTY, old, new)  # once more changes nothing
    assert state(folder, new) == before


class Killer:
    """Kills the process before its nth change of the disk."""

    CHANGES = ("fsync", "replace", "link", "unlink", "rmdir", "mkdir", "rename")

    def __init__(self, at: int) -> None:
        self.at = at
        self.calls = 0

    def attach(self, patch: pytest.MonkeyPatch) -> None:
        for name in self.CHANGES:
            patch.setattr(os, name, self._wrapped(getattr(os, name)))
        patch.setattr(StateRewriter, "_export", self._wrapped(StateRewriter._export))

    def _wrapped(self, change: Callable[..., Any]) -> Callable[..., Any]:
        def killed_or_done(*arguments: Any, **options: Any) -> Any:
            self.calls += 1
            if self.calls == self.at:
                raise CrashError
            return change(*arguments, **options)

        return killed_or_done


def killed(folder: Path, old: bytes | None, new: bytes | None, at: int) -> bool:
    with pytest.MonkeyPatch.context() as patch:
        killer = Killer(at)
        killer.attach(patch)
        try:
            rewrite_state(folder, PARTY, old, new)
        except CrashError:
            return True
    return False


@pytest.mark.parametrize(("old", "new"), WAYS, ids=IDS)
def test_killed_at_any_moment_it_is_completed_the_next_time(
    tmp_path: Path, old: bytes | None, new: bytes | None
) -> None:
    at = 0
    while True:
        at += 1
        folder = tmp_path / str(at)
        before = made(folder, old)
        if not killed(folder, old, new, at):
            break
        keys = usable(folder, old, new)
        assert len(keys) <= 1
        for key in keys:  # it had not begun, or was done
            assert state(folder, key) == before
        rewrite_state(folder, PARTY, old, new)
        assert state(folder, new) == before
        assert_clean(folder, new)
    assert at > 20


def usable(folder: Path, *keys: bytes | None) -> list[bytes | None]:
    """The keys with which the journal opens; it is refused while files are under two keys."""
    opening = []
    for key in keys:
        try:
            Journal(folder, PARTY, key).close()
        except JournalError:
            continue
        opening.append(key)
    return opening


@pytest.mark.parametrize("third", [None, bytes(32)], ids=["back", "on"])
def test_killed_at_any_moment_another_change_may_follow(
    tmp_path: Path, third: bytes | None
) -> None:
    """Whoever gives up, or goes on to a third key, needs the key that the journal is under."""
    for at in range(1, 200):
        folder = tmp_path / str(at)
        before = made(folder, None)
        if not killed(folder, None, KEY, at):
            break
        for old in (None, KEY):
            try:
                rewrite_state(folder, PARTY, old, third)
            except JournalError:
                continue
        assert state(folder, third) == before
        assert_nothing_beside(folder)


def test_killed_twice(tmp_path: Path) -> None:
    for at in range(1, 200, 3):
        for again in range(1, 200, 7):
            folder = tmp_path / f"{at}-{again}"
            before = made(folder, None)
            if not killed(folder, None, KEY, at):
                return
            if not killed(folder, None, KEY, again):
                break
            rewrite_state(folder, PARTY, None, KEY)
            assert state(folder, KEY) == before
            assert_clean(folder, KEY)


def test_the_log_of_a_killed_daemon_is_not_lost(folder: Path, tmp_path: Path) -> None:
    journal = Journal(folder, PARTY)
    filled(journal)
    copy = tmp_path / "copy"
    copy.mkdir()
    for name, data in found(folder).items():
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        (copy / name).write_bytes(data)
    expected = all_rows(journal.database)
    journal.close()
    with (copy / "journal.db-wal").open("rb") as log:
        assert SHOWN["message"] in log.read()
        log.seek(0)
        rewrite_state(copy, PARTY, None, KEY)
        assert set(log.read()) == {0}
    assert state(copy, KEY)[0] == expected
    assert_nothing_beside(copy)


def test_the_log_of_a_killed_daemon_outlives_a_change_that_is_killed(
    folder: Path, tmp_path: Path
) -> None:
    with closing(Journal(folder, PARTY)) as journal:
        filled(journal)
        expected = all_rows(journal.database)
        at = 0
        while True:
            at += 1
            copy = tmp_path / f"copy-{at}"
            shutil.copytree(folder, copy)
            if not killed(copy, None, KEY, at):
                break
            if at % 2:
                rewrite_state(copy, PARTY, None, KEY)
            else:
                for key in (KEY, None):
                    with suppress(JournalError):
                        rewrite_state(copy, PARTY, key, None)
            assert state(copy, KEY if at % 2 else None)[0] == expected
            assert_nothing_beside(copy)
    assert at > 20


THERE_AND_BACK = """
import sys
from pathlib import Path
from lotor.runtime.durable.rewriting import rewrite_state
folder, party, key = Path(sys.argv[1]), sys.argv[2], bytes.fromhex(sys.argv[3])
while True:
    print("again", flush=True)
    rewrite_state(folder, party, None, key)
    rewrite_state(folder, party, key, None)
"""


@pytest.mark.long
def test_a_process_that_is_really_killed(folder: Path) -> None:
    before = made(folder, None)
    dice = random.Random(5)
    for _ in range(12):
        command = [sys.executable, "-c", THERE_AND_BACK, str(folder), PARTY, KEY.hex()]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603
            assert process.stdout is not None
            for _ in range(dice.randrange(1, 5)):
                assert process.stdout.readline() == "again\n"
            time.sleep(dice.random() / 20)
            process.kill()
        rewrite_state(folder, PARTY, None, KEY)
        assert state(folder, KEY) == before
        assert_clean(folder, KEY)
        rewrite_state(folder, PARTY, KEY, None)
        assert state(folder, None) == before


def test_it_is_refused_while_a_daemon_holds_the_state(folder: Path) -> None:
    made(folder, None)
    with closing(Journal(folder, PARTY)) as daemon:
        assert daemon.lock()
        before = found(folder)
        with pytest.raises(JournalError, match=r"another process uses .*stop it, and try again"):
            rewrite_state(folder, PARTY, None, KEY)
        assert found(folder) == before


def test_it_is_refused_while_a_command_has_the_journal_open(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it wrote meanwhile would be lost, or its log be taken for the new journal's."""
    # Within one process, only connections of the same driver see each other's locks.
    made(folder, OTHER)
    monkeypatch.setattr(rewriting, "PATIENCE_SECONDS", 0.0)
    with closing(Journal(folder, PARTY, OTHER)) as command:
        command.commands.add(RUN, b"another command")
        with pytest.raises(JournalError, match=r"locked.*nothing is lost"):
            rewrite_state(folder, PARTY, OTHER, KEY)
        expected = all_rows(command.database)
    rewrite_state(folder, PARTY, OTHER, KEY)
    assert state(folder, KEY)[0] == expected


@pytest.mark.parametrize(
    ("party", "old", "new", "words"),
    [
        (PARTY, OTHER, bytes(32), "opens with neither the old key nor the new one"),
        (PARTY, None, OTHER, "is protected, but its kit is not"),
        ("porto (owner)", KEY, OTHER, "is the journal of lyon"),
    ],
    ids=["wrong", "none", "another party"],
)
def test_a_wrong_key_changes_nothing(
    folder: Path, party: str, old: bytes | None, new: bytes, words: str
) -> None:
    made(folder, KEY)
    before = found(folder)
    with pytest.raises(JournalError, match=words):
        rewrite_state(folder, party, old, new)
    assert found(folder) == before


def test_a_damaged_file_is_named(folder: Path) -> None:
    before = made(folder, KEY)
    (path,) = (one for one in (folder / "store" / RUN).iterdir() if len(one.name) == 64)
    sealed = path.read_bytes()
    path.write_bytes(b"damaged")
    again = r"run the same command again, or go back with `lotor keys protect`; nothing is lost"
    with pytest.raises(JournalError, match=rf"cannot be used.*put it back.*{again}"):
        rewrite_state(folder, PARTY, KEY, None)
    path.write_bytes(sealed)
    rewrite_state(folder, PARTY, KEY, None)
    assert state(folder, None) == before


def test_a_full_disk_loses_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = made(folder, None)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(rewriting.StateRewriter, "_export", full)
        with pytest.raises(JournalError, match=rf"No space left on device.*{AGAIN}"):
            rewrite_state(folder, PARTY, None, KEY)
    with pytest.raises(JournalError, match=r"interrupted: .*`lotor keys protect` or .* unprotect`"):
        Journal(folder, PARTY)
    rewrite_state(folder, PARTY, None, None)  # its operator gives up
    assert state(folder, None) == before


def test_a_disk_that_is_full_of_files_loses_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = made(folder, None)

    def full(path: Path, data: bytes) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(file_store, "write_file", full)
        with pytest.raises(JournalError, match=rf"No space left on device.*{AGAIN}"):
            rewrite_state(folder, PARTY, None, KEY)
    rewrite_state(folder, PARTY, None, KEY)
    assert state(folder, KEY) == before


@pytest.mark.parametrize(("old", "new"), WAYS, ids=IDS)
def test_a_build_with_other_defaults_reads_and_writes_the_same_files(
    folder: Path, old: bytes | None, new: bytes | None
) -> None:
    before = made(folder, old)
    with closing(open_cipher("file::memory:", None)) as database:
        database.execute("PRAGMA cipher_default_compatibility = 3")
        try:
            assert state(folder, old) == before
            rewrite_state(folder, PARTY, old, new)
        finally:
            database.execute("PRAGMA cipher_default_compatibility = 4")
    assert state(folder, new) == before


def test_a_party_that_was_never_served_has_nothing_to_rewrite(folder: Path) -> None:
    rewrite_state(folder, PARTY, None, KEY)
    assert not folder.exists()
