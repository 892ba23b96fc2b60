"""The files that a party keeps beside its journal, each named by the digest of its contents."""

import os
import shutil
import threading
from collections.abc import Collection
from pathlib import Path

from lotor.core.errors import JournalError, JournalWriteError
from lotor.protocols.store import content_name

# A file that was written to its end never has a name that begins so.
_UNFINISHED = "unfinished-"


class FileStore:
    """One run's folder: private (0600 in 0700), and on the disk when `keep` returns."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._removed = False
        # A slow party's background step may still keep something when its run has ended.
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"<FileStore {self._folder.name}>"

    def keep(self, data: bytes) -> str:
        name = content_name(data)
        path = self._folder / name
        try:
            with self._lock:
                if self._removed:
                    raise FileNotFoundError("the run is over")
                _make(self._folder)
                if not path.exists():
                    unfinished = self._folder / (_UNFINISHED + name)
                    _write(unfinished, data)
                    unfinished.rename(path)
                # A name that a crashed process gave may not be on the disk yet, either.
                _sync(self._folder)
        except OSError as error:
            raise JournalWriteError(
                f"no file can be written to {self._folder} ({error.strerror or error}): nothing of "
                "this step was done; free the disk or correct its permissions, and start the "
                "party again"
            ) from None
        return name

    def fetch(self, name: str) -> bytes:
        path = self._folder / name
        try:
            data = path.read_bytes()
        except OSError as error:
            raise self._unusable(path, error.strerror or "unreadable") from None
        if content_name(data) != name:
            raise self._unusable(path, "damaged")
        return data

    def _unusable(self, path: Path, how: str) -> JournalError:
        return JournalError(
            f"{path} cannot be used ({how}), and the run needs it: put it back from the newest "
            "copy of this folder and start the party again, or stop the run"
        )

    def retain(self, names: Collection[str]) -> None:
        if self._folder.is_dir():
            for path in self._folder.iterdir():
                if path.name not in names:
                    path.unlink(missing_ok=True)

    def remove(self) -> None:
        """Delete all files: the run is over, and nothing of it is needed."""
        with self._lock:
            self._removed = True
            shutil.rmtree(self._folder, ignore_errors=True)


class Stores:
    """The stores of all runs of a party, in one folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def of(self, run: str) -> FileStore:
        return FileStore(self._folder / run)

    def sweep(self, runs: Collection[str]) -> None:
        """Remove what runs other than these have left."""
        if self._folder.is_dir():
            for path in self._folder.iterdir():
                if path.name not in runs:
                    FileStore(path).remove()


def _make(folder: Path) -> None:
    """Make a folder that survives a power cut."""
    if not folder.is_dir():
        _make(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)
        _sync(folder.parent)


def _write(path: Path, data: bytes) -> None:
    descriptor = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600)
    with open(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(descriptor)


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
