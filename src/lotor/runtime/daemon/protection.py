"""How the secrets of a folder are encrypted: a kit's key and journal, an authority's key.

protection.json holds a random master key, wrapped under a passphrase or a key file. Every other
key follows from the master key, so that a new passphrase changes this file and nothing else.
"""

from dataclasses import replace
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

from lotor.core.errors import ConfigError, CryptoError, IntegrityError
from lotor.core.unreadable import UNREADABLE
from lotor.crypto.certificates import PartyKey
from lotor.crypto.derivation import derive_key
from lotor.crypto.wrapping import ScryptCost, StretchedSecret, WrappedKey
from lotor.runtime.daemon.credentials import Credential, CredentialKind, find_credential
from lotor.runtime.daemon.key_files import naming, read_private, replace_file

PROTECTION = "protection.json"
AUTHORITY = "the authority "
# Between the first and the last, some files are encrypted and some are not.
Phase: TypeAlias = Literal["protecting", "protected", "unprotecting"]
ENCRYPTED = b"-----BEGIN ENCRYPTED PRIVATE KEY-----"
NEW_KIT = (
    "make a new key with `lotor keys request` in a new folder, and let the authority revoke the "
    "old certificate"
)
NEW_AUTHORITY = (
    "make a new one with `lotor keys authority` in a new folder, and sign every party's request "
    "again"
)


class FolderKeys:
    """What follows from a master key: one key for each purpose."""

    def __init__(self, master: bytes) -> None:
        self.master = master
        self.journal = derive_key(master, "journal at rest")

    def __repr__(self) -> str:
        return "<FolderKeys>"

    @property
    def password(self) -> bytes:
        """That of key.pem, in letters and digits: OpenSSL ends a password at some bytes."""
        return derive_key(self.master, "password of key.pem").hex().encode()


class FolderProtection(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The content of protection.json. `subject` is whose folder it is, e.g. "owner lyon"."""

    version: Literal[1]
    subject: str
    kind: CredentialKind
    phase: Phase
    wrapped: WrappedKey
    key_file: str | None = None

    def __repr__(self) -> str:
        return f"<FolderProtection of {self.subject}, {self.kind}, {self.phase}>"


class FolderLock:
    """A credential, stretched once, that locks a master key and opens it."""

    def __init__(
        self,
        credential: Credential,
        *,
        cost: ScryptCost | None = None,
        opens: FolderProtection | None = None,
    ) -> None:
        self._credential = credential
        salt = None
        if opens is not None:
            cost, salt = opens.wrapped.cost, opens.wrapped.salt
        self._secret = StretchedSecret(credential.value, cost, salt)

    def __repr__(self) -> str:
        return f"<FolderLock, {self._credential.kind}>"

    def sealed(self, keys: FolderKeys, subject: str, phase: Phase) -> FolderProtection:
        """A new protection.json."""
        kind, path = self._credential.kind, self._credential.key_file
        wrapped = self._secret.wrap(keys.master, _bound(subject, kind, phase))
        return FolderProtection(
            1, subject, kind, phase, wrapped, None if path is None else str(path)
        )

    def opened(self, folder: Path, protection: FolderProtection) -> FolderKeys:
        """The keys of a folder; ConfigError if the credential is not the right one."""
        bound = _bound(protection.subject, protection.kind, protection.phase)
        try:
            return FolderKeys(self._secret.unwrap(protection.wrapped, bound))
        except IntegrityError:
            word = "passphrase" if protection.kind == "passphrase" else "key file"
            raise ConfigError(
                f"{self._credential.source} does not open {folder / PROTECTION}, and nothing was "
                f"changed; it is not the {word} of {protection.subject}, or the file was altered: "
                f"try again with the right {word}; {_lost(protection)}"
            ) from None


def _bound(subject: str, kind: CredentialKind, phase: Phase) -> bytes:
    """What nobody can change without the secret; the place of a key file is free to move."""
    return msgspec.json.encode(["lotor protection 1", subject, kind, phase])


def read_protection(folder: Path) -> FolderProtection | None:
    """None if the folder is not protected."""
    path = folder / PROTECTION
    with naming(path):
        if not path.exists():
            return None
    data = read_private(path, "", what="what a passphrase can be guessed from")
    try:
        return msgspec.json.decode(data, type=FolderProtection)
    except UNREADABLE as error:
        raise ConfigError(
            f"{path} is damaged or of another version ({error}), and nothing opens without it: "
            f"put it back from a backup of {folder}"
        ) from None


def encoded(protection: FolderProtection) -> bytes:
    return msgspec.json.format(msgspec.json.encode(protection), indent=2) + b"\n"


def write_protection(folder: Path, protection: FolderProtection) -> None:
    replace_file(folder / PROTECTION, encoded(protection), private=True)


def ask_lock(protection: FolderProtection) -> FolderLock:
    """What opens a folder, from wherever its secret is kept."""
    recorded = None if protection.key_file is None else Path(protection.key_file)
    credential = find_credential(protection.kind, protection.subject, recorded)
    if credential.key_file is None:
        credential = replace(credential, key_file=recorded)
    return FolderLock(credential, opens=protection)


def _lost(protection: FolderProtection) -> str:
    if protection.subject.startswith(AUTHORITY):
        return f"if it is lost, nothing can open this authority, and you have to {NEW_AUTHORITY}"
    return f"if it is lost, nothing can open this kit, and you have to {NEW_KIT}"


def check_subject(folder: Path, protection: FolderProtection, subject: str) -> None:
    """ConfigError if protection.json comes from somebody else's folder."""
    if protection.subject != subject:
        raise ConfigError(
            f"{folder / PROTECTION} is that of {protection.subject}, and {folder} is the folder "
            f"of {subject}: the file comes from another folder; put the right one back from a "
            f"backup of {folder}"
        )


def check_complete(protection: FolderProtection, command: str) -> None:
    """ConfigError if `lotor keys protect` or `unprotect` was interrupted."""
    if protection.phase != "protected":
        verb = protection.phase.removesuffix("ing")
        raise ConfigError(
            f"`lotor keys {verb}` was interrupted for {protection.subject}, so that some of its "
            f"files are encrypted and some are not; nothing is lost: run `lotor keys {verb} "
            f"{command}` again, which goes on where it was"
        )


def is_encrypted(pem: bytes) -> bool:
    """Whether a key.pem opens only with a password."""
    return ENCRYPTED in pem


def open_key(path: Path, pem: bytes, keys: FolderKeys | None) -> PartyKey:
    """The key of a key.pem, encrypted exactly if its folder is protected."""
    if keys is None:
        if is_encrypted(pem):
            raise ConfigError(
                f"{path} is encrypted, and there is no {PROTECTION} beside it: one of them was "
                f"swapped or lost; put both back from one backup of {path.parent}"
            )
        with naming(path):
            return PartyKey.from_pem(pem)
    if not is_encrypted(pem):
        raise ConfigError(
            f"{path} is not encrypted, though {path.parent} is protected: the file was swapped, "
            f"or comes from a copy that was made before; put back key.pem and {PROTECTION} from "
            "one backup"
        )
    try:
        return PartyKey.from_pem(pem, keys.password)
    except CryptoError:
        raise ConfigError(
            f"{path} does not open with the key in {path.with_name(PROTECTION)}: one of the two "
            "files was swapped for that of another folder or of an older copy, or is damaged; put "
            f"back both from one backup of {path.parent}"
        ) from None
