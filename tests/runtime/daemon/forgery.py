"""Announcements that somebody has altered or signed in another's place."""

import msgspec

from lotor.crypto.certificates import Certificate, CertificateAuthority, PartyKey, Subject
from lotor.crypto.signing import Identity
from lotor.runtime.daemon.announcement import EVERYBODY, PURPOSE, Announcement
from lotor.runtime.daemon.frames import Open
from lotor.runtime.daemon.kit import KEY
from runtime.daemon.stage import Stage


def announced(made: Stage, run: str) -> Announcement:
    return msgspec.msgpack.decode(made.live("controller", run).agreement.signed, type=Announcement)


def resigned(made: Stage, told: Announcement, signer: str = "customer") -> Open:
    """An announcement, altered and signed by somebody who has a key."""
    key = PartyKey.from_pem((made.kit(signer) / KEY).read_bytes())
    signature = Identity("customer", key.private, {}).sign(
        told.to_bytes(), run=told.run, purpose=PURPOSE, recipient=EVERYBODY
    )
    return Open(told.run, told.to_bytes(), signature)


def seat(told: Announcement, **certificates: Certificate) -> Announcement:
    ders = {seat: certificate.to_der() for seat, certificate in certificates.items()}
    return msgspec.structs.replace(told, run="bb" * 16, certificates={**told.certificates, **ders})


def foreign(name: str, role: str) -> Certificate:
    return CertificateAuthority.create("elsewhere").sign(
        PartyKey.new().request(Subject(name, role)), 30
    )
