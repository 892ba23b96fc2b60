"""An encrypted journal shows nothing to who has its files, and opens with its key only."""

import os
import sqlite3
import struct
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from encrypted import KEY
from lotor.core.effects import Decision
from lotor.core.errors import ConfigError, InputError, JournalError, JournalWriteError
from lotor.runtime.durable.database import open_read_only
from lotor.runtime.durable.file_store import Stores
from lotor.runtime.durable.journal import RUNNING, STOPPED, Journal, RunRow
from lotor.runtime.durable.link import Link

PARTY = "lyon (owner)"
RUN = "0123456789abcdef0123456789abcdef"
SNAPSHOT, MESSAGE, FILE = os.urandom(3000), os.urandom(500), os.urandom(2000)
REWARD, FEATURES = 0.7320508075688772, (0.4142135623730951, 0.6457513110645906)


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    with closing(Journal(tmp_path, PARTY, KEY)) as opened:
        yield opened


def filled(journal: Journal) -> None:
    row = RunRow(RUN, b"announcement " * 9, b"signature", "lyon", RUNNING, "", 1.0, 1.0, "1", 9)
    journal.add(row, SNAPSHOT)
    record, link = journal.record(RUN), Link("cloud-controller")
    record.begin()
    link.post(MESSAGE)
    record.keep(1, Decision.named(RUN, 1, 0), REWARD)
    record.keep(2, Decision.named(RUN, 2, 0), FEATURES)
    record.checkpoint(SNAPSHOT[::-1], round=1, pulls=1, messages_sent=1, bytes_sent=1, links=[link])
    journal.commands.add(RUN, b"a command of some length")
    journal.stores.of(RUN).keep(FILE)


def found(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and not path.name.endswith(("-shm", ".lock"))
    }


SHOWN = {
    # Four letters of it would be in so many random bytes now and then.
    "party": PARTY.encode(),
    "run": RUN.encode(),
    "peer": b"cloud-controller",
    "announcement": b"announcement ",
    "reward": struct.pack(">d", REWARD),
    "features": struct.pack("<2d", *FEATURES),
    "snapshot": SNAPSHOT[100:116],
    "last snapshot": SNAPSHOT[::-1][100:116],
    "message": MESSAGE[100:116],
    "command": b"a command of some length",
    "schema": b"CREATE TABLE",
    "file": FILE[100:116],
}


@pytest.mark.parametrize("key", [None, KEY], ids=["plain", "encrypted"])
def test_its_files_show_nothing(tmp_path: Path, key: bytes | None) -> None:
    """Neither while it is open, with its log beside it, nor when it is closed."""
    journal = Journal(tmp_path, PARTY, key)
    filled(journal)
    files = b"".join(found(tmp_path).values())
    journal.close()
    files += b"".join(found(tmp_path).values())
    shown = {name for name, secret in SHOWN.items() if secret in files}
    assert shown == (set(SHOWN) if key is None else set())


def test_it_keeps_everything(tmp_path: Path, journal: Journal) -> None:
    filled(journal)
    (name,) = journal.stores.of(RUN).names()
    journal.close()
    with closing(Journal(tmp_path, PARTY, KEY)) as again:
        saved = again.record(RUN).begin()
        assert saved.snapshot == SNAPSHOT[::-1]
        assert list(saved.links["cloud-controller"].outbox) == [(1, MESSAGE)]
        assert again.stores.of(RUN).fetch(name) == FILE
        again.end(RUN, STOPPED, "enough")
        assert not again.erasure.due
    with closing(open_read_only(tmp_path / "journal.db", KEY)) as reader:
        assert reader.execute("SELECT state FROM runs").fetchall() == [(STOPPED,)]


def test_a_full_disk_is_an_error_of_the_journal(journal: Journal) -> None:
    """SQLCipher has errors of its own."""
    filled(journal)
    (pages,) = journal.database.execute("PRAGMA page_count").fetchone()
    journal.database.execute(f"PRAGMA max_page_count = {pages}")
    row = RunRow("b", b"", b"", "lyon", RUNNING, "", 1.0, 1.0, "1", 9)
    with pytest.raises(JournalWriteError, match="disk is full"):
        journal.add(row, bytes(100_000))
    with pytest.raises(JournalWriteError, match="could not be written"):
        journal.record(RUN).keep(3, Decision.named(RUN, 3, 0), tuple([0.5] * 10_000))


