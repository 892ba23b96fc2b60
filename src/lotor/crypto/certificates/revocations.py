"""The list of certificates that their authority has taken back."""

from datetime import datetime

from cryptography import x509

from lotor.core.errors import CertificateError
from lotor.crypto.certificates.parsing import moment, parsing


class Revocations:
    """A revocation list. It counts only after `check_signed_by`, which `Trust` does."""

    def __init__(self, crl: x509.CertificateRevocationList) -> None:
        with parsing("revocation list"):
            self.made: datetime = crl.last_update_utc
            self.next_update: datetime | None = crl.next_update_utc
            self.revoked: dict[int, datetime] = {
                entry.serial_number: entry.revocation_date_utc for entry in crl
            }
        self._crl = crl

    def __repr__(self) -> str:
        return f"<Revocations of {self.made:%Y-%m-%d}, {len(self.revoked)} certificates>"

    @classmethod
    def from_pem(cls, pem: bytes) -> "Revocations":
        with parsing("revocation list"):
            crl = x509.load_pem_x509_crl(pem)
        return cls(crl)

    def stale(self, now: datetime | None = None) -> bool:
        """Whether the authority should have made a newer one by now."""
        return self.next_update is not None and moment(now) > self.next_update

    def check_signed_by(self, authority: x509.Certificate, name: str) -> None:
        """Raise CertificateError unless this authority made the list."""
        with parsing("revocation list"):
            # The key of an authority is an Ed25519 key: `read_authority` saw to that.
            genuine = self._crl.issuer == authority.subject and self._crl.is_signature_valid(
                authority.public_key()  # type: ignore[arg-type]
            )
            if not genuine:
                raise CertificateError(
                    f"it is not signed by the authority {name}, so it was altered or belongs to "
                    "another federation: fetch revoked.pem from your authority again"
                )
