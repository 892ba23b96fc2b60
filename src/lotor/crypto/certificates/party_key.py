"""A party's private key, and the request with which it asks the authority for a certificate."""

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    KeySerializationEncryption,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from cryptography.x509.oid import NameOID

from lotor.core.errors import CertificateError, FormatError
from lotor.crypto.certificates.parsing import ed25519_of, parsing
from lotor.crypto.certificates.subject import Subject, party_fingerprint, subject_of
from lotor.crypto.prf import derive_key


class PartyKey:
    """An Ed25519 key that never leaves its party.

    >>> PartyKey.new()
    <PartyKey>
    """

    def __init__(self, private: Ed25519PrivateKey) -> None:
        self.private = private

    def __repr__(self) -> str:
        return "<PartyKey>"

    @classmethod
    def new(cls) -> "PartyKey":
        return cls(Ed25519PrivateKey.generate())

    @classmethod
    def from_pem(cls, pem: bytes, password: bytes | None = None) -> "PartyKey":
        """Read a key file; FormatError if it needs a password, needs none, or another one."""
        with parsing("private key"):
            key = load_pem_private_key(pem, password)
        if not isinstance(key, Ed25519PrivateKey):
            raise FormatError(
                "the private key is not an Ed25519 key: make one with `lotor keys request`"
            )
        return cls(key)

    def to_pem(self, password: bytes | None = None) -> bytes:
        """The key itself, for a file that only its owner can read; in clear without a password.

        `password` should be derived from a key: the format stretches it only a little.
        """
        how: KeySerializationEncryption = NoEncryption()
        if password is not None:
            how = BestAvailableEncryption(password)
        return self.private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, how)

    @property
    def public_bytes(self) -> bytes:
        """The public half, 32 bytes, as `Certificate.key_bytes` has it."""
        return self.private.public_key().public_bytes_raw()

    def derived(self, purpose: str) -> bytes:
        """A symmetric key for one purpose, which only who has this key can derive."""
        return derive_key(self.private.private_bytes_raw(), purpose)

    def request(self, subject: Subject) -> bytes:
        """Ask an authority for a certificate (PEM); the same subject gives the same bytes."""
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, subject.name)])
        party = x509.SubjectAlternativeName([x509.UniformResourceIdentifier(subject.uri)])
        builder = x509.CertificateSigningRequestBuilder(name).add_extension(party, critical=False)
        return builder.sign(self.private, None).public_bytes(Encoding.PEM)


class Request:
    """A request whose sender has shown that it holds the key."""

    def __init__(self, request: x509.CertificateSigningRequest) -> None:
        with parsing("request"):
            if not request.is_signature_valid:
                raise CertificateError(
                    "its signature does not fit its key, so it was altered on its way: "
                    "ask the party to send request.pem again"
                )
            self.public_key: Ed25519PublicKey = ed25519_of(request)
            self.subject: Subject = subject_of(request)

    def __repr__(self) -> str:
        return f"<Request of {self.subject}>"

    @classmethod
    def from_pem(cls, pem: bytes) -> "Request":
        with parsing("request"):
            request = x509.load_pem_x509_csr(pem)
        return cls(request)

    @property
    def fingerprint(self) -> str:
        """To compare by phone: it covers role, name and key, as the certificate's does."""
        return party_fingerprint(self.subject, self.key_bytes)

    @property
    def key_bytes(self) -> bytes:
        return self.public_key.public_bytes_raw()
