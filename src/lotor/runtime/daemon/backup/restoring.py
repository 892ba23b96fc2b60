"""Puts a backup back: everything is written beside the kit and checked before anything is replaced.

What is replaced is kept in a folder of its own, so that no command can lose the newest journal.
"""

import errno
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from lotor.core.errors import ConfigError, FormatError, JournalError
from lotor.core.unreadable import UNREADABLE
from lotor.runtime.daemon.backup.archive import (
    KIT_FILES,
    PARTY_TOML,
    BackupHeader,
    BackupReader,
)
from lotor.runtime.daemon.config import PartyConfig
from lotor.runtime.daemon.credentials import Credential, find_credential, read_key_file
from lotor.runtime.daemon.protecting import identity_of
from lotor.runtime.durable.file_store import sync_folder
from lotor.runtime.durable.opening import REWRITING, lock_folder
from lotor.runtime.durable.rewriting import wipe_folder

STATE = "state"
STATE_FILES = (
    "journal.db",
    "journal.db-wal",
    "journal.db-shm",
    "store",
    # What a change of keys leaves that was cut off.
    REWRITING,
    "journal.db.new",
    "journal.db.old",
    "journal.db-wal.old",
    "store.new",
    "store.old",
)


class RestoreReport(msgspec.Struct, frozen=True):
    """Whose backup it was, of when, and where what it replaced is kept, if there was anything."""

    kit: str
    state: str
    subject: str
    made: float
    files: int
    replaced: tuple[str, ...] = ()


class _StateOnly(msgspec.Struct):
    state: str = PartyConfig().state


def restore(
    path: Path, kit: Path, *, key_file: Path | None = None, force: bool = False
) -> RestoreReport:
    """Put a backup back as this kit; with `force`, in the place of what is there, which is kept."""
    with _explained(path, kit), path.open("rb") as file:
        _clean(kit)
        reader = BackupReader(path, file)
        if not force:
            _check_free(kit, kit / STATE)  # before a secret is asked for
        key = reader.unlock(_credential(reader.header, key_file))
        with _staging(kit) as stage, ExitStack() as locks:
            count = _write(reader, key, stage)
            _check_subject(stage, reader.header, path)
            state = kit / _state_of(stage)
            for folder in _states(kit, state):
                _lock(folder, locks)
            if not force:
                _check_free(kit, state)
            replaced = _place(stage, kit, state)
    told = reader.header
    return RestoreReport(str(kit), str(state), told.subject, told.made, count, replaced)


