"""Puts a party's state under another key, or under none; it may be cut off at any moment.

All files are written anew beside the old ones. The journal takes its new name in one step, and from
then on the new files count; then the rest follows, and the old files are overwritten and removed.
Whoever calls it again with the same keys completes what was cut off.
"""

import os
import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from urllib.parse import quote

import msgspec

from lotor.core.errors import JournalError
from lotor.crypto.prf import derive_key
from lotor.runtime.durable.database import (
    CIPHER_FORMAT,
    check_protection,
    errors,
    key_literal,
    open_cipher,
    open_read_only,
)
from lotor.runtime.durable.file_store import Stores, make_folder, sync_folder, write_file
from lotor.runtime.durable.opening import REWRITING, lock_folder, read_meta

PATIENCE_SECONDS = 5.0
_CHUNK = 1 << 20


def rewrite_state(folder: Path, party: str, old: bytes | None, new: bytes | None) -> None:
    """Put journal and files under the key `new`; None stands for no encryption."""
    if not (folder / "journal.db").exists():
        return
    lock = lock_folder(folder)
    if lock is None:
        raise JournalError(
            f"another process uses {folder}, the state of {party}: stop it, and try again"
        )
    try:
        StateRewriter(folder, party).rewrite(old, new)
    except errors(OSError) as error:
        raise JournalError(
            f"{folder} could not be written anew ({error}): see that the disk has room for a "
            f"second copy and that no other process uses it, and {_go_on(new)}"
        ) from None
    finally:
        os.close(lock)


def _go_on(new: bytes | None) -> str:
    """What to do when the cause of a failure is mended, or cannot be."""
    back = "protect" if new is None else "unprotect"
    return f"run the same command again, or go back with `lotor keys {back}`; nothing is lost"


def check_files(folder: Path, key: bytes | None) -> None:
    """Read all files beside the journal: refuse one that `rewrite_state` would come to grief at."""
    remedy = (
        "put it back from the newest copy of this folder, or start the party and stop the run, "
        "and run this command again; nothing was changed"
    )
    files = Stores(folder / "store", key, remedy)
    try:
        for run in files.runs():
            files.of(run).names()
    except OSError as error:
        raise JournalError(
            f"{folder / 'store'} cannot be read ({error}): correct its permissions, and run this "
            "command again; nothing was changed"
        ) from None


class KeyChange(msgspec.Struct, frozen=True):
    """What is under way, for whoever finds it cut off; keys by their fingerprints."""

    old: str
    new: str


def _fingerprint(key: bytes | None) -> str:
    return "plain" if key is None else derive_key(key, "fingerprint of a journal's key").hex()[:16]


