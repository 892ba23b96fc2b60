"""`lotor keys protect` and `unprotect`: they encrypt what a folder holds, or take it back.

Both go from any mixture of encrypted and plain files to their end, and protection.json says which
of them is under way: whoever is interrupted runs the same command again. A file is replaced at
once, so that at each moment every secret is there, in clear or under the master key.
"""

import fcntl
import os
import re
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from lotor.core.errors import ConfigError, JournalError
from lotor.crypto.certificates import PartyKey, Request, Subject, Trust, read_bundle
from lotor.crypto.prf import new_key
from lotor.crypto.wrapping import ScryptCost
from lotor.runtime.daemon import kit
from lotor.runtime.daemon.authority import (
    AUTHORITY,
    KEY_MISSING,
    MISSING,
    AuthorityFolder,
    check_new_authority,
    subject_of,
)
from lotor.runtime.daemon.config import PartyConfig, read_config
from lotor.runtime.daemon.credentials import (
    Credential,
    make_key_file,
    new_passphrase,
    read_key_file,
)
from lotor.runtime.daemon.key_files import (
    naming,
    read_file,
    read_private,
    remove_file,
    replace_and_wipe,
    replace_file,
    wipe_file,
)
from lotor.runtime.daemon.protection import (
    PROTECTION,
    FolderKeys,
    FolderLock,
    FolderProtection,
    Phase,
    ask_lock,
    check_subject,
    is_encrypted,
    open_key,
    read_protection,
    write_protection,
)
from lotor.runtime.durable.database import (
    check_protection,
    errors,
    open_cipher,
    open_read_only,
    unreadable,
)
from lotor.runtime.durable.journal import JOURNAL_VERSION
from lotor.runtime.durable.opening import check_journal, check_whole, lock_folder
from lotor.runtime.durable.rewriting import check_files, rewrite_state

KEY, JOURNAL = "key.pem", "journal.db"
_LEFTOVER = re.compile(rf"\.(?:{re.escape(KEY)}|{re.escape(PROTECTION)})\.[0-9a-f]{{16}}")


@dataclass(frozen=True, slots=True)
class SecretFolder:
    """A folder with secrets: a kit, or an authority's, which has no journal."""

    path: Path
    subject: str
    public_bytes: bytes
    option: str
    state: Path | None = None


def kit_folder(path: Path) -> SecretFolder:
    """A kit, which may still lack its certificate and its party.toml."""
    subject, public = identity_of(path)
    config = read_config(path / "party.toml") if (path / "party.toml").exists() else PartyConfig()
    return SecretFolder(path, str(subject), public, f"--kit {path}", config.state_folder(path))


def identity_of(path: Path) -> tuple[Subject, bytes]:
    """Whose kit it is, and its public key, by what is not secret."""
    if (path / kit.CERTIFICATE).exists():
        with naming(path / kit.CERTIFICATE):
            certificate, _ = read_bundle((path / kit.CERTIFICATE).read_bytes())
        return certificate.subject, certificate.key_bytes
    pem = read_file(path / kit.REQUEST, kit.NO_KEY.format(path))
    with naming(path / kit.REQUEST):
        request = Request.from_pem(pem)
    return request.subject, request.key_bytes


def authority_folder(path: Path) -> SecretFolder:
    pem = read_file(path / AUTHORITY, MISSING.format(path))
    with naming(path / AUTHORITY):
        trust = Trust(pem)
    subject = subject_of(trust.authority)
    return SecretFolder(path, subject, trust.key_bytes, f"--authority {path}")


@dataclass(frozen=True, slots=True)
class Choice:
    """What shall open a folder: a key file, a key file to be made, or else a passphrase."""

    key_file: Path | None = None
    new_key_file: Path | None = None

    def credential(self, folder: Path, subject: str, *, change: bool = False) -> Credential:
        """The new secret; where an old one exists, the credential file holds that one."""
        path = self.new_key_file or self.key_file
        if path is None:
            return new_passphrase(subject, from_file=not change)
        if _within(path, folder):
            raise ConfigError(
                f"{path} would lie in the folder that it protects, so that every copy of the "
                "folder could be opened: keep the key file elsewhere, on another disk if you can"
            )
        return make_key_file(path) if self.new_key_file is not None else read_key_file(path)


def create_authority(path: Path, name: str, days: int, choice: Choice) -> AuthorityFolder:
    """A new authority whose key is encrypted from the first moment."""
    check_new_authority(path, name)
    credential = choice.credential(path, subject_of(name))
    return AuthorityFolder.create(path, name, days, credential=credential)


