"""How a run is announced: who takes part, and what was ordered, signed by its opener.

Every party checks every certificate itself, so nobody between them can put somebody else in a
seat. The parties of a run are frozen by their keys: a renewed certificate is the same party.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

import msgspec

from lotor.core.errors import (
    CertificateError,
    IntegrityError,
    LotorError,
    ProtocolError,
    VersionError,
)
from lotor.core.version import VERSION
from lotor.crypto.certificates import Certificate, PartyKey, Trust
from lotor.crypto.signing import Identity
from lotor.protocols.deployment import Deployment, Plan

PURPOSE = "announcement"
EVERYBODY = "everybody"
_RUN = re.compile(r"[0-9a-f]{2,64}")


class Announcement(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """What everybody in a run must agree on; `certificates` are in DER, by seat."""

    run: str
    protocol: str
    wire: str
    version: str
    created: float
    certificates: dict[str, bytes]
    order: bytes

    def to_bytes(self) -> bytes:
        return msgspec.msgpack.encode(self)


@dataclass(frozen=True, slots=True)
class RunAgreement:
    """An announcement that was checked, as the party in one of its seats has it.

    `members` are the certificates by seat, and `seat` is this party's own.
    """

    announcement: Announcement
    signed: bytes
    signature: bytes
    deployment: Deployment
    plan: Plan
    members: Mapping[str, Certificate]
    seat: str
    identity: Identity

    @property
    def run(self) -> str:
        return self.announcement.run

    @property
    def opener(self) -> Certificate:
        """The certificate of the party that ordered the run."""
        return self.members[self.deployment.opener]

    @property
    def peers(self) -> dict[str, str]:
        """The seats that this party talks to, with the names in their certificates."""
        return {seat: self.members[seat].subject.name for seat in self.plan.links[self.seat]}


def seated(certificates: Mapping[str, Certificate], key: PartyKey) -> tuple[str, Identity]:
    """The seat whose key this is, and the identity that goes with it."""
    for seat, certificate in certificates.items():
        if certificate.key_bytes == key.public_bytes:
            peers = {name: other.public_key for name, other in certificates.items()}
            return seat, Identity(seat, key.private, peers)
    raise ProtocolError("this party has no seat in the run")


def claimed(signed: bytes, run: str, key: PartyKey) -> Identity | None:
    """The identity with which to refuse this run; None where this party has no seat in it."""
    try:
        announcement = _read(signed)
        certificates = {
            seat: Certificate.from_der(der) for seat, der in announcement.certificates.items()
        }
        return seated(certificates, key)[1] if announcement.run == run else None
    except LotorError:
        return None


def check(
    signed: bytes,
    signature: bytes,
    *,
    deployments: Mapping[str, Deployment],
    trust: Trust | None,
    key: PartyKey,
) -> RunAgreement:
    """Check an announcement as it came over the wire, or (without `trust`) from the journal.

    A run goes on although a certificate has expired since it began; connections are another
    matter, they need valid ones.
    """
    announcement = _read(signed)
    run = announcement.run
    deployment = deployments.get(announcement.protocol)
    if deployment is None or deployment.wire != announcement.wire:
        raise VersionError(
            f"run {run} is one of {announcement.protocol} ({announcement.wire}) by lotor "
            f"{announcement.version}, which this lotor {VERSION} cannot do: install lotor "
            f"{announcement.version} here"
        )
    members = {
        seat: _certified(seat, der, trust, run) for seat, der in announcement.certificates.items()
    }
    plan = deployment.plan(announcement.order)
    _check_seats(run, plan, members, deployment.opener)
    seat, identity = seated(members, key)
    try:
        identity.verify(
            signed,
            signature,
            sender=deployment.opener,
            run=run,
            purpose=PURPOSE,
            recipient=EVERYBODY,
        )
    except IntegrityError as error:
        raise ProtocolError(
            f"run {run} was not announced by its {deployment.opener}: {error}"
        ) from None
    return RunAgreement(announcement, signed, signature, deployment, plan, members, seat, identity)


def _read(signed: bytes) -> Announcement:
    try:
        announcement = msgspec.msgpack.decode(signed, type=Announcement)
    except (msgspec.DecodeError, UnicodeError):
        announcement = None
    # A run's name is printed and logged: no other text may come in as one.
    if announcement is None or not _RUN.fullmatch(announcement.run):
        raise ProtocolError(
            "a run was announced in a form that this version does not know: the announcement was "
            "altered, or comes from another version of lotor"
        )
    return announcement


def _certified(seat: str, der: bytes, trust: Trust | None, run: str) -> Certificate:
    try:
        certificate = Certificate.from_der(der)
        if trust is not None:
            trust.check(certificate)
    except LotorError as error:
        raise CertificateError(f"the {seat} of run {run} cannot be trusted: {error}") from None
    return certificate


def _check_seats(run: str, plan: Plan, members: Mapping[str, Certificate], opener: str) -> None:
    if set(members) != set(plan.seats) or opener not in members:
        raise ProtocolError(f"run {run} was announced with other seats than were ordered")
    for seat, role in plan.seats.items():
        subject = members[seat].subject
        if subject.role != role or seat not in (role, subject.name):
            raise CertificateError(
                f"run {run} puts {subject.name}, whose role is {subject.role}, in the seat "
                f"{seat}, which takes the {role}" + ("" if seat == role else f" {seat}")
            )
    if len({member.key_bytes for member in members.values()}) != len(members):
        raise ProtocolError(f"run {run} was announced with one party in two seats")
    if len({member.subject.name for member in members.values()}) != len(members):
        raise ProtocolError(f"run {run} was announced with two parties of one name")