class StateRewriter:
    """The steps, in order; the state folder is locked."""

    def __init__(self, folder: Path, party: str) -> None:
        self._folder = folder
        self._party = party
        self._journal = folder / "journal.db"
        self._new_journal = folder / "journal.db.new"
        self._old_journal = folder / "journal.db.old"
        self._log = folder / "journal.db-wal"
        self._old_log = folder / "journal.db-wal.old"
        self._store = folder / "store"
        self._new_store = folder / "store.new"
        self._old_store = folder / "store.old"
        self._marker = folder / REWRITING
        self._unfinished_marker = folder / f"{REWRITING}.new"

    def rewrite(self, old: bytes | None, new: bytes | None) -> None:
        current = self._current_key(old, new)
        self._unfinished_marker.unlink(missing_ok=True)
        if self._marker.exists():
            self._take_up(_fingerprint(current))
        if current != new:
            self._begin(KeyChange(_fingerprint(old), _fingerprint(new)))
            self._copy_store(old, new)
            self._copy_journal(old, new)
            self._switch()
            self._complete()

    def _current_key(self, old: bytes | None, new: bytes | None) -> bytes | None:
        """The one of both keys that the journal is under."""
        for key in (old, new):
            if self._opens(key):
                return key
        if old is None:
            check_protection(self._journal, None)
        raise JournalError(
            f"{self._journal} opens with neither the old key nor the new one: it was protected "
            "under another one, belongs to another kit, or is damaged; nothing was changed"
        )

    def _opens(self, key: bytes | None) -> bool:
        try:
            check_protection(self._journal, key)
            with closing(open_read_only(self._journal, key)) as database:
                meta = read_meta(database)
        except errors(JournalError):
            return False
        if meta and meta["party"] != self._party:
            raise JournalError(
                f"{self._journal} is the journal of {meta['party']}, not of {self._party}: give "
                "each party a state folder of its own; nothing was changed"
            )
        return True

    def _take_up(self, current: str) -> None:
        """Complete what was cut off, or undo it if the old files still count."""
        begun = msgspec.json.decode(self._marker.read_bytes(), type=KeyChange)
        if current == begun.new:
            self._complete()
        elif current == begun.old:
            self._undo()
        else:
            raise JournalError(
                f"{self._folder} holds the rest of a change of keys that was interrupted, and the "
                "journal is under neither of its keys: was it put back from a copy? Put back the "
                "whole folder"
            )

    def _begin(self, change: KeyChange) -> None:
        write_file(self._unfinished_marker, msgspec.json.encode(change))
        os.replace(self._unfinished_marker, self._marker)
        sync_folder(self._folder)

    def _copy_store(self, old: bytes | None, new: bytes | None) -> None:
        remedy = f"put it back from the newest copy of this folder, and {_go_on(new)}"
        source, target = Stores(self._store, old, remedy), Stores(self._new_store, new)
        if self._store.is_dir():
            make_folder(self._new_store)  # also without files, so that unfinished ones go
        for run in source.runs():
            files, copies = source.of(run), target.of(run)
            for name in files.names():
                copies.write(files.fetch(name))

    def _copy_journal(self, old: bytes | None, new: bytes | None) -> None:
        write_file(self._new_journal, b"")
        with suppress(OSError):  # mostly there is none; SQLite would only remove it
            os.link(self._log, self._old_log)
        uri = f"file:{quote(str(self._journal))}"
        with closing(open_cipher(uri, old, PATIENCE_SECONDS)) as database:
            # The log goes into the journal: left beside the new one, it would be taken for its own.
            # This fails while another process has the journal open.
            database.execute("PRAGMA journal_mode = DELETE")
            self._export(database, new)
        descriptor = os.open(self._new_journal, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        with closing(open_read_only(self._new_journal, new)) as copy:
            (found,) = copy.execute("PRAGMA quick_check(1)").fetchone()
        if found != "ok":
            raise JournalError(f"the copy of {self._journal} is damaged ({found}): try again")

    def _export(self, database: sqlite3.Connection, new: bytes | None) -> None:
        database.execute("PRAGMA temp_store = MEMORY")
        attach = f"ATTACH DATABASE ? AS copy KEY {key_literal(new)}"
        database.execute(attach, (str(self._new_journal),))
        if new is not None:
            database.execute(f"PRAGMA copy.{CIPHER_FORMAT}")
        # Nothing to go back to: a copy that is not complete is thrown away.
        database.execute("PRAGMA copy.journal_mode = OFF")
        database.execute("BEGIN")
        database.execute("SELECT sqlcipher_export('copy')").fetchone()
        database.execute("COMMIT")
        database.execute("DETACH DATABASE copy")

    def _switch(self) -> None:
        """Let the new journal count. Its old file keeps a name, by which it is overwritten."""
        with suppress(OSError):  # not every file system can; the old file is then only removed
            os.link(self._journal, self._old_journal)
            sync_folder(self._folder)
        os.replace(self._new_journal, self._journal)
        sync_folder(self._folder)

    def _complete(self) -> None:
        """The new journal counts: let its files follow, and leave nothing of the old ones."""
        if self._new_store.exists():
            if self._store.exists():
                os.replace(self._store, self._old_store)
            os.replace(self._new_store, self._store)
            sync_folder(self._folder)
        _wipe(self._old_journal)
        _wipe(self._old_log)
        wipe_folder(self._old_store)
        self._end()

    def _undo(self) -> None:
        """The old files still count: leave nothing of the new ones."""
        self._old_journal.unlink(missing_ok=True)  # another name of the journal itself
        _wipe(self._old_log)
        _wipe(self._new_journal)
        wipe_folder(self._new_store)
        self._end()

    def _end(self) -> None:
        sync_folder(self._folder)
        self._marker.unlink()
        sync_folder(self._folder)


def _wipe(path: Path) -> None:
    """Overwrite a file and remove it; one that has another name, too, is only removed."""
    if not path.exists():
        return
    with path.open("r+b") as file:
        status = os.fstat(file.fileno())
        left = status.st_size if status.st_nlink == 1 else 0
        while left > 0:
            left -= file.write(bytes(min(left, _CHUNK)))
        file.flush()
        os.fsync(file.fileno())
    path.unlink()


def wipe_folder(folder: Path) -> None:
    """Overwrite and remove all files of a folder, and the folder."""
    if folder.is_dir():
        for path in sorted(folder.rglob("*"), reverse=True):
            if path.is_dir():
                path.rmdir()
            else:
                _wipe(path)
        folder.rmdir()
