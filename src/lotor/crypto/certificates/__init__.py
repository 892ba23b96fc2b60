"""Who is who in a federation: keys, certificates with a role and a name, and one authority."""

from lotor.crypto.certificates.authority import CertificateAuthority
from lotor.crypto.certificates.certificate import Certificate, read_bundle
from lotor.crypto.certificates.parsing import fingerprint_lines
from lotor.crypto.certificates.party_key import PartyKey, Request
from lotor.crypto.certificates.subject import Subject, party_fingerprint
from lotor.crypto.certificates.trust import Revocations, Trust

__all__ = [
    "Certificate",
    "CertificateAuthority",
    "PartyKey",
    "Request",
    "Revocations",
    "Subject",
    "Trust",
    "fingerprint_lines",
    "party_fingerprint",
    "read_bundle",
]
