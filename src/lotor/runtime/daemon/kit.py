"""A party's kit: the folder with its key, its certificate and whom it trusts."""

from functools import cached_property
from pathlib import Path

from lotor.core.errors import ConfigError
from lotor.crypto.certificates import Certificate, PartyKey, Subject, Trust, read_bundle
from lotor.runtime.daemon.key_files import naming, read_file, read_private
from lotor.runtime.daemon.protection import (
    NEW_KIT,
    PROTECTION,
    FolderKeys,
    FolderProtection,
    ask_lock,
    check_complete,
    check_subject,
    open_key,
    read_protection,
)

KEY, REQUEST, CERTIFICATE, REVOKED = "key.pem", "request.pem", "certificate.pem", "revoked.pem"
NO_KEY = "make it with `lotor keys request --role ROLE --name NAME --kit {}`"
NO_CERTIFICATE = (
    "send {0}/request.pem to the authority, and put what `lotor keys sign` makes of it here "
    "with `lotor keys install FILE --kit {0}`"
)


class Kit:
    """A complete kit. Whether its certificate is valid today is for `trust.check` to say.

    The secret of a protected kit is asked for when its key or its journal is first needed.
    """

    def __init__(self, path: Path) -> None:
        with naming(path):
            found = path.is_dir()
        if not found:
            raise ConfigError(
                f"there is no kit {path}: make one with "
                f"`lotor keys request --role ROLE --name NAME --kit {path}`"
            )
        self.path = path
        self.certificate_path = path / CERTIFICATE
        self.key_path = path / KEY
        self.revoked_path = path / REVOKED
        self.party_toml = path / "party.toml"
        self.protection: FolderProtection | None = read_protection(path)
        self.certificate: Certificate
        bundle = read_file(self.certificate_path, NO_CERTIFICATE.format(path))
        with naming(self.certificate_path):
            self.certificate, self._authority_pem = read_bundle(bundle)
            self._trust = Trust(self._authority_pem)
        self._check_signed()
        if self.protection is None:
            self.unlock()
        else:
            check_subject(path, self.protection, str(self.subject))
        self._stamp: tuple[int, int, int] | None = None
        self.fresh_trust()

    def __repr__(self) -> str:
        return f"<Kit of {self.subject}>"

    @property
    def subject(self) -> Subject:
        return self.certificate.subject

    @cached_property
    def keys(self) -> FolderKeys | None:
        """What a protected kit is encrypted under; None if it is not protected."""
        return open_kit_keys(self.path, self.protection)

    @cached_property
    def key(self) -> PartyKey:
        """The private key, which is that of the certificate."""
        key = read_key(self.path, self.keys)
        if self.certificate.key_bytes != key.public_bytes:
            raise ConfigError(
                f"{self.key_path} is not the key of {self.certificate_path} ({self.subject}): "
                "the files come from different kits, or the key was made anew; ask the authority "
                "to sign this kit's request.pem"
            )
        return key

    def unlock(self) -> None:
        """Ask for the secret now, if there is one, and check the key."""
        _ = self.key

    @property
    def password(self) -> bytes | None:
        """That of key.pem, if it has one."""
        return None if self.keys is None else self.keys.password

    @property
    def journal_key(self) -> bytes | None:
        """What the journal is encrypted under, if it is."""
        return None if self.keys is None else self.keys.journal

    @property
    def trust(self) -> Trust:
        """Whom this party believes, as of the last `fresh_trust`."""
        return self._trust

    def fresh_trust(self) -> Trust:
        """Read revoked.pem again if it has changed.

        A list that disappears goes on to count: else to lose a file would forgive everybody.
        """
        with naming(self.revoked_path):
            try:
                stat = self.revoked_path.stat()
            except FileNotFoundError:
                return self._trust
            stamp = (stat.st_mtime_ns, stat.st_size, stat.st_ino)
            if stamp != self._stamp:
                self._trust = Trust(self._authority_pem, self.revoked_path.read_bytes())
                self._stamp = stamp
        return self._trust

    def _check_signed(self) -> None:
        if not self._trust.signed(self.certificate):
            raise ConfigError(
                f"{self.certificate_path}: the certificate of {self.subject} is not signed by "
                f"the authority {self._trust.authority} that stands beside it: take the file "
                "that `lotor keys sign` wrote, unchanged"
            )


def open_kit_keys(kit: Path, protection: FolderProtection | None) -> FolderKeys | None:
    """The keys of a protected kit; asks for its secret."""
    if protection is None:
        return None
    check_complete(protection, f"--kit {kit}")
    return ask_lock(protection).opened(kit, protection)


def read_key(kit: Path, keys: FolderKeys | None) -> PartyKey:
    """The private key of a kit that may still lack its certificate."""
    path = kit / KEY
    return open_key(path, read_private(path, missing_key(kit)), keys)


def missing_key(kit: Path) -> str:
    """What to do about a kit without a key: where there is anything else, it once had one."""
    if any((kit / name).exists() for name in (CERTIFICATE, REQUEST, PROTECTION)):
        return f"put it back from a backup of {kit}; without one you have to {NEW_KIT}"
    return NO_KEY.format(kit)


def unlock_key(kit: Path) -> PartyKey:
    """As `read_key`; asks for the secret of a protected kit."""
    return read_key(kit, open_kit_keys(kit, read_protection(kit)))
