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
    InputError,
    IntegrityError,
    LotorError,
    ProtocolError,
    VersionError,
)
from lotor.core.fingerprint import CodeFingerprint, fingerprint_of, fingerprints_of
from lotor.core.unreadable import UNREADABLE
from lotor.core.version import VERSION
from lotor.crypto.certificates import Certificate, PartyKey, Trust
from lotor.crypto.signing import Identity
from lotor.policies import POLICIES
from lotor.policies.registry import split_text
from lotor.protocols.form import AnyForm, RunPlan
from lotor.protocols.protocol import SecureProtocol
from lotor.runtime.daemon.pace import Pace

PURPOSE = "announcement"
EVERYBODY = "everybody"
_RUN = re.compile(r"[0-9a-f]{2,64}")


class Announcement(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """What everybody in a run must agree on; `certificates` are in DER, by seat.

    `code` are the packages that define the protocol and the policy.
    """

    run: str
    protocol: str
    form: str
    wire: str
    version: str
    code: tuple[CodeFingerprint, ...]
    created: float
    certificates: dict[str, bytes]
    order: bytes
    pace: Pace = Pace()

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
    form: AnyForm
    plan: RunPlan
    members: Mapping[str, Certificate]
    seat: str
    identity: Identity

    @property
    def run(self) -> str:
        return self.announcement.run

    @property
    def opener(self) -> Certificate:
        """The certificate of the party that ordered the run."""
        return self.members[self.form.opener]

    @property
    def keeps(self) -> str:
        """What this party keeps after the run, in words; empty if it keeps nothing."""
        return self.kept_by(self.plan.seats[self.seat])

    def kept_by(self, role: str) -> str:
        """The same for parties of any role."""
        return self.form.keeps.get(role, "") if self.plan.keeps else ""

    @property
    def peers(self) -> dict[str, str]:
        """The seats that this party talks to, with the names in their certificates."""
        linked = self.form.links(self.plan.seats)[self.seat]
        return {seat: self.members[seat].subject.name for seat in linked}


def seated(certificates: Mapping[str, Certificate], key: PartyKey) -> tuple[str, Identity]:
    """The seat whose key this is, and the identity that goes with it."""
    for seat, certificate in certificates.items():
        if certificate.key_bytes == key.public_bytes:
            peers = {name: other.public_key for name, other in certificates.items()}
            return seat, Identity(seat, key.private, peers)
    raise ProtocolError("this party has no seat in the run")


def members_of(signed: bytes) -> dict[str, Certificate]:
    """The certificates by seat, whether or not they are trusted and this version knows the run."""
    return {seat: Certificate.from_der(der) for seat, der in _read(signed).certificates.items()}


def claimed(signed: bytes, run: str, key: PartyKey) -> Identity | None:
    """The identity with which to refuse this run; None where this party has no seat in it."""
    try:
        return seated(members_of(signed), key)[1] if _read(signed).run == run else None
    except LotorError:
        return None


def check(
    signed: bytes,
    signature: bytes,
    *,
    protocols: Mapping[str, type[SecureProtocol]],
    trust: Trust | None,
    key: PartyKey,
) -> RunAgreement:
    """Check an announcement as it came over the wire, or (without `trust`) from the journal.

    A run goes on although a certificate has expired since it began; connections are another
    matter, they need valid ones. A run in the journal can be read with other code than it was
    announced with; before it is computed with, call `check_resumable`.
    """
    announcement = _read(signed)
    run = announcement.run
    who = _own_name(signed, key)
    form = _form(announcement, protocols, who)
    members = {
        seat: _certified(seat, der, trust, run) for seat, der in announcement.certificates.items()
    }
    seat, identity = seated(members, key)
    if form.opener not in members:
        raise ProtocolError(f"run {run} was announced with other seats than were ordered")
    try:
        # Before the order is read: whose it is must be known then.
        identity.verify(
            signed,
            signature,
            sender=form.opener,
            run=run,
            purpose=PURPOSE,
            recipient=EVERYBODY,
        )
    except IntegrityError as error:
        raise ProtocolError(f"run {run} was not announced by its {form.opener}: {error}") from None
    plan = _plan(announcement, form, protocols[announcement.protocol], who)
    if trust is not None:
        _check_code(announcement, code_of(protocols[announcement.protocol], form, plan), who)
    _check_seats(run, plan, members, form)
    _check_pace(announcement, form)
    return RunAgreement(announcement, signed, signature, form, plan, members, seat, identity)


def _check_federated(announcement: Announcement, form: AnyForm) -> None:
    try:
        form.check_federated(announcement.protocol)
    except InputError as error:
        raise ProtocolError(f"run {announcement.run} was announced wrongly: {error}") from None


def _check_pace(announcement: Announcement, form: AnyForm) -> None:
    pace = announcement.pace
    try:
        pace.check()
    except InputError as error:
        raise ProtocolError(f"run {announcement.run} was announced wrongly: {error}") from None
    if not pace.free and not form.paced:
        raise ProtocolError(
            f"run {announcement.run} was announced at a pace, but the form {form.name} of "
            f"{announcement.protocol} does not say when its rounds begin: start it without one"
        )


def _own_name(signed: bytes, key: PartyKey) -> str:
    """This party by its name: others read, too, what it cannot do."""
    try:
        members = members_of(signed)
        return members[seated(members, key)[0]].subject.name
    except LotorError:
        return "this party"


def _form(
    announcement: Announcement, protocols: Mapping[str, type[SecureProtocol]], who: str
) -> AnyForm:
    """The form that was announced, if this version has it."""
    known = announcement.protocol in protocols
    if known and announcement.form in protocols[announcement.protocol].forms:
        form = protocols[announcement.protocol].form_called(announcement.form)
        if form.wire == announcement.wire:
            _check_federated(announcement, form)
            return form
    packages = ", ".join(map(str, announcement.code))
    raise VersionError(
        f"run {announcement.run} is one of {announcement.protocol} in the form "
        f"{announcement.form} ({announcement.wire}) by lotor {announcement.version}, which "
        f"{who} cannot do with its lotor {VERSION}: install lotor {announcement.version} there, "
        f"and what the run was announced with ({packages})"
    )


def _plan(
    announcement: Announcement, form: AnyForm, protocol: type[SecureProtocol], who: str
) -> RunPlan:
    """What was ordered; where that cannot be read, other code may be the reason."""
    try:
        return form.plan(announcement.order)
    except ProtocolError as error:
        if set(announcement.code) <= {fingerprint_of(protocol)}:
            raise
        raise VersionError(
            f"run {announcement.run} was announced with {_listed(announcement.code)}, and {who} "
            f"cannot do what was ordered: {error}. Install the same code at {who}"
        ) from None
    except LotorError:
        raise
    except Exception as error:
        # A fault in somebody's protocol: its text might show anything to other parties.
        raise ProtocolError(
            f"the order of run {announcement.run} cannot be read: its protocol "
            f"{announcement.protocol} failed with {type(error).__name__}; report this"
        ) from error


def code_of(protocol: type, form: AnyForm, plan: RunPlan) -> tuple[CodeFingerprint, ...]:
    """The packages whose code a run computes with: its protocol's, its form's and its policy's."""
    name = split_text(plan.policy)[0]
    policy = [POLICIES[name]] if name in POLICIES else []
    return fingerprints_of(protocol, type(form), *policy)


def foreign_code(announcement: Announcement) -> tuple[CodeFingerprint, ...]:
    """The code of a run that is not Lotor's own."""
    ours = fingerprint_of(Announcement).distribution
    return tuple(one for one in announcement.code if one.distribution != ours)


def check_resumable(agreement: RunAgreement, protocols: Mapping[str, type[SecureProtocol]]) -> None:
    """Refuse to go on with a run whose protocol or policy is a plugin that has changed since.

    A run that goes on after an update of Lotor is covered by the version of its messages.
    """
    told = agreement.announcement
    own = code_of(protocols[told.protocol], agreement.form, agreement.plan)
    have = foreign_code(msgspec.structs.replace(told, code=own))
    who = agreement.members[agreement.seat].subject.name
    _check_code(msgspec.structs.replace(told, code=foreign_code(told)), have, who)


def _check_code(announcement: Announcement, own: tuple[CodeFingerprint, ...], who: str) -> None:
    """Refuse to compute with other code than was announced."""
    if set(announcement.code) != set(own):
        raise VersionError(
            f"run {announcement.run} was announced with {_listed(announcement.code)}, and {who} "
            f"has {_listed(own)}: install the same code at {who}, or let the run be started with "
            f"that of {who}"
        )


def _listed(code: tuple[CodeFingerprint, ...]) -> str:
    return ", ".join(map(str, code)) or "no code of other packages"


def _read(signed: bytes) -> Announcement:
    try:
        announcement = msgspec.msgpack.decode(signed, type=Announcement)
    except UNREADABLE:
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


def _check_seats(
    run: str, plan: RunPlan, members: Mapping[str, Certificate], form: AnyForm
) -> None:
    if set(members) != set(plan.seats):
        raise ProtocolError(f"run {run} was announced with other seats than were ordered")
    for seat, role in plan.seats.items():
        subject = members[seat].subject
        # A seat of the form is open to any name; every other seat has its party's own.
        fixed = seat in form.fixed_seats
        if subject.role != role or not (fixed or seat == subject.name):
            raise CertificateError(
                f"run {run} puts {subject.name}, whose role is {subject.role}, in the seat "
                f"{seat}, which takes the {role}" + ("" if fixed else f" {seat}")
            )
    if len({member.key_bytes for member in members.values()}) != len(members):
        raise ProtocolError(f"run {run} was announced with one party in two seats")
    if len({member.subject.name for member in members.values()}) != len(members):
        raise ProtocolError(f"run {run} was announced with two parties of one name")
