"""A journal is one party's, of one version, in one process's hands, and says so when it is not."""

import os
import resource
import shutil
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lotor.core.effects import Decision
from lotor.core.errors import InputError, JournalError, JournalWriteError, VersionError
from lotor.core.version import VERSION
from lotor.runtime.durable.journal import (
    FINISHED,
    REFUSED,
    RUNNING,
    STOPPED,
    WAITING,
    Journal,
    RunRow,
)

PARTY = "lyon (owner)"


def row(run: str, state: str = RUNNING, created: float = 0.0) -> RunRow:
    return RunRow(run, b"announced", b"signed", "lyon", state, "", created, created, VERSION)


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    opened = Journal(tmp_path / "state", PARTY)
    yield opened
    opened.close()


def contents(journal: Journal) -> list[str]:
    return list(journal.database.iterdump())


def sound(path: Path) -> bool:
    database = sqlite3.connect(path)
    answer = database.execute("PRAGMA integrity_check").fetchall()
    database.close()
    return answer == [("ok",)]


def test_it_is_private_and_durable(journal: Journal) -> None:
    assert stat.S_IMODE(journal.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(journal.path.parent.stat().st_mode) == 0o700
    assert journal.database.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert journal.database.execute("PRAGMA synchronous").fetchone() == (2,)


def test_a_copy_that_is_put_back_becomes_private(tmp_path: Path) -> None:
    folder = tmp_path / "state"
    Journal(folder, PARTY).close()
    folder.chmod(0o755)
    (folder / "journal.db").chmod(0o644)
    again = Journal(folder, PARTY)
    try:
        assert stat.S_IMODE(again.path.stat().st_mode) == 0o600
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    finally:
        again.close()


def test_runs_are_found_by_the_beginning_of_their_id(journal: Journal) -> None:
    for number, run in enumerate(("abc", "abd", "b")):
        journal.add(row(run, created=number), b"snapshot")
    assert [found.id for found in journal.runs()] == ["abc", "abd", "b"]
    assert journal.run("b").id == "b"
    with pytest.raises(InputError, match="2 runs here whose id begins with 'ab'"):
        journal.run("ab")
    with pytest.raises(InputError, match="the id of a run is empty"):
        journal.run("")
    with pytest.raises(InputError, match="no run here whose id begins with 'c'"):
        journal.run("c")


def test_a_run_is_there_with_its_snapshot_or_not_at_all(journal: Journal) -> None:
    journal.add(row("aa", WAITING), None)
    with pytest.raises(JournalError, match="no run aa"):
        journal.record("aa").begin()
    journal.begin("aa", b"first")
    assert journal.run("aa").state == RUNNING
    assert journal.record("aa").begin().snapshot == b"first"
    before = contents(journal)
    with pytest.raises(JournalWriteError):  # a second time
        journal.begin("aa", b"other")
    with pytest.raises(JournalWriteError):
        journal.add(row("aa"), b"other")
    assert contents(journal) == before


def test_whole_budgets_are_spent_until_a_run_ends_early(journal: Journal) -> None:
    for run, budget in (("aa", 5), ("bb", 70), ("dd", 13000)):
        journal.add(msgspec.structs.replace(row(run), budget=budget), b"snapshot")
    journal.add(msgspec.structs.replace(row("cc", WAITING), budget=1100), None)
    stopped = journal.record("dd")
    stopped.note(1, Decision.named("dd", 1, 0), 0.5)
    stopped.note(2, None, None)  # pulled elsewhere
    stopped.intend(3, Decision.named("dd", 3, 0))  # perhaps carried out
    assert journal.ledger.spent().pulls == 5 + 70 + 13000
    journal.change("bb", FINISHED, "")
    journal.change("cc", REFUSED, "")
    journal.change("dd", STOPPED, "")
    assert journal.ledger.spent().pulls == 5 + 70 + 2


@settings(max_examples=15)
@given(st.lists(st.tuples(st.sampled_from(["aa", "bb"]), st.binary(max_size=20)), max_size=10))
def test_commands_wait_in_order_until_they_are_done(
    tmp_path_factory: pytest.TempPathFactory, commands: list[tuple[str, bytes]]
) -> None:
    folder = tmp_path_factory.mktemp("state")
    daemon, operator = Journal(folder, PARTY), Journal(folder, PARTY)
    daemon.changes()
    for run, command in commands:
        seen = daemon.changes()
        operator.commands.add(run, command)
        assert daemon.changes() != seen
    waiting = daemon.commands.waiting()
    assert [(run, command) for _, run, command in waiting] == commands
    for number, run, _ in waiting:
        daemon.commands.done(number, impossible=(run, "why not"))
        assert operator.commands.impossible(run) == "why not"
    assert operator.commands.waiting() == []
    daemon.close()
    operator.close()


def test_one_process_drives_the_party(journal: Journal) -> None:
    other = Journal(journal.path.parent, PARTY)
    assert journal.lock()
    assert not other.lock()
    assert other.runs() == []  # looking is allowed
    journal.unlock()
    assert other.lock()
    other.close()
    assert journal.lock()


def test_another_party_is_refused(journal: Journal) -> None:
    before = contents(journal)
    with pytest.raises(JournalError, match=r"journal of lyon \(owner\), not of porto"):
        Journal(journal.path.parent, "porto (owner)")
    assert contents(journal) == before


def test_another_version_is_refused_untouched_and_names_what_to_install(journal: Journal) -> None:
    journal.database.execute("UPDATE meta SET value = '9' WHERE key = 'journal'")
    journal.database.execute("UPDATE meta SET value = '9.8.7' WHERE key = 'version'")
    journal.database.execute("DROP TABLE impossible")  # that version may have no use for it
    before = contents(journal)
    with pytest.raises(VersionError, match=r"install lotor 9\.8\.7 to finish the runs"):
        Journal(journal.path.parent, PARTY)
    assert contents(journal) == before


@pytest.mark.parametrize("crashed", [True, False])
def test_a_journal_of_the_former_version_is_refused_and_stays_byte_for_byte(
    tmp_path: Path, *, crashed: bool
) -> None:
    """Also where its writer was killed, so that its last writes are in the log beside it."""
    written, kept = tmp_path / "written", tmp_path / "kept"
    journal = Journal(written, PARTY)
    journal.add(row("aa"), b"first")
    journal.database.execute("UPDATE meta SET value = '2' WHERE key = 'journal'")
    journal.database.execute("UPDATE meta SET value = '0.1.0' WHERE key = 'version'")
    if not crashed:
        journal.close()
    shutil.copytree(written, kept, ignore=shutil.ignore_patterns("*-shm"))
    journal.close()
    assert (kept / "journal.db-wal").exists() == crashed
    kept.chmod(0o755)
    before = _found(kept)
    with pytest.raises(VersionError, match=r"install lotor 0\.1\.0 to finish the runs"):
        Journal(kept, PARTY)
    assert _found(kept) == before
    assert kept.stat().st_mode & 0o777 == 0o755


def _found(folder: Path) -> dict[str, bytes]:
    """All files but SQLite's index of the log, which holds no data and is made anew each time."""
    files = (path for path in folder.iterdir() if not path.name.endswith("-shm"))
    return {path.name: path.read_bytes() for path in files}


@pytest.mark.parametrize("garbage", [b"garbage" * 1000, b"SQLite format 3\0" + bytes(4080)])
def test_a_damaged_file_is_refused_and_kept(tmp_path: Path, garbage: bytes) -> None:
    path = tmp_path / "journal.db"
    path.write_bytes(garbage)
    with pytest.raises(JournalError, match=r"journal\.db is damaged .*put back the newest copy"):
        Journal(tmp_path, PARTY)
    assert path.read_bytes() == garbage


def test_damage_in_the_middle_is_noticed_at_once(journal: Journal) -> None:
    for number in range(50):
        journal.add(row(f"{number:02}"), os.urandom(3000))
    journal.close()
    data = bytearray(journal.path.read_bytes())
    page = int.from_bytes(data[16:18], "big")
    for start in range(2 * page, len(data) - page, 3 * page):
        data[start : start + 100] = bytes(100)
    journal.path.write_bytes(data)
    with pytest.raises(JournalError, match="damaged"):
        Journal(journal.path.parent, PARTY)


def test_a_folder_that_cannot_be_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(JournalError, match=r"no journal can be kept in .*party\.toml"):
        Journal(tmp_path / "file" / "state", PARTY)


READ_ONLY = """
import os, sys
from pathlib import Path
from lotor.core.errors import JournalError
from lotor.runtime.durable.journal import Journal
if os.getuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
try:
    Journal(Path(sys.argv[1]), "lyon (owner)")
except JournalError as error:
    print(error)
"""


@pytest.mark.parametrize("there", [False, True], ids=["new", "with a journal"])
def test_a_read_only_folder_is_refused(there: bool) -> None:
    with TemporaryDirectory() as name:
        folder = Path(name)
        if there:
            Journal(folder, PARTY).close()
            (folder / "journal.db").chmod(0o444)
        folder.chmod(0o555)
        assert f"no journal can be kept in {folder}" in said_by(READ_ONLY, folder)
        folder.chmod(0o700)


def said_by(program: str, folder: Path) -> str:
    return subprocess.run(  # noqa: S603
        [sys.executable, "-c", program, str(folder)], capture_output=True, text=True, check=True
    ).stdout


class TestAFullDisk:
    def fill(self, journal: Journal) -> None:
        (pages,) = journal.database.execute("PRAGMA page_count").fetchone()
        journal.database.execute(f"PRAGMA max_page_count = {pages}")

    def make_room(self, journal: Journal) -> None:
        journal.database.execute("PRAGMA max_page_count = 1000000")

    def test_nothing_is_lost_and_it_goes_on_when_there_is_room(self, journal: Journal) -> None:
        journal.add(row("aa"), b"first")
        before = contents(journal)
        self.fill(journal)
        with pytest.raises(JournalWriteError, match=r"disk is full.*nothing of this step was done"):
            journal.add(row("bb"), bytes(100_000))
        assert contents(journal) == before
        self.make_room(journal)
        journal.add(row("bb"), bytes(100_000))
        assert [found.id for found in journal.runs()] == ["aa", "bb"]
        journal.close()
        assert sound(journal.path)

    def test_a_checkpoint_is_whole_or_not_there(self, journal: Journal) -> None:
        journal.add(row("aa"), b"first")
        record = journal.record("aa")
        record.begin()
        commits, before = record.commits, contents(journal)
        self.fill(journal)
        keep = {"round": 1, "pulls": 0, "messages_sent": 0, "bytes_sent": 0, "links": []}
        with pytest.raises(JournalWriteError):
            record.checkpoint(bytes(100_000), **keep)  # type: ignore[arg-type]
        assert record.commits == commits
        assert contents(journal) == before
        self.make_room(journal)
        record.checkpoint(bytes(100_000), **keep)  # type: ignore[arg-type]
        assert record.commits == commits + 1


FILLING = """
import resource, signal, sys
from pathlib import Path
from lotor.core.errors import JournalWriteError
from lotor.runtime.durable.journal import Journal, RunRow
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
journal = Journal(Path(sys.argv[1]), "lyon (owner)")
resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, resource.RLIM_INFINITY))
done = 0
try:
    for number in range(1000):
        run = f"{number:04}"
        journal.add(RunRow(run, b"", b"", "lyon", "running", "", number, 0.0, ""), bytes(2000))
        done += 1
except JournalWriteError as error:
    print(done, error)
assert len(journal.runs()) == done
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
journal.add(RunRow("next", b"", b"", "lyon", "running", "", 9e9, 0.0, ""), bytes(2000))
journal.close()
"""


def test_a_file_that_may_not_grow(tmp_path: Path) -> None:
    """The operating system's refusal, in the middle of the log that is written ahead."""
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[1] == resource.RLIM_INFINITY
    done, _, message = said_by(FILLING, tmp_path).partition(" ")
    assert 0 < int(done) < 1000
    assert "the journal could not be written" in message
    journal = Journal(tmp_path, PARTY)
    assert [found.id for found in journal.runs()] == [
        *(f"{number:04}" for number in range(int(done))),
        "next",
    ]
    assert [entry.run for entry in journal.ledger.entries()] == [
        found.id for found in journal.runs()
    ]
    journal.change("next", STOPPED, "enough")
    journal.close()
    assert sound(tmp_path / "journal.db")
