"""A party's certificate, checked while it is read."""

from datetime import datetime

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import ExtendedKeyUsageOID

from lotor.core.errors import CertificateError, FormatError
from lotor.crypto.certificates.parsing import ed25519_of, parsing
from lotor.crypto.certificates.subject import Subject, party_fingerprint, subject_of

USES = (ExtendedKeyUsageOID.CLIENT_AUTH, ExtendedKeyUsageOID.SERVER_AUTH)


class Certificate:
    """A well-formed certificate of one party; `Trust` decides whether to believe it."""

    def __init__(self, certificate: x509.Certificate) -> None:
        with parsing("certificate"):
            self.public_key: Ed25519PublicKey = ed25519_of(certificate)
            _check_leaf(certificate)
            self.subject: Subject = subject_of(certificate)
            self.serial: int = certificate.serial_number
            self.not_before: datetime = certificate.not_valid_before_utc
            self.not_after: datetime = certificate.not_valid_after_utc
            self._der = certificate.public_bytes(Encoding.DER)
        # The public key, 32 bytes: it stays when a certificate is renewed.
        self.key_bytes: bytes = self.public_key.public_bytes_raw()
        self.x509 = certificate

    def __repr__(self) -> str:
        return f"<Certificate of {self.subject}, until {self.not_after:%Y-%m-%d}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Certificate) and self._der == other._der

    def __hash__(self) -> int:
        return hash(self._der)

    @classmethod
    def from_pem(cls, pem: bytes) -> "Certificate":
        """The first certificate of a PEM file."""
        with parsing("certificate"):
            certificate = x509.load_pem_x509_certificate(pem)
        return cls(certificate)

    @classmethod
    def from_der(cls, der: bytes) -> "Certificate":
        with parsing("certificate"):
            certificate = x509.load_der_x509_certificate(der)
        return cls(certificate)

    def to_pem(self) -> bytes:
        return self.x509.public_bytes(Encoding.PEM)

    def to_der(self) -> bytes:
        return self._der

    @property
    def fingerprint(self) -> str:
        """The party's, which its request and its next certificate have, too."""
        return party_fingerprint(self.subject, self.key_bytes)


def read_bundle(pem: bytes) -> tuple[Certificate, bytes]:
    """Take a party's certificate.pem apart: its certificate, and the authority's (PEM)."""
    with parsing("certificate"):
        found = x509.load_pem_x509_certificates(pem)
    if len(found) != 2:
        raise FormatError(
            "the certificate file must hold two certificates, the party's and then the "
            f"authority's, and holds {len(found)}: take the file that `lotor keys sign` wrote"
        )
    return Certificate(found[0]), found[1].public_bytes(Encoding.PEM)


def _check_leaf(certificate: x509.Certificate) -> None:
    extensions = certificate.extensions
    try:
        constraints = extensions.get_extension_for_class(x509.BasicConstraints).value
        usage = extensions.get_extension_for_class(x509.KeyUsage).value
        if constraints.ca or usage.key_cert_sign or usage.crl_sign:
            raise CertificateError("it is a certificate of an authority, not of a party")
        uses = extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    except x509.ExtensionNotFound:
        raise CertificateError(
            "it does not say what it may be used for: it was not made by `lotor keys`"
        ) from None
    if not usage.digital_signature or not all(use in uses for use in USES):
        raise CertificateError(
            "it is not made for both ends of a connection: it was not made by `lotor keys`"
        )
