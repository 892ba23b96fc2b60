"""The files that a party keeps beside its journal, each named by the digest of its contents.

Under a key they are sealed by AES-256-GCM, each bound to its run and its name, and on the disk they
have other names: a digest of the contents would show who has them what they are.
"""

import os
import shutil
import threading
from collections.abc import Collection
from hashlib import sha256
from hmac import digest
from pathlib import Path

from lotor.core.errors import IntegrityError, JournalError, JournalWriteError
from lotor.crypto.aead import OVERHEAD, Aead
from lotor.crypto.derivation import derive_key
from lotor.protocols.store import content_name

# A file that was written to its end never has a name that begins so.
_UNFINISHED = "unfinished-"
# What to do about a file that cannot be used, for the operator of a party that is served.
_RESTART = (
    "put it back from the newest copy of this folder and start the party again, or stop the run"
)


class SealedFiles:
    """The files of one run under a key of its own."""

    def __init__(self, key: bytes, run: str) -> None:
        self._run = run
        self._aead = Aead(derive_key(key, f"files of {run}"))
        self._names = derive_key(key, f"names of the files of {run}")

    def place(self, name: str) -> str:
        """The name on the disk of what is called so."""
        return digest(self._names, name.encode(), sha256).hex()

    def seal(self, data: bytes, place: str) -> bytes:
        return self._aead.seal([data], self._bound(place))

    def open(self, data: bytes, place: str) -> bytes:
        """Raises IntegrityError for what was altered, or is another file."""
        if len(data) < OVERHEAD:
            raise IntegrityError("too short")
        (opened,) = self._aead.open(data, len(data) - OVERHEAD, self._bound(place))
        return opened

    def _bound(self, place: str) -> bytes:
        return f"{self._run}/{place}".encode()


class FileStore:
    """One run's folder: private (0600 in 0700), and on the disk when `keep` returns.

    `remedy` is what the error for an unusable file tells people to do.
    """

    def __init__(self, folder: Path, key: bytes | None = None, remedy: str = _RESTART) -> None:
        self._folder = folder
        self._remedy = remedy
        self._sealed = None if key is None else SealedFiles(key, folder.name)
        self._removed = False
        # A slow party's background step may still keep something when its run has ended.
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"<FileStore {self._folder.name}>"

    def keep(self, data: bytes) -> str:
        try:
            return self.write(data)
        except OSError as error:
            raise JournalWriteError(
                f"no file can be written to {self._folder} ({error.strerror or error}): nothing of "
                "this step was done; free the disk or correct its permissions, and start the "
                "party again"
            ) from None

    def write(self, data: bytes) -> str:
        """As `keep`, with the errors of the file system."""
        name = content_name(data)
        place = self._place(name)
        path = self._folder / place
        with self._lock:
            if self._removed:
                raise FileNotFoundError("the run is over")
            make_folder(self._folder)
            if not path.exists():
                unfinished = self._folder / (_UNFINISHED + place)
                sealed = self._sealed.seal(data, place) if self._sealed else data
                write_file(unfinished, sealed)
                unfinished.rename(path)
            # A name that a crashed process gave may not be on the disk yet, either.
            sync_folder(self._folder)
        return name

    def fetch(self, name: str) -> bytes:
        path = self._folder / self._place(name)
        data = self._read(path)
        if content_name(data) != name:
            raise self._unusable(path, "damaged")
        return data

    def _place(self, name: str) -> str:
        return name if self._sealed is None else self._sealed.place(name)

    def _read(self, path: Path) -> bytes:
        try:
            data = path.read_bytes()
            return data if self._sealed is None else self._sealed.open(data, path.name)
        except OSError as error:
            raise self._unusable(path, error.strerror or "unreadable") from None
        except IntegrityError:
            raise self._unusable(path, "damaged, or under another key") from None

    def _unusable(self, path: Path, how: str) -> JournalError:
        return JournalError(f"{path} cannot be used ({how}), and the run needs it: {self._remedy}")

    def retain(self, names: Collection[str]) -> None:
        if self._folder.is_dir():
            places = {self._place(name) for name in names}
            for path in self._folder.iterdir():
                if path.name not in places:
                    path.unlink(missing_ok=True)

    def names(self) -> list[str]:
        """The names of all that is kept; raises for a file that is not whole, or not readable."""
        paths = sorted(self._folder.iterdir())
        whole = [path for path in paths if not path.name.startswith(_UNFINISHED)]
        return [self._name(path) for path in whole]

    def _name(self, path: Path) -> str:
        name = content_name(self._read(path))
        if self._place(name) != path.name:
            raise self._unusable(path, "damaged")
        return name

    def remove(self) -> None:
        """Delete all files: the run is over, and nothing of it is needed."""
        with self._lock:
            self._removed = True
            shutil.rmtree(self._folder, ignore_errors=True)


class Stores:
    """The stores of all runs of a party, in one folder."""

    def __init__(self, folder: Path, key: bytes | None = None, remedy: str = _RESTART) -> None:
        self._folder = folder
        self._key = key
        self._remedy = remedy

    def of(self, run: str) -> FileStore:
        return FileStore(self._folder / run, self._key, self._remedy)

    def runs(self) -> list[str]:
        """The runs that have files here."""
        return sorted(path.name for path in self._folder.iterdir()) if self._folder.is_dir() else []

    def sweep(self, runs: Collection[str]) -> None:
        """Remove what runs other than these have left."""
        if self._folder.is_dir():
            for path in self._folder.iterdir():
                if path.name not in runs:
                    FileStore(path).remove()


def make_folder(folder: Path) -> None:
    """Make a folder that survives a power cut."""
    if not folder.is_dir():
        make_folder(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)
        sync_folder(folder.parent)


def write_file(path: Path, data: bytes) -> None:
    descriptor = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600)
    with open(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(descriptor)


def sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
