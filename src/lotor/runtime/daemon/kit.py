"""A party's kit: the folder with its key, its certificate and whom it trusts."""

from pathlib import Path

from lotor.core.errors import ConfigError
from lotor.crypto.certificates import Certificate, PartyKey, Subject, Trust, read_bundle
from lotor.runtime.daemon.key_files import naming, read_file, read_private

KEY, REQUEST, CERTIFICATE, REVOKED = "key.pem", "request.pem", "certificate.pem", "revoked.pem"
NO_KEY = "make it with `lotor keys request --role ROLE --name NAME --kit {}`"
NO_CERTIFICATE = (
    "send {0}/request.pem to the authority, and put what `lotor keys sign` makes of it here "
    "with `lotor keys install FILE --kit {0}`"
)


class Kit:
    """A complete kit. Whether its certificate is valid today is for `trust.check` to say."""

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
        self.key: PartyKey = read_key(path)
        self.certificate: Certificate
        bundle = read_file(self.certificate_path, NO_CERTIFICATE.format(path))
        with naming(self.certificate_path):
            self.certificate, self._authority_pem = read_bundle(bundle)
            self._trust = Trust(self._authority_pem)
        self._check()
        self._stamp: tuple[int, int, int] | None = None
        self.fresh_trust()

    def __repr__(self) -> str:
        return f"<Kit of {self.subject}>"

    @property
    def subject(self) -> Subject:
        return self.certificate.subject

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

    def _check(self) -> None:
        if self.certificate.key_bytes != self.key.public_bytes:
            raise ConfigError(
                f"{self.key_path} is not the key of {self.certificate_path} ({self.subject}): "
                "the files come from different kits, or the key was made anew; ask the authority "
                "to sign this kit's request.pem"
            )
        if not self._trust.signed(self.certificate):
            raise ConfigError(
                f"{self.certificate_path}: the certificate of {self.subject} is not signed by "
                f"the authority {self._trust.authority} that stands beside it: take the file "
                "that `lotor keys sign` wrote, unchanged"
            )


def read_key(kit: Path) -> PartyKey:
    """The private key of a kit that may still lack its certificate."""
    path = kit / KEY
    pem = read_private(path, NO_KEY.format(kit))
    with naming(path):
        return PartyKey.from_pem(pem)