def protect(
    folder: SecretFolder, choice: Choice, *, cost: ScryptCost | None = None
) -> Literal["protected", "completed", "changed"]:
    """Encrypt a folder, complete what was interrupted, or change what opens it."""
    with turn(folder.path):
        protection = _read(folder)
        if protection is None:
            _check_not_served(folder)
            _key(folder, None)  # what is not this folder's key must not be taken for it
            _check_journal(folder, None)
            _check_files(folder, None)
            if folder.state is not None:
                open_cipher("file::memory:", None).close()  # before anything is encrypted
            credential = choice.credential(folder.path, folder.subject)
            _encrypt(folder, FolderKeys(new_key()), FolderLock(credential, cost=cost))
            return "protected"
        lock = ask_lock(protection)
        keys = lock.opened(folder.path, protection)
        if protection.phase == "protected":
            _check_whole(folder, keys)
            credential = choice.credential(folder.path, folder.subject, change=True)
            _mark(folder, keys, FolderLock(credential, cost=cost), "protected")
            return "changed"
        _check_not_served(folder)
        _encrypt(folder, keys, lock)
        return "completed"


def _encrypt(folder: SecretFolder, keys: FolderKeys, lock: FolderLock) -> None:
    _mark(folder, keys, lock, "protecting")
    if not _is_encrypted(folder):
        replace_and_wipe(folder.path / KEY, _key(folder, None).to_pem(keys.password))
    _key(folder, keys)
    if folder.state is not None:
        rewrite_state(folder.state, folder.subject, None, keys.journal)
    _clean(folder)
    _mark(folder, keys, lock, "protected")


def unprotect(folder: SecretFolder) -> None:
    """Decrypt a folder again."""
    with turn(folder.path):
        _check_not_served(folder)
        protection = _read(folder)
        if protection is None:
            _key(folder, None)  # one that is encrypted has lost its protection.json
            raise ConfigError(f"{folder.path} is not protected, so there is nothing to take back")
        lock = ask_lock(protection)
        keys = lock.opened(folder.path, protection)
        if protection.phase == "protected":
            _check_whole(folder, keys)
            _check_files(folder, keys.journal)
        _mark(folder, keys, lock, "unprotecting")
        if folder.state is not None:
            rewrite_state(folder.state, folder.subject, keys.journal, None)
        if _is_encrypted(folder):
            replace_file(folder.path / KEY, _key(folder, keys).to_pem(), private=True)
        _clean(folder)
        remove_file(folder.path / PROTECTION)


def _mark(folder: SecretFolder, keys: FolderKeys, lock: FolderLock, phase: Phase) -> None:
    write_protection(folder.path, lock.sealed(keys, folder.subject, phase))


def _read(folder: SecretFolder) -> FolderProtection | None:
    protection = read_protection(folder.path)
    if protection is not None:
        check_subject(folder.path, protection, folder.subject)
    return protection


def _pem(folder: SecretFolder) -> bytes:
    is_kit = folder.state is not None
    missing = kit.missing_key(folder.path) if is_kit else KEY_MISSING.format(folder.path)
    return read_private(folder.path / KEY, missing)


def _is_encrypted(folder: SecretFolder) -> bool:
    return is_encrypted(_pem(folder))


def _key(folder: SecretFolder, keys: FolderKeys | None) -> PartyKey:
    key = open_key(folder.path / KEY, _pem(folder), keys)
    if key.public_bytes != folder.public_bytes:
        raise ConfigError(
            f"{folder.path / KEY} is not the key of {folder.subject}, and nothing was changed: "
            f"the file comes from another folder; put the right one back from a backup of "
            f"{folder.path}"
        )
    return key


def _within(path: Path, folder: Path) -> bool:
    with naming(path):
        return path.resolve().is_relative_to(folder.resolve())


def _clean(folder: SecretFolder) -> None:
    """Remove what a killed process has left: a key in clear, for instance."""
    for path in folder.path.iterdir():
        if _LEFTOVER.fullmatch(path.name):
            wipe_file(path)


@contextmanager
def turn(folder: Path) -> Iterator[None]:
    """Two people at one folder take turns, here and in `AuthorityFolder`."""
    with naming(folder):
        descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _check_whole(folder: SecretFolder, keys: FolderKeys) -> None:
    """All files are this folder's: a swapped one must not be taken for what was interrupted."""
    _key(folder, keys)
    _check_journal(folder, keys.journal)


def _check_files(folder: SecretFolder, key: bytes | None) -> None:
    """Before anything is changed: a file that cannot be read would leave it half done."""
    if folder.state is not None:
        check_files(folder.state, key)


def _check_not_served(folder: SecretFolder) -> None:
    """JournalError if a process drives the party now; `rewrite_state` keeps others out, too."""
    if folder.state is None or not folder.state.is_dir():
        return
    with naming(folder.state):
        lock = lock_folder(folder.state)
    if lock is None:
        raise JournalError(
            f"a process serves {folder.subject} now, and nothing was changed: stop it, and run "
            "this command again"
        )
    os.close(lock)


def _check_journal(folder: SecretFolder, key: bytes | None) -> None:
    """Refuse the journal of somebody else, and one that is not under this key."""
    if folder.state is None or not (folder.state / JOURNAL).exists():
        return
    path = folder.state / JOURNAL
    check_whole(path)
    check_protection(path, key)
    try:
        with closing(open_read_only(path, key)) as database:
            check_journal(database, path, folder.subject, JOURNAL_VERSION)
    except errors() as error:
        raise unreadable(path, key, str(error)) from None
