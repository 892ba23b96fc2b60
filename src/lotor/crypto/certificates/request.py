"""What a party sends to the authority to get a certificate."""

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding

from lotor.core.errors import CertificateError
from lotor.crypto.certificates.parsing import ed25519_of, fingerprint, parsing
from lotor.crypto.certificates.subject import Subject, subject_of


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
            self._der = request.public_bytes(Encoding.DER)

    def __repr__(self) -> str:
        return f"<Request of {self.subject}>"

    @classmethod
    def from_pem(cls, pem: bytes) -> "Request":
        with parsing("request"):
            request = x509.load_pem_x509_csr(pem)
        return cls(request)

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the request: role, name and key, to compare by phone."""
        return fingerprint(self._der)

    @property
    def key_bytes(self) -> bytes:
        return self.public_key.public_bytes_raw()
