"""Checks of what lies in a kit: its keys, its certificate, its party.toml, its pull."""

import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

from lotor.core.errors import LotorError
from lotor.crypto.certificates import Certificate, PartyKey, Subject, Trust, read_bundle
from lotor.runtime.daemon.config import OwnerTable, PartyConfig, read_config
from lotor.runtime.daemon.doctor.findings import (
    AGAIN,
    DoctorFinding,
    ok,
    open_to_others,
    problem,
    warning,
)
from lotor.runtime.daemon.key_files import naming, read_file
from lotor.runtime.daemon.kit import CERTIFICATE, KEY, NO_CERTIFICATE, REVOKED, read_key
from lotor.runtime.daemon.party_functions import import_code, load_function, load_model

CERTIFICATE_NOTICE = timedelta(days=30)
# Every certificate of the federation has to be made anew with it.
AUTHORITY_NOTICE = timedelta(days=90)


@dataclass(slots=True)
class ExaminedKit:
    """A kit, as far as it can be read."""

    path: Path
    key: PartyKey | None = None
    certificate: Certificate | None = None
    trust: Trust | None = None
    config: PartyConfig | None = None
    journal_key: bytes | None = field(default=None, repr=False)

    @property
    def subject(self) -> Subject | None:
        return None if self.certificate is None else self.certificate.subject

    @property
    def state(self) -> Path:
        """Where its journal is, or would be."""
        return (self.config or PartyConfig()).state_folder(self.path)


def check_folder(kit: ExaminedKit) -> Iterator[DoctorFinding]:
    """Whoever can write here can make this party run any program."""
    paths = [kit.path, *(kit.path / name for name in (CERTIFICATE, REVOKED, "party.toml"))]
    complaints = [open_to_others("folder", path, private=False) for path in paths if path.exists()]
    yield from filter(None, complaints)
    if not any(complaints):
        yield ok("folder", f"{kit.path}: nobody else may change what is in it")


def check_key(kit: ExaminedKit) -> Iterator[DoctorFinding]:
    kit.key = read_key(kit.path)
    yield ok("key", f"{kit.path / KEY} is a key that only its owner can read")


def check_certificate(kit: ExaminedKit) -> Iterator[DoctorFinding]:
    path = kit.path / CERTIFICATE
    bundle = read_file(path, NO_CERTIFICATE.format(kit.path))
    with naming(path):
        kit.certificate, authority = read_bundle(bundle)
        kit.trust = Trust(authority)
    certificate = kit.certificate
    if kit.key is not None and certificate.key_bytes != kit.key.public_bytes:
        yield problem(
            "certificate",
            f"{path} is the certificate of {certificate.subject} for another key than {KEY}",
            "ask the authority to sign this kit's request.pem, and install what it makes of it",
        )
    else:
        yield ok("certificate", f"{certificate.subject}, of the authority {kit.trust.authority}")


def check_revocations(kit: ExaminedKit) -> Iterator[DoctorFinding]:
    if kit.trust is None:
        return
    path = kit.path / REVOKED
    fetch = f"fetch revoked.pem from the authority: `lotor keys install FILE --kit {kit.path}`"
    if not path.exists():
        yield warning(
            "revocation list", "there is none, so no certificate counts as revoked", fetch
        )
        return
    with naming(path):
        kit.trust = Trust(kit.trust.authority_pem, path.read_bytes())
    revocations = kit.trust.revocations
    if revocations is None or revocations.stale():
        yield warning("revocation list", f"{path} is old: a newer one should exist", fetch)
    else:
        count = len(revocations.revoked)
        yield ok("revocation list", f"of {_day(revocations.made)}, {count} revoked")


def check_validity(kit: ExaminedKit) -> Iterator[DoctorFinding]:
    certificate, trust = kit.certificate, kit.trust
    if certificate is None or trust is None:
        return
    trust.check(certificate)
    now = datetime.now(UTC)
    left = certificate.not_after - now
    text = f"valid until {_day(certificate.not_after)}, {left.days} days from now"
    if left < CERTIFICATE_NOTICE:
        todo = f"`lotor keys renew --kit {kit.path}`, and let the authority sign the request"
        yield warning("validity", text, todo)
    else:
        yield ok("validity", text)
    left = trust.not_after - now
    text = f"{trust.authority} is valid until {_day(trust.not_after)}, {left.days} days from now"
    if left < AUTHORITY_NOTICE:
        todo = "agree on a new authority with the federation: all certificates end with this one"
        yield warning("authority", text, todo)
    else:
        yield ok("authority", text)


