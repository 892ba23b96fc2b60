"""Who is who in a federation: keys, certificates with a role and a name, and one authority."""

from lotor.crypto.certificates.authority import Authority
from lotor.crypto.certificates.certificate import Certificate, read_bundle
from lotor.crypto.certificates.party_key import PartyKey
from lotor.crypto.certificates.request import Request
from lotor.crypto.certificates.revocations import Revocations
from lotor.crypto.certificates.subject import Subject
from lotor.crypto.certificates.trust import Trust

__all__ = [
    "Authority",
    "Certificate",
    "PartyKey",
    "Request",
    "Revocations",
    "Subject",
    "Trust",
    "read_bundle",
]
