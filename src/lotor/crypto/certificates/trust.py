"""Which certificates a party believes: those that its authority signed and did not revoke."""

from datetime import datetime

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID

from lotor.core.errors import CertificateError
from lotor.crypto.certificates.certificate import Certificate
from lotor.crypto.certificates.parsing import day, ed25519_of, fingerprint, moment, parsing
from lotor.crypto.certificates.subject import Subject, check_word


def read_authority(pem: bytes) -> tuple[x509.Certificate, str]:
    """An authority's own certificate and its name; CertificateError if it is not one."""
    with parsing("authority's certificate"):
        certificate = x509.load_pem_x509_certificate(pem)
        ed25519_of(certificate)
        extensions = certificate.extensions
        constraints = extensions.get_extension_for_class(x509.BasicConstraints).value
        usage = extensions.get_extension_for_class(x509.KeyUsage).value
        extensions.get_extension_for_class(x509.SubjectKeyIdentifier)
        if not (constraints.ca and usage.key_cert_sign and usage.crl_sign):
            raise CertificateError("it is not a certificate of an authority")
        if not _issued(certificate, certificate):
            raise CertificateError("it is not signed with its own key")
        names = certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
        if len(names) != 1 or not isinstance(names[0].value, str):
            raise CertificateError("it must have exactly one name")
        check_word("authority's name", names[0].value)
    return certificate, names[0].value


def _issued(issuer: x509.Certificate, certificate: x509.Certificate) -> bool:
    try:
        certificate.verify_directly_issued_by(issuer)
    except (InvalidSignature, ValueError, TypeError):
        return False
    return True


class Revocations:
    """A revocation list. It counts only after `check_signed_by`, which `Trust` calls."""

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

    def to_pem(self) -> bytes:
        return self._crl.public_bytes(Encoding.PEM)

    def stale(self, now: datetime | None = None) -> bool:
        """Whether the authority should have made a newer one by now."""
        return self.next_update is not None and moment(now) > self.next_update

    def check_signed_by(self, authority: x509.Certificate, name: str) -> None:
        """Raise CertificateError unless this authority made the list."""
        with parsing("revocation list"):
            # The key of an authority is an Ed25519 key: `read_authority` has checked that.
            genuine = self._crl.issuer == authority.subject and self._crl.is_signature_valid(
                authority.public_key()  # type: ignore[arg-type]
            )
            if not genuine:
                raise CertificateError(
                    f"it is not signed by the authority {name}, so it was altered or belongs to "
                    "another federation: fetch revoked.pem from your authority again"
                )


class Trust:
    """One authority and, where there is one, its list of revoked certificates."""

    def __init__(self, authority_pem: bytes, revocations_pem: bytes | None = None) -> None:
        self._certificate, self.authority = read_authority(authority_pem)
        self.revocations: Revocations | None = None
        if revocations_pem is not None:
            self.revocations = Revocations.from_pem(revocations_pem)
            self.revocations.check_signed_by(self._certificate, self.authority)

    def __repr__(self) -> str:
        return f"<Trust in {self.authority}>"

    @property
    def authority_pem(self) -> bytes:
        """The authority's certificate alone, as TLS needs it."""
        return self._certificate.public_bytes(Encoding.PEM)

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the authority's certificate: the same for every party of a federation."""
        return fingerprint(self._certificate.public_bytes(Encoding.DER))

    @property
    def key_bytes(self) -> bytes:
        """The authority's public key, 32 bytes."""
        return ed25519_of(self._certificate).public_bytes_raw()

    @property
    def not_after(self) -> datetime:
        """When the authority itself ends, and every certificate with it."""
        return self._certificate.not_valid_after_utc

    @property
    def revocations_stale(self) -> bool:
        """Whether a newer revocation list should exist by now; this one still counts."""
        return self.revocations is not None and self.revocations.stale()

    def signed(self, certificate: Certificate) -> bool:
        """Whether this authority signed it; it may be expired or revoked all the same."""
        return _issued(self._certificate, certificate.x509)

    def check(self, certificate: Certificate, now: datetime | None = None) -> Subject:
        """The party that it certifies; CertificateError says why if it is not to be believed.

        Only TLS or a signature shows that the other side also holds the key.
        """
        now, who = moment(now), str(certificate.subject)
        if not self.signed(certificate):
            raise CertificateError(
                f"the certificate that names {who} is not signed by the authority "
                f"{self.authority}: it belongs to another federation, or is forged; compare the "
                "authority's fingerprint with `lotor keys show` on both sides"
            )
        if now > self.not_after:
            raise CertificateError(
                f"the authority {self.authority} itself expired on {day(self.not_after)}, and "
                f"the certificate of {who} with it: the federation needs a new authority"
            )
        if now < certificate.not_before:
            raise CertificateError(
                f"the certificate of {who} is not yet valid: it begins on "
                f"{day(certificate.not_before)}, and the clock here shows {day(now)}; "
                "set the clock of this machine or of the authority's right"
            )
        if now > certificate.not_after:
            raise CertificateError(
                f"the certificate of {who} expired on {day(certificate.not_after)}: {who} asks "
                "for a new one with `lotor keys renew`, and the authority signs it"
            )
        since = self.revocations and self.revocations.revoked.get(certificate.serial)
        if since:
            raise CertificateError(
                f"the certificate of {who} was revoked on {day(since)}: if that is a mistake, "
                f"{who} makes a new key with `lotor keys request`, and the authority signs it"
            )
        return certificate.subject
