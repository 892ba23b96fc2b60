"""Checks of what lies in a kit: its keys, its certificate, its party.toml."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from lotor.crypto.certificates import Certificate, PartyKey, Subject, Trust, read_bundle
from lotor.runtime.daemon.config import PartyConfig, read_config
from lotor.runtime.daemon.config_tables import ANY
from lotor.runtime.daemon.doctor.findings import (
    DoctorFinding,
    hint,
    ok,
    open_to_others,
    problem,
    warning,
)
from lotor.runtime.daemon.key_files import naming, read_file
from lotor.runtime.daemon.kit import (
    CERTIFICATE,
    KEY,
    NO_CERTIFICATE,
    REVOKED,
    open_kit_keys,
    read_key,
)
from lotor.runtime.daemon.protection import (
    FolderKeys,
    FolderProtection,
    check_subject,
    is_encrypted,
    read_protection,
)

CERTIFICATE_NOTICE = timedelta(days=30)
# Every certificate of the federation has to be made anew with it.
AUTHORITY_NOTICE = timedelta(days=90)


@dataclass(slots=True)
class ExaminedKit:
    """A kit, as far as it can be read."""

    path: Path
    protection: FolderProtection | None = None
    keys: FolderKeys | None = None
    key: PartyKey | None = None
    certificate: Certificate | None = None
    trust: Trust | None = None
    config: PartyConfig | None = None
    journal_key: bytes | None = field(default=None, repr=False)

    @property
    def subject(self) -> Subject | None:
        return None if self.certificate is None else self.certificate.subject

    @property
    def locked(self) -> bool:
        """Whether its secrets are encrypted and could not be opened."""
        return self.protection is not None and self.keys is None

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


def check_protection(kit: ExaminedKit) -> Iterator[DoctorFinding]:
    """Whether key and journal are encrypted, and whether they can be opened here."""
    kit.protection = read_protection(kit.path)
    if kit.protection is None:
        key = kit.path / KEY
        if key.exists() and is_encrypted(read_file(key, "")):
            return  # the check of the key says what is lost
        yield hint(
            "protection",
            "key and journal are not encrypted: they rely on file permissions and on the disk",
            f"`lotor keys protect --kit {kit.path}` encrypts them: disks do get stolen",
        )
        return
    kit.keys = open_kit_keys(kit.path, kit.protection)
    kit.journal_key = None if kit.keys is None else kit.keys.journal
    word = "a passphrase" if kit.protection.kind == "passphrase" else "a key file"
    yield ok("protection", f"key and journal are encrypted, and {word} opens them")


def check_key(kit: ExaminedKit) -> Iterator[DoctorFinding]:
    if kit.locked:
        return
    kit.key = read_key(kit.path, kit.keys)
    yield ok("key", f"{kit.path / KEY} is a key that only its owner can read")


def check_certificate(kit: ExaminedKit) -> Iterator[DoctorFinding]:
    path = kit.path / CERTIFICATE
    bundle = read_file(path, NO_CERTIFICATE.format(kit.path))
    with naming(path):
        kit.certificate, authority = read_bundle(bundle)
        kit.trust = Trust(authority)
    certificate = kit.certificate
    if kit.protection is not None:
        check_subject(kit.path, kit.protection, str(certificate.subject))
    if kit.key is not None and certificate.key_bytes != kit.key.public_bytes:
        yield problem(
            "certificate",
            f"{path} is the certificate of {certificate.subject} for another key than {KEY}",
            "ask the authority to sign this kit's request.pem, and install what it makes of it",
        )
    else:
        yield ok(
            "certificate",
            f"{certificate.subject} ({certificate.fingerprint}), of the authority "
            f"{kit.trust.authority} ({kit.trust.fingerprint})",
        )


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
    rules = kit.config.consent
    if rules is not None and rules.reveal:
        told = "anything" if ANY in rules.reveal else ", ".join(rules.reveal)
        yield ok("consent", f"runs start unasked that tell who orders them more: {told}")


def check_role(
    kit: ExaminedKit, openers: Collection[str], bringers: Collection[str]
) -> Iterator[DoctorFinding]:
    """Whether party.toml says what a party of this role needs.

    `openers` are the roles that order runs, whatever the form, and `bringers` those that bring
    something to them.
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


def _day(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d}"


def is_a_kit(path: Path) -> bool:
    """Whether there is anything of a kit at all."""
    with naming(path):
        return any((path / name).exists() for name in (KEY, CERTIFICATE, "party.toml"))