def check_party_toml(kit: ExaminedKit) -> Iterator[DoctorFinding]:
    path = kit.path / "party.toml"
    kit.config = read_config(path)
    yield ok("party.toml", f"{path} can be read")


def check_role(
    kit: ExaminedKit, openers: Collection[str], bringers: Collection[str]
) -> Iterator[DoctorFinding]:
    """Whether party.toml says what a party of this role needs.

    `openers` are the roles that order runs, and `bringers` those that bring something to them.
    """
    config, subject = kit.config, kit.subject
    if config is None or subject is None:
        return
    findings = list(_misfits(config, subject, openers, bringers))
    yield from findings
    if not findings:
        yield ok("role", f"party.toml has what the {subject.role} {subject.name} needs")
    if config.trial is not None:
        yield warning(
            "trial",
            "[trial] fixes this party's draws, so anybody who knows the seed knows them too",
            "take [trial] out of party.toml unless this is a trial with made-up data",
        )


def _misfits(
    config: PartyConfig, subject: Subject, openers: Collection[str], bringers: Collection[str]
) -> Iterator[DoctorFinding]:
    example = "docs/party.md has an example"
    if subject.role in bringers and config.owner is None:
        found = f"{subject.name} has the role {subject.role}, but no [owner] table"
        yield problem("role", found, example)
    if subject.role not in bringers and config.owner is not None:
        yield warning(
            "role",
            f"{subject.name} has an [owner] table, but is a {subject.role} that nobody asks",
            "take [owner] out of party.toml",
        )
    if subject.role in openers and not config.members:
        yield problem(
            "role", f"{subject.name} is a {subject.role} without [members] to order from", example
        )
    if subject.name in config.peers:
        yield problem(
            "role",
            f"{subject.name} is among its own [peers]",
            f"take {subject.name} out of [peers] in party.toml",
        )
    if config.listen is None and not config.peers:
        yield problem(
            "role",
            f"{subject.name} neither listens nor dials anybody",
            "set `listen` or [peers] in party.toml",
        )


def check_pull(kit: ExaminedKit) -> Iterator[DoctorFinding]:
    """Imported as the daemon does; functions are not called."""
    owner = None if kit.config is None else kit.config.owner
    if owner is None:
        return
    for key, spec in owner.functions.items():
        if spec is not None:
            imported = f"{spec} can be imported ({_repeats(owner)}); it was not called"
            yield _loaded(key, partial(load_function, key=key), spec, kit.path, imported)
    if owner.model is not None:
        loaded = f"{owner.model} can be loaded"
        yield _loaded("model", load_model, owner.model, kit.path, loaded)


def check_code(kit: ExaminedKit) -> Iterator[DoctorFinding]:
    """The policies and protocols that party.toml lists, imported as the daemon does."""
    code = None if kit.config is None else kit.config.code
    if code is None:
        return
    for name in (*code.policies, *code.protocols):
        yield _loaded("code", import_code, name, kit.path, f"{name} can be imported")


def _loaded(
    check: str, load: Callable[[str, Path], object], spec: str, kit: Path, well: str
) -> DoctorFinding:
    try:
        with _nothing_written():
            load(spec, kit)
    except LotorError as error:
        return problem(check, str(error), AGAIN)
    return ok(check, well)


def _repeats(owner: OwnerTable) -> str:
    if owner.repeatable:
        return "repeatable: asked again after a crash"
    return "not repeatable: after a crash you decide"


@contextmanager
def _nothing_written() -> Iterator[None]:
    """Import without leaving a cache in the kit, or a word among this program's data."""
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        sys.dont_write_bytecode = before


def _day(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d}"


def is_a_kit(path: Path) -> bool:
    """Whether there is anything of a kit at all."""
    with naming(path):
        return any((path / name).exists() for name in (KEY, CERTIFICATE, "party.toml"))
