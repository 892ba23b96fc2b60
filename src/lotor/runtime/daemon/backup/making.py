"""Makes a backup of a party, which may be served meanwhile."""

import os
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, TypeAlias

import msgspec

from lotor.core.errors import ConfigError
from lotor.crypto.wrapping import ScryptCost
from lotor.runtime.daemon.backup.archive import (
    JOURNAL,
    KIT_FILES,
    READ_BYTES,
    BackupWriter,
    allowed,
)
from lotor.runtime.daemon.key_files import naming, new_file, read_file
from lotor.runtime.daemon.kit import open_kit_keys
from lotor.runtime.daemon.protecting import Choice, SecretFolder, kit_folder, turn
from lotor.runtime.daemon.protection import (
    FolderProtection,
    check_complete,
    check_subject,
    read_protection,
)
from lotor.runtime.durable.copying import copied_journal

Content: TypeAlias = tuple[str, int, Iterable[bytes]]


class BackupReport(msgspec.Struct, frozen=True):
    """What was backed up: how many files, of which party, and how long the backup is."""

    file: str
    subject: str
    made: float
    files: int
    size: int


def back_up(
    kit: Path, path: Path, choice: Choice, *, cost: ScryptCost | None = None
) -> BackupReport:
    """Write an encrypted backup of a kit, its journal and what lies beside that."""
    folder = kit_folder(kit)
    protection = _checked(folder)
    _check_target(path)
    credential = choice.credential(kit, f"the backup of {folder.subject}")
    made, names = time.time(), list[str]()
    writer = BackupWriter(folder.subject, made, credential, cost)
    with turn(kit), new_file(path) as file, naming(path):
        writer.write(file, _noted(_contents(folder, protection), names))
    return BackupReport(str(path), folder.subject, made, len(names), path.stat().st_size)


def _noted(contents: Iterator[Content], names: list[str]) -> Iterator[Content]:
    for one in contents:
        names.append(one[0])
        yield one


def _checked(folder: SecretFolder) -> FolderProtection | None:
    protection = read_protection(folder.path)
    if protection is not None:
        check_subject(folder.path, protection, folder.subject)
        check_complete(protection, folder.option)
    return protection


def _check_target(path: Path) -> None:
    """Before a secret is asked for."""
    with naming(path):
        if path.exists():
            raise ConfigError(f"{path} exists already and is not overwritten: name another file")
        if not path.parent.is_dir():
            raise ConfigError(f"{path} cannot be written: there is no folder {path.parent}")


def _contents(folder: SecretFolder, protection: FolderProtection | None) -> Iterator[Content]:
    for name in KIT_FILES:
        if (folder.path / name).exists():
            data = read_file(folder.path / name, "")
            yield name, len(data), [data]
    state = folder.state
    if state is None or not (state / "journal.db").exists():
        return
    copy = copied_journal(
        state / "journal.db",
        folder.subject,
        protected=protection is not None,
        key=lambda: _journal_key(folder.path, protection),
    )
    with copy:
        yield JOURNAL, os.fstat(copy.fileno()).st_size, _pieces(copy)
    # After the journal: what it names is there then, unless the run has gone on since, and a run
    # that has does not go on from this backup in any case.
    yield from _stored(state / "store")


def _journal_key(kit: Path, protection: FolderProtection | None) -> bytes | None:
    keys = open_kit_keys(kit, protection)
    return None if keys is None else keys.journal


def _stored(store: Path) -> Iterator[Content]:
    for path in sorted(store.glob("*/*")):
        name = f"state/store/{path.parent.name}/{path.name}"
        if allowed(name):
            with suppress(FileNotFoundError), path.open("rb") as file:
                yield name, os.fstat(file.fileno()).st_size, _pieces(file)


def _pieces(file: BinaryIO) -> Iterator[bytes]:
    while piece := file.read(READ_BYTES):
        yield piece
