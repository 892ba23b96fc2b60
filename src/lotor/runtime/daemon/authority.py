"""The authority's folder: its key, the register of what it signed, and what it took back."""

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Literal

import msgspec

from lotor.core.errors import ConfigError
from lotor.crypto.certificates import Certificate, CertificateAuthority, Request, Trust
from lotor.crypto.certificates.subject import check_word
from lotor.crypto.prf import new_key
from lotor.crypto.wrapping import ScryptCost
from lotor.runtime.daemon import protection
from lotor.runtime.daemon.credentials import Credential
from lotor.runtime.daemon.key_files import (
    make_folder,
    naming,
    read_file,
    read_private,
    replace_file,
    write_new,
)
from lotor.runtime.daemon.protection import FolderKeys, FolderLock, FolderProtection

if sys.platform != "win32":
    import fcntl

AUTHORITY, KEY, REGISTER, REVOKED = "authority.pem", "key.pem", "issued.json", "revoked.pem"
MISSING = "make an authority with `lotor keys authority NAME --dir {}`"
KEY_MISSING = (
    f"put it back from a backup of {{}}; without one you have to {protection.NEW_AUTHORITY}"
)


class Issued(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One certificate that the authority has signed."""

    serial: str
    name: str
    role: str
    key: str
    fingerprint: str
    not_after: datetime
    revoked: datetime | None = None

    def in_use(self, now: datetime) -> bool:
        """Whether it is neither revoked nor expired."""
        return self.revoked is None and now <= self.not_after


class _Register(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    version: Literal[1]
    issued: list[Issued]


class AuthorityFolder:
    """An authority with the memory of what it signed.

    The secret of a protected one is asked for when its key is first needed.
    """

    def __init__(self, path: Path) -> None:
        with naming(path):
            found = path.is_dir()
        if not found:
            raise ConfigError(f"there is no authority folder {path}: {MISSING.format(path)}")
        self.path = path
        self.revoked_path = path / REVOKED
        missing = MISSING.format(path)
        self.certificate_pem: bytes = read_file(path / AUTHORITY, missing)
        with naming(path / AUTHORITY):
            self.name: str = Trust(self.certificate_pem).authority
        self.protection: FolderProtection | None = protection.read_protection(path)
        if self.protection is None:
            self.unlock()
        else:
            protection.check_subject(path, self.protection, subject_of(self.name))

    def __repr__(self) -> str:
        return f"<AuthorityFolder of {self.name}>"

    @cached_property
    def authority(self) -> CertificateAuthority:
        """The authority with its key."""
        key = read_private(self.path / KEY, KEY_MISSING.format(self.path))
        private = protection.open_key(self.path / KEY, key, self._keys())
        with naming(self.path):
            return CertificateAuthority.with_key(self.certificate_pem, private)

    def unlock(self) -> None:
        """Ask for the secret now, if there is one, and check the key."""
        _ = self.authority

    def _keys(self) -> FolderKeys | None:
        if self.protection is None:
            return None
        protection.check_complete(self.protection, f"--authority {self.path}")
        return protection.ask_lock(self.protection).opened(self.path, self.protection)

    @classmethod
    def create(
        cls,
        path: Path,
        name: str,
        days: int = 3650,
        *,
        credential: Credential | None = None,
        cost: ScryptCost | None = None,
    ) -> "AuthorityFolder":
        """A new authority in a new or empty folder; its key lies in clear without a credential."""
        check_new_authority(path, name)
        authority = CertificateAuthority.create(name, days)
        make_folder(path)
        # authority.pem comes last: without it there is no authority, and no key is overwritten.
        password = None
        if credential is not None:
            keys = FolderKeys(new_key())
            lock = FolderLock(credential, cost=cost)
            made = lock.sealed(keys, subject_of(name), "protected")
            write_new(path / protection.PROTECTION, protection.encoded(made))
            password = keys.password
        write_new(path / KEY, authority.key_pem(password))
        _write_register(path, [])
        replace_file(path / REVOKED, authority.revocations({}))
        replace_file(path / AUTHORITY, authority.certificate_pem)
        return cls(path)

    def issued(self) -> list[Issued]:
        """All that was ever signed, in order."""
        path = self.path / REGISTER
        data = read_file(path, "the register is lost; take it from your backup")
        try:
            return msgspec.json.decode(data, type=_Register).issued
        except msgspec.DecodeError as error:
            raise ConfigError(
                f"{path} is damaged or of another version ({error}): take it from your backup"
            ) from None

    def check(self, request: Request) -> None:
        """Raise ConfigError if this request cannot be signed."""
        check_request(self.issued(), request, datetime.now(UTC))

    def sign(self, request_pem: bytes, days: int = 365) -> Certificate:
        """Sign a request, unless its name, role or key contradicts the register."""
        return self.sign_all([request_pem], days)[0]

    def sign_all(self, requests: Sequence[bytes], days: int = 365) -> list[Certificate]:
        """Sign several requests, or none if one of them cannot be signed."""
        self.unlock()
        with self._locked():
            issued, certificates = self.issued(), []
            for pem in requests:
                check_request(issued, Request.from_pem(pem), datetime.now(UTC))
                certificate = self.authority.sign(pem, days)
                certificates.append(certificate)
                issued.append(_entry(certificate))
            # Before anybody holds them: what is not in the register cannot be revoked.
            _write_register(self.path, issued)
            self._write_revocations(issued)
        return certificates

    def bundle(self, certificate: Certificate) -> bytes:
        """A party's certificate, then the authority's."""
        return certificate.to_pem() + self.authority.certificate_pem

    def handout(self, certificate: Certificate) -> bytes:
        """What a new party gets: the bundle, and the list of what was revoked so far."""
        revoked = read_file(self.revoked_path, "make it with `lotor keys refresh`")
        return self.bundle(certificate) + revoked

    def revoke(self, name: str) -> list[Issued]:
        """Take back every certificate of a party; returns those that no longer count."""
        self.unlock()  # before the register says what the list could then not say
        now = datetime.now(UTC).replace(microsecond=0)
        with self._locked():
            issued = self.issued()
            taken = [entry for entry in issued if entry.name == name and entry.in_use(now)]
            # Once more for a revoked name: an interrupted call may not have come to the list.
            before = [entry for entry in issued if entry.name == name and entry.revoked]
            if not taken and not before:
                known = sorted({entry.name for entry in issued if entry.in_use(now)})
                raise ConfigError(
                    f"the authority {self.name} has no certificate of {name!r} in use; "
                    f"in use are: {', '.join(known) or 'none'}"
                )
            revoked = [
                msgspec.structs.replace(entry, revoked=now) if entry in taken else entry
                for entry in issued
            ]
            _write_register(self.path, revoked)
            self._write_revocations(revoked)
        return before + taken

    def refresh(self) -> None:
        """Sign the revocation list anew, so that parties know it is the newest."""
        self.unlock()
        with self._locked():
            self._write_revocations(self.issued())

    def _write_revocations(self, issued: list[Issued]) -> None:
        revoked = {int(entry.serial, 16): entry.revoked for entry in issued if entry.revoked}
        replace_file(self.revoked_path, self.authority.revocations(revoked))

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Two people at one authority take turns."""
        if sys.platform == "win32":  # a folder cannot be locked there
            yield
            return
        descriptor = os.open(self.path, os.O_RDONLY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)


def check_new_authority(path: Path, name: str) -> None:
    """ConfigError if an authority exists there, InputError if it cannot be called so."""
    check_word("authority's name", name)
    with naming(path):
        if (path / AUTHORITY).exists():
            raise ConfigError(f"the authority {path} exists already: choose another folder")


def subject_of(name: str) -> str:
    """How the files of an authority say whose they are."""
    return f"{protection.AUTHORITY}{name}"


def check_request(issued: Sequence[Issued], request: Request, now: datetime) -> None:
    """Raise ConfigError if signing would give a name two keys, two roles, or a key two names."""
    subject, key = request.subject, request.key_bytes.hex()
    for entry in issued:
        if entry.key == key and entry.revoked is not None:
            raise ConfigError(
                f"the key of this request of {subject} was revoked on {entry.revoked:%Y-%m-%d}: "
                f"{subject} makes a new key with `lotor keys request` in a new folder"
            )
        if entry.key == key and entry.name != subject.name:
            raise ConfigError(
                f"the key of this request of {subject} is the key of {entry.role} {entry.name}: "
                "every party makes a key of its own with `lotor keys request`"
            )
        if entry.name != subject.name or not entry.in_use(now):
            continue
        if entry.role != subject.role:
            raise ConfigError(
                f"{subject.name} is in use as {entry.role}, and this request asks for "
                f"{subject.role}: choose another name, or revoke the old certificate first with "
                f"`lotor keys revoke {subject.name}`"
            )
        if entry.key != key:
            raise ConfigError(
                f"{subject} is in use with another key: if the party has lost it, revoke the old "
                f"certificate first with `lotor keys revoke {subject.name}`; if it has not, "
                "somebody else made this request"
            )


def _entry(certificate: Certificate) -> Issued:
    return Issued(
        f"{certificate.serial:x}",
        certificate.subject.name,
        certificate.subject.role,
        certificate.key_bytes.hex(),
        certificate.fingerprint,
        certificate.not_after,
    )


def _write_register(path: Path, issued: list[Issued]) -> None:
    data = msgspec.json.encode(_Register(1, issued))
    replace_file(path / REGISTER, msgspec.json.format(data, indent=2) + b"\n", private=True)