def refused(folder: Path, key: bytes | None, words: str, party: str = PARTY) -> None:
    """It is refused, and nothing is changed."""
    before = found(folder)
    with pytest.raises(JournalError, match=words):
        Journal(folder, party, key)
    assert found(folder) == before


def test_a_wrong_key_and_damage_cannot_be_told_apart(tmp_path: Path, journal: Journal) -> None:
    filled(journal)
    journal.close()
    words = "does not open with this key: it was protected under another one.*or is damaged"
    refused(tmp_path, bytes(32), words)
    path = tmp_path / "journal.db"
    data = bytearray(path.read_bytes())
    data[100] ^= 1
    path.write_bytes(data)
    refused(tmp_path, KEY, words)


def test_damage_in_the_middle_is_noticed(tmp_path: Path, journal: Journal) -> None:
    filled(journal)
    journal.close()
    path = tmp_path / "journal.db"
    data = bytearray(path.read_bytes())
    for start in range(3 * 4096, len(data), 3 * 4096):
        data[start + 10] ^= 1
    path.write_bytes(data)
    refused(tmp_path, KEY, "damaged")


def test_a_protected_journal_wants_a_key(tmp_path: Path, journal: Journal) -> None:
    filled(journal)
    journal.close()
    refused(tmp_path, None, "is protected, but its kit is not, and nothing was changed")


def test_a_plain_journal_where_a_key_is_given(tmp_path: Path) -> None:
    with closing(Journal(tmp_path, PARTY)) as journal:
        filled(journal)
    refused(tmp_path, KEY, "is not protected, but its kit is, and nothing was changed")


def test_another_party_s_journal_under_the_same_key(tmp_path: Path, journal: Journal) -> None:
    filled(journal)
    journal.close()
    refused(tmp_path, KEY, r"is the journal of lyon \(owner\), not of porto", "porto (owner)")


def test_a_key_has_32_bytes(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="32 bytes, not 16"):
        Journal(tmp_path, PARTY, KEY[:16])


def test_what_is_not_installed_names_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "sqlcipher3", None)
    with pytest.raises(ConfigError, match=r"pip install 'lotor\[protect\]'"):
        Journal(tmp_path, PARTY, KEY)


def test_no_error_shows_a_key(tmp_path: Path, journal: Journal) -> None:
    filled(journal)
    journal.close()
    with pytest.raises(JournalError) as caught:
        Journal(tmp_path, PARTY, KEY[::-1])
    shown = f"{caught.value!r} {caught.value.__context__!r} {journal!r} {journal.stores!r}"
    assert KEY[::-1].hex() not in shown
    assert KEY.hex() not in shown
    with pytest.raises(sqlite3.Error):
        sqlite3.connect(tmp_path / "journal.db").execute("SELECT * FROM runs")


class TestFiles:
    """Each is bound to its key, its run and its name."""

    def stored(self, folder: Path) -> tuple[str, Path]:
        name = Stores(folder, KEY).of("ab").keep(b"first" * 9)
        (path,) = (folder / "ab").iterdir()
        return name, path

    def test_its_name_is_no_digest_that_others_could_compute(self, tmp_path: Path) -> None:
        name, path = self.stored(tmp_path)
        assert path.name != name
        Stores(tmp_path, KEY).of("cd").keep(b"first" * 9)
        assert (tmp_path / "cd" / path.name).exists() is False

    def test_a_damaged_one_is_refused(self, tmp_path: Path) -> None:
        name, path = self.stored(tmp_path)
        for damage in (b"", b"x", path.read_bytes()[:-1], bytes(80)):
            path.write_bytes(damage)
            with pytest.raises(JournalError, match="damaged, or under another key"):
                Stores(tmp_path, KEY).of("ab").fetch(name)

    def test_another_file_in_its_place_is_refused(self, tmp_path: Path) -> None:
        name, path = self.stored(tmp_path)
        store = Stores(tmp_path, KEY).of("ab")
        store.keep(b"other" * 9)
        (other,) = (one for one in (tmp_path / "ab").iterdir() if one != path)
        path.write_bytes(other.read_bytes())
        with pytest.raises(JournalError, match="damaged"):
            store.fetch(name)

    def test_only_those_that_are_named_stay(self, tmp_path: Path) -> None:
        name, path = self.stored(tmp_path)
        store = Stores(tmp_path, KEY).of("ab")
        store.keep(b"other" * 9)
        store.retain([name])
        assert list((tmp_path / "ab").iterdir()) == [path]
        assert store.fetch(name) == b"first" * 9