@contextmanager
def _explained(path: Path, kit: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ConfigError(
            f"{path} could not be restored as {kit} ({error}): correct that, and run the command "
            "again; nothing is lost"
        ) from None


def _credential(header: BackupHeader, key_file: Path | None) -> Credential:
    if key_file is not None:
        if header.kind != "key-file":
            raise ConfigError(
                f"this backup of {header.subject} opens with a passphrase: leave out --key-file"
            )
        return read_key_file(key_file)
    recorded = None if header.key_file is None else Path(header.key_file)
    return find_credential(header.kind, f"the backup of {header.subject}", recorded)


def _leftovers(kit: Path) -> re.Pattern[str]:
    return re.compile(rf"\.{re.escape(kit.absolute().name)}\.restoring\.[0-9a-f]{{16}}")


def _clean(kit: Path) -> None:
    """Remove what a killed process has left; one that is at work holds the lock of its folder."""
    for path in kit.absolute().parent.iterdir():
        if not _leftovers(kit).fullmatch(path.name):
            continue
        handle = lock_folder(path)
        if handle is None:
            raise ConfigError(
                f"another process restores {kit} now, and nothing was written: wait until it has "
                "come to its end"
            )
        os.close(handle)
        wipe_folder(path)


@contextmanager
def _staging(kit: Path) -> Iterator[Path]:
    """A folder beside the kit, of which nothing is left in the end."""
    kit = kit.absolute()
    stage = kit.with_name(f".{kit.name}.restoring.{secrets.token_hex(8)}")
    stage.mkdir(mode=0o700)
    handle = None
    try:
        handle = lock_folder(stage)
        yield stage
    finally:
        if handle is not None:
            os.close(handle)
        wipe_folder(stage)


def _write(reader: BackupReader, key: bytes, stage: Path) -> int:
    """Write all files into a folder; how many."""
    (stage / STATE).mkdir(mode=0o700)
    count = 0
    for name, pieces in reader.files(key):
        target = stage / name
        for folder in reversed(target.relative_to(stage).parents):
            (stage / folder).mkdir(mode=0o700, exist_ok=True)
        try:
            descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            raise FormatError(
                f"the backup holds {name} twice: `lotor backup` did not make it; nothing was "
                "written"
            ) from None
        with os.fdopen(descriptor, "wb") as file:
            for piece in pieces:
                file.write(piece)
            file.flush()
            os.fsync(descriptor)
        count += 1
    for folder in (*(one for one in stage.rglob("*") if one.is_dir()), stage):
        sync_folder(folder)
    return count


def _state_of(kit: Path) -> Path:
    """The state folder that a party.toml names; the rest of it may need what is not installed."""
    try:
        text = (kit / PARTY_TOML).read_bytes()
        return Path(msgspec.toml.decode(text, type=_StateOnly).state)
    except FileNotFoundError:
        return Path(_StateOnly().state)
    except UNREADABLE:
        raise FormatError(f"{kit / PARTY_TOML} cannot be read, and nothing was written") from None


def _check_subject(stage: Path, header: BackupHeader, path: Path) -> None:
    found, _ = identity_of(stage)
    if str(found) != header.subject:
        raise FormatError(
            f"{path} says that it is of {header.subject}, and holds the kit of {found}: it was not "
            "made by `lotor backup`, and nothing was written"
        )


def _states(kit: Path, state: Path) -> set[Path]:
    """The state folders that are to be left alone meanwhile: the new one, and that of now."""
    found = {state.resolve()}
    with suppress(FormatError):
        found.add((kit / _state_of(kit)).resolve())
    return found


def _lock(state: Path, locks: ExitStack) -> None:
    """Keep daemons out of a state folder whose files are to be moved; refuse if one is in it."""
    if not state.is_dir():
        return
    handle = lock_folder(state)
    if handle is None:
        raise JournalError(
            f"a process serves the party in {state} now, and nothing was changed: stop it, and run "
            "this command again"
        )
    locks.callback(os.close, handle)


def _present(folder: Path, names: tuple[str, ...]) -> list[Path]:
    return [folder / name for name in names if (folder / name).exists()]


def _check_free(kit: Path, state: Path) -> None:
    """Refuse to replace what may be newer than the backup."""
    known, kept = _present(kit, KIT_FILES), _present(state, STATE_FILES)
    if kept and not known and not state.resolve().is_relative_to(kit.resolve()):
        raise ConfigError(
            f"the backup's party.toml says state = {str(state)!r}, and there is a journal in that "
            "folder already, which may be the one in use, so nothing was written: use --force only "
            "if that journal is to be replaced; it is then kept beside the restored one"
        )
    if known or kept:
        names = ", ".join(path.name for path in known + kept)
        raise ConfigError(
            f"{kit} has a kit already ({names}), and its journal may be newer than the backup, so "
            "nothing was written: restore into a new folder, or use --force, which keeps what is "
            "there beside what is restored"
        )


def _place(stage: Path, kit: Path, state: Path) -> tuple[str, ...]:
    """Let what is checked take its place; where what was there is now."""
    inside = state.absolute().is_relative_to(kit.absolute()) and ".." not in state.parts
    if inside and state != kit and not kit.exists():
        _place_whole(stage, kit, state.absolute().relative_to(kit.absolute()))
        return ()
    name = f"replaced-{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"
    places = ((kit, KIT_FILES, stage), (state, STATE_FILES, stage / STATE))
    replaced = [str(folder / name) for folder, names, _ in places if _aside(folder, names, name)]
    for folder, names, source in reversed(places):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for path in _present(source, names):
            _move(path, folder / path.name)
        sync_folder(folder)
    return tuple(dict.fromkeys(replaced))


def _place_whole(stage: Path, kit: Path, state: Path) -> None:
    """A new kit appears in one step."""
    whole = stage / "whole"
    (whole / state).mkdir(mode=0o700, parents=True)
    for path in _present(stage / STATE, STATE_FILES):
        path.rename(whole / state / path.name)
    for path in _present(stage, KIT_FILES):
        path.rename(whole / path.name)
    for folder in (*(whole / one for one in (state, *state.parents)),):
        sync_folder(folder)
        folder.chmod(0o700)
    whole.rename(kit)
    sync_folder(kit.absolute().parent)


def _aside(folder: Path, names: tuple[str, ...], aside: str) -> bool:
    """Put what is to be replaced into a folder of its own; False if there is nothing."""
    there = _present(folder, names)
    for path in there:
        (folder / aside).mkdir(mode=0o700, exist_ok=True)
        path.rename(folder / aside / path.name)
    if there:
        sync_folder(folder / aside)
        sync_folder(folder)
    return bool(there)


def _move(source: Path, target: Path) -> None:
    """Rename, or copy to another disk."""
    try:
        source.rename(target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        shutil.move(source, target)
