"""Files of keys and certificates: whole or absent, and private from the first byte."""

import errno
import os
import secrets
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from lotor.core.errors import ConfigError, CryptoError

OTHERS = 0o077
GROUP_READS = 0o040
# Memory sticks have file systems on which a file has one name only.
_NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP)


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Turn what goes wrong with the content of a file into a ConfigError that names the file."""
    try:
        yield
    except CryptoError as error:
        raise ConfigError(f"{path}: {error}") from None
    except OSError as error:
        raise ConfigError(f"{path} cannot be used: {error.strerror}") from None


def read_file(path: Path, missing: str) -> bytes:
    """The bytes of a file; `missing` says what to do if there is none."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise ConfigError(f"{path} is missing: {missing}") from None
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}") from None


def read_private(
    path: Path, missing: str, *, what: str = "a private key", guarded: bool = False
) -> bytes:
    """As `read_file`; ConfigError if anybody but the owner of the file may read or change it.

    `guarded`: a group may read it, since something else keeps its folder closed.
    """
    try:
        with path.open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            closed = OTHERS ^ GROUP_READS if guarded else OTHERS
            if os.name == "posix" and mode & closed:
                raise ConfigError(
                    f"{path} is {what}, and other users of this machine may reach it "
                    f"(mode {mode & 0o777:o}): run `chmod 600 {path}`, and make a new one if "
                    "others may have read it"
                )
            return file.read()
    except FileNotFoundError:
        raise ConfigError(f"{path} is missing: {missing}") from None
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}") from None


def make_folder(path: Path) -> None:
    """Make a folder, with its parents, that only its owner can enter; it may exist already."""
    with naming(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.mkdir(mode=0o700, exist_ok=True)


def write_new(path: Path, data: bytes) -> None:
    """Write a private file that must not exist yet; a crash leaves all of it or nothing."""
    with naming(path), _written(path, data) as temporary:
        _name_new(temporary, path)


@contextmanager
def new_file(path: Path) -> Iterator[BinaryIO]:
    """As `write_new`, for what is written bit by bit: the file has its name after the block."""
    with ExitStack() as cleaning:
        with naming(path):
            file, temporary = cleaning.enter_context(_unfinished(path, 0o600))
        yield file
        with naming(path):
            _on_disk(file)
            _name_new(temporary, path)
            _sync_folder(path.parent)


def _name_new(temporary: Path, path: Path) -> None:
    try:
        path.hardlink_to(temporary)  # unlike a rename, this refuses to replace a file
    except FileExistsError:
        raise ConfigError(
            f"{path} exists already and is not overwritten: choose another folder, or move the "
            "file away"
        ) from None
    except OSError as error:
        if error.errno not in _NO_LINKS or path.exists():
            raise
        temporary.replace(path)


def replace_file(path: Path, data: bytes, *, private: bool = False) -> None:
    """Write a file or replace it at once; a crash leaves the old one or the new one."""
    with naming(path), _written(path, data, mode=0o600 if private else 0o644) as temporary:
        temporary.replace(path)


def remove_file(path: Path) -> None:
    """Remove a file, for good when this returns; it may be gone already."""
    with naming(path):
        path.unlink(missing_ok=True)
        _sync_folder(path.parent)


def replace_and_wipe(path: Path, data: bytes) -> None:
    """Replace a secret in clear, and overwrite the old file: its blocks could be read later."""
    with naming(path), path.open("r+b") as old:
        replace_file(path, data, private=True)
        _overwrite(old, names=0)


def wipe_file(path: Path) -> None:
    """Overwrite a secret in clear, and remove it."""
    with naming(path), path.open("r+b") as left:
        _overwrite(left, names=1)
    remove_file(path)


def _overwrite(file: BinaryIO, names: int) -> None:
    """Overwrite a file that has so many names: one with more is also something else.

    Whoever has given it another name keeps a copy on purpose, and `write_new` gives a file two.
    """
    status = os.fstat(file.fileno())
    if status.st_nlink == names:
        file.write(bytes(status.st_size))
        file.flush()
        os.fsync(file.fileno())


@contextmanager
def _written(path: Path, data: bytes, *, mode: int = 0o600) -> Iterator[Path]:
    """A temporary file with this content beside `path`, safe on disk; it is gone afterwards."""
    with _unfinished(path, mode) as (file, temporary):
        file.write(data)
        _on_disk(file)
        yield temporary
    _sync_folder(path.parent)


@contextmanager
def _unfinished(path: Path, mode: int) -> Iterator[tuple[BinaryIO, Path]]:
    """A temporary file beside `path`; it is gone afterwards."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    # The mode belongs to the creation: a file that is narrowed later was open for a moment.
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file, temporary
    finally:
        with suppress(FileNotFoundError):
            temporary.unlink()


def _on_disk(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())


def _sync_folder(path: Path) -> None:
    """Make a new name in a folder survive a power cut."""
    if os.name == "posix":
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
