"""Checks of the parties that this one deals with: whether it still trusts their certificates.

Their certificates are those in the announcements of this party's runs. A peer that it dials shows
its certificate itself, see network_checks.
"""

from collections.abc import Iterator
from contextlib import closing

from lotor.core.errors import CertificateError, LotorError
from lotor.crypto.certificates import Certificate, Trust
from lotor.runtime.daemon.announcement import members_of
from lotor.runtime.daemon.doctor.findings import DoctorFinding, ok, problem, warning
from lotor.runtime.daemon.doctor.journal_checks import JOURNAL, open_journal
from lotor.runtime.daemon.doctor.kit_checks import ExaminedKit
from lotor.runtime.durable.journal import RUNNING, WAITING

CHECK = "trusted"


def check_trusted(kit: ExaminedKit) -> Iterator[DoctorFinding]:
    path, trust = kit.state / JOURNAL, kit.trust
    if trust is None or kit.config is None or not path.exists() or kit.locked:
        return
    with closing(open_journal(kit)) as database:
        rows = database.execute(
            "SELECT id, state, announcement FROM runs ORDER BY created"
        ).fetchall()
    known: dict[str, Certificate] = {}
    found: list[DoctorFinding] = []
    for run, state, signed in rows:
        # Its own certificate is judged by kit_checks, with advice for its own operator.
        members = [one for one in _members(signed) if one.subject != kit.subject]
        known.update({one.subject.name: one for one in members})
        if state in (RUNNING, WAITING):
            found += [finding for one in members for finding in _member(kit, trust, run, one)]
    listed = {name for names in kit.config.members.values() for name in names}
    for name in sorted(listed & set(known)):
        found += _listed(trust, known[name])
    yield from found
    if not found:
        yield ok(CHECK, f"parties of this party's runs whose certificates count: {len(known)}")


def _members(signed: bytes) -> list[Certificate]:
    try:
        return list(members_of(signed).values())
    except LotorError:  # of another version
        return []


def _member(
    kit: ExaminedKit, trust: Trust, run: str, certificate: Certificate
) -> Iterator[DoctorFinding]:
    if (why := _distrust(trust, certificate)) is not None:
        yield problem(
            CHECK,
            f"run {run} has a member who cannot connect here: {why}",
            f"`lotor runs stop {run} --kit {kit.path}` ends it; start another one without "
            f"{certificate.subject.name}",
        )


def _listed(trust: Trust, certificate: Certificate) -> Iterator[DoctorFinding]:
    name = certificate.subject.name
    if (why := _distrust(trust, certificate)) is not None:
        yield warning(
            CHECK,
            f"{name} is listed under [members], but {why}",
            f"take {name} out of party.toml, or leave it if it has a new certificate by now",
        )


def _distrust(trust: Trust, certificate: Certificate) -> str | None:
    """What is wrong with a certificate, without the advice that is meant for its party."""
    try:
        trust.check(certificate)
    except CertificateError as error:
        return str(error).partition(": ")[0]
    return None
