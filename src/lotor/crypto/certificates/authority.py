"""The authority of a federation: it signs requests and revokes certificates."""

from collections.abc import Mapping
from datetime import datetime, timedelta

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID

from lotor.core.errors import CertificateError, InputError, KeyMismatchError
from lotor.crypto.certificates.certificate import USES, Certificate
from lotor.crypto.certificates.parsing import day, fingerprint, moment
from lotor.crypto.certificates.party_key import PartyKey, Request
from lotor.crypto.certificates.subject import check_word
from lotor.crypto.certificates.trust import read_authority

CLOCK_SKEW = timedelta(minutes=5)
LONGEST_DAYS = 36_500


class CertificateAuthority:
    """A key that every party of the federation trusts, and its certificate.

    >>> from lotor.crypto.certificates import Subject
    >>> authority = CertificateAuthority.create("clinics")
    >>> authority.sign(PartyKey.new().request(Subject("lyon", "owner"))).subject
    Subject(name='lyon', role='owner')
    """

    def __init__(self, certificate: x509.Certificate, name: str, key: PartyKey) -> None:
        self._certificate = certificate
        self._key = key
        self.name = name

    def __repr__(self) -> str:
        return f"<CertificateAuthority {self.name}>"

    @classmethod
    def create(
        cls, name: str, days: int = 3650, *, now: datetime | None = None
    ) -> "CertificateAuthority":
        """A new authority with a key of its own."""
        check_word("authority's name", name)
        now, key = moment(now), PartyKey.new()
        full_name = _full_name(name, federation=name)
        public = key.private.public_key()
        certificate = (
            _builder(full_name, public, full_name, public, now, _until(now, days))
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(_usage(signs_certificates=True), critical=True)
            .sign(key.private, None)
        )
        return cls(certificate, name, key)

    @classmethod
    def from_pem(cls, certificate: bytes, key: bytes) -> "CertificateAuthority":
        """From its certificate and its key, unencrypted."""
        return cls.with_key(certificate, PartyKey.from_pem(key))

    @classmethod
    def with_key(cls, certificate: bytes, key: PartyKey) -> "CertificateAuthority":
        """From its certificate (PEM) and its key; KeyMismatchError if they do not fit."""
        parsed, name = read_authority(certificate)
        if parsed.public_key() != key.private.public_key():
            raise KeyMismatchError(
                f"the private key is not the one of the authority {name}: the two files "
                "belong to different authorities; take both from the same one"
            )
        return cls(parsed, name, key)

    @property
    def certificate_pem(self) -> bytes:
        return self._certificate.public_bytes(Encoding.PEM)

    @property
    def fingerprint(self) -> str:
        return fingerprint(self._certificate.public_bytes(Encoding.DER))

    @property
    def not_after(self) -> datetime:
        return self._certificate.not_valid_after_utc

    def key_pem(self, password: bytes | None = None) -> bytes:
        """The private key, for a file that only its owner can read; in clear without a password."""
        return self._key.to_pem(password)

    def sign(
        self, request_pem: bytes, days: int = 365, *, now: datetime | None = None
    ) -> Certificate:
        """Certify the role and name of a request; nothing else of the request is taken over."""
        request, now = Request.from_pem(request_pem), moment(now)
        until = _until(now, days)
        if until > self.not_after:
            left = max((self.not_after - now).days, 0)
            raise CertificateError(
                f"a certificate of {days} days would outlive the authority {self.name}, which "
                f"ends on {day(self.not_after)}: sign for at most {left} days, or make a new "
                "authority"
            )
        subject = request.subject
        full_name = _full_name(subject.name, federation=self.name)
        issuer, issuer_key = self._certificate.subject, self._key.private.public_key()
        certificate = (
            _builder(full_name, request.public_key, issuer, issuer_key, now, until)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(_usage(signs_certificates=False), critical=True)
            .add_extension(x509.ExtendedKeyUsage(USES), critical=False)
            .add_extension(
                x509.SubjectAlternativeName([x509.UniformResourceIdentifier(subject.uri)]),
                critical=False,
            )
            .sign(self._key.private, None)
        )
        return Certificate(certificate)

    def revocations(
        self, revoked: Mapping[int, datetime], days: int = 30, *, now: datetime | None = None
    ) -> bytes:
        """The signed list of revoked serial numbers, each with its date (PEM)."""
        now = moment(now)
        key_id = x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.private.public_key())
        builder = (
            x509.CertificateRevocationListBuilder()
            .issuer_name(self._certificate.subject)
            .last_update(now)
            .next_update(_until(now, days))
            .add_extension(key_id, critical=False)
            # The standard asks for a number that grows with each list: the time does.
            .add_extension(x509.CRLNumber(int(now.timestamp())), critical=False)
        )
        for serial, since in sorted(revoked.items()):
            entry = x509.RevokedCertificateBuilder(serial, moment(since))
            builder = builder.add_revoked_certificate(entry.build())
        return builder.sign(self._key.private, None).public_bytes(Encoding.PEM)


def _until(now: datetime, days: int) -> datetime:
    if not 1 <= days <= LONGEST_DAYS:
        raise InputError(f"{days} days cannot be used: take 1 to {LONGEST_DAYS}")
    return now + timedelta(days=days)


def _full_name(name: str, *, federation: str) -> x509.Name:
    return x509.Name(
        [
            x509.NameAttribute(NameOID.ORGANIZATION_NAME, federation),
            x509.NameAttribute(NameOID.COMMON_NAME, name),
        ]
    )


def _builder(
    name: x509.Name,
    key: Ed25519PublicKey,
    issuer: x509.Name,
    issuer_key: Ed25519PublicKey,
    now: datetime,
    until: datetime,
) -> x509.CertificateBuilder:
    key_id = x509.SubjectKeyIdentifier.from_public_key(key)
    issuer_id = x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key)
    return (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        # Another machine's clock may be a little behind.
        .not_valid_before(now - CLOCK_SKEW)
        .not_valid_after(until)
        .add_extension(key_id, critical=False)
        .add_extension(issuer_id, critical=False)
    )


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs_certificates,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )
