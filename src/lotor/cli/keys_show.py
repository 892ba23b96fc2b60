"""What `lotor keys show` says of a kit, an authority or a file."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeAlias

import msgspec
import typer

from lotor.core.errors import CertificateError, ConfigError
from lotor.crypto.certificates import (
    Certificate,
    Request,
    Revocations,
    Subject,
    Trust,
    fingerprint_lines,
    party_fingerprint,
    read_bundle,
)
from lotor.runtime.daemon.authority import AUTHORITY, AuthorityFolder, Issued
from lotor.runtime.daemon.enrolment import CERTIFICATE_LABEL, LIST_LABEL
from lotor.runtime.daemon.key_files import naming, read_file
from lotor.runtime.daemon.kit import CERTIFICATE, KEY, REQUEST, Kit, unlock_key
from lotor.runtime.daemon.protection import FolderProtection, read_protection

Document: TypeAlias = dict[str, object]

_COLUMNS = 80


def print_document(document: Document, *, as_json: bool) -> None:
    """One JSON object, or one line for each entry."""
    if as_json:
        typer.echo(msgspec.json.encode(document).decode())
        return
    for line in lines_of(document):
        typer.echo(line)


def lines_of(document: Document) -> Iterator[str]:
    """A document for people, on a terminal of 80 columns."""
    width = max(len(key) for key in document)
    for key, value in document.items():
        label = _label(key).ljust(width)
        if isinstance(value, list):
            yield f"{label}  {len(value)}"
            for item in value:
                yield from _item(item)
        elif value is not None:
            first, *more = _texts(key, value)
            yield f"{label}  {first}"
            yield from (f"{'':{width}}  {text}" for text in more)


def _item(item: Document) -> Iterator[str]:
    words = [
        # Words speak for themselves; dates and numbers need their label.
        value if isinstance(value, str) else f"{_label(key)} {_text(value)}"
        for key, value in item.items()
        if value is not None and key != "fingerprint"
    ]
    line = f"  {words[0]}"
    for word in words[1:]:
        if len(line) + 2 + len(word) > _COLUMNS:
            yield line
            line = "  "
        line += f"  {word}"
    yield line
    if "fingerprint" in item:
        yield from (f"    {text}" for text in _texts("fingerprint", item["fingerprint"]))


def _texts(key: str, value: object) -> list[str]:
    """A value in one line, but a fingerprint in two, of whole blocks."""
    return fingerprint_lines(str(value)) if key.endswith("fingerprint") else [_text(value)]


def _label(key: str) -> str:
    return key.replace("_", " ")


def _text(value: object) -> str:
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%d %H:%M} UTC"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def describe(path: Path) -> Document:
    """Names, roles, fingerprints and dates of whatever `lotor keys` makes."""
    with naming(path):
        return _folder(path) if path.is_dir() else _file(path)


def _folder(path: Path) -> Document:
    if (path / AUTHORITY).exists():
        return _authority(AuthorityFolder(path))
    if (path / CERTIFICATE).exists():
        return _kit(Kit(path))
    if (path / KEY).exists():
        return _kit_without_certificate(path)
    raise ConfigError(
        f"{path} is neither a kit nor an authority folder: make one with "
        "`lotor keys request` or `lotor keys authority`"
    )


def _file(path: Path) -> Document:
    pem = read_file(path, "name a kit, an authority folder, a certificate, a request or a list")
    if b"PRIVATE KEY-----" in pem:
        raise ConfigError(f"{path} is a private key, which is never shown: name its folder instead")
    if b"-----BEGIN CERTIFICATE REQUEST-----" in pem:
        return describe_request(Request.from_pem(pem))
    revoked = Revocations.from_pem(pem) if LIST_LABEL in pem else None
    if revoked is not None and CERTIFICATE_LABEL not in pem:
        return {"kind": "revocation list", **_list(revoked)}
    if pem.count(CERTIFICATE_LABEL) > 1:
        certificate, authority_pem = read_bundle(pem)
        trust = Trust(authority_pem, None if revoked is None else revoked.to_pem())
        return {"kind": "certificate", **_certified(certificate, trust)}
    try:
        certificate = Certificate.from_pem(pem)
    except CertificateError:
        return {"kind": "authority's certificate", **_trust(Trust(pem))}
    return {"kind": "certificate", **_certificate(certificate)}


def describe_request(request: Request) -> Document:
    return {
        "kind": "request",
        "role": request.subject.role,
        "name": request.subject.name,
        "fingerprint": request.fingerprint,
    }


def describe_certificate(certificate: Certificate, trust: Trust) -> Document:
    return {"kind": "certificate", **_certified(certificate, trust)}


def _kit(kit: Kit) -> Document:
    shown = _certified(kit.certificate, kit.trust)
    return {"kind": "kit", **shown, "protection": _protection(kit.protection)}


def _protection(found: FolderProtection | None) -> str:
    """What the secrets of a folder are encrypted under."""
    if found is None:
        return "none"
    if found.phase != "protected":
        return f"interrupted: `lotor keys {found.phase.removesuffix('ing')}` completes it"
    return found.kind


def _kit_without_certificate(path: Path) -> Document:
    protection = read_protection(path)
    if protection is None:
        unlock_key(path)
    pem = read_file(path / REQUEST, f"repeat `lotor keys request … --kit {path}`")
    with naming(path / REQUEST):
        request = Request.from_pem(pem)
    return {
        **describe_request(request),
        "kind": "kit",
        "problem": "it has no certificate yet",
        "protection": _protection(protection),
    }


def _authority(folder: AuthorityFolder) -> Document:
    pem = read_file(folder.revoked_path, "make it with `lotor keys refresh`")
    with naming(folder.revoked_path):
        trust = Trust(folder.certificate_pem, pem)
    issued = [_issued(entry) for entry in folder.issued()]
    protection = _protection(folder.protection)
    return {"kind": "authority", **_trust(trust), "protection": protection, "issued": issued}


def _issued(entry: Issued) -> Document:
    state = "revoked" if entry.revoked else "in use" if entry.in_use(_now()) else "expired"
    return {
        "role": entry.role,
        "name": entry.name,
        "state": state,
        "valid_until": entry.not_after,
        "days_left": _days_left(entry.not_after),
        "revoked_since": entry.revoked,
        # Not the register's own: that of an old one may be of another kind.
        "fingerprint": party_fingerprint(Subject(entry.name, entry.role), bytes.fromhex(entry.key)),
    }


def _certificate(certificate: Certificate) -> Document:
    return {
        "role": certificate.subject.role,
        "name": certificate.subject.name,
        "fingerprint": certificate.fingerprint,
        "valid_from": certificate.not_before,
        "valid_until": certificate.not_after,
        "days_left": _days_left(certificate.not_after),
    }


def _certified(certificate: Certificate, trust: Trust) -> Document:
    problem = None
    try:
        trust.check(certificate)
    except CertificateError as error:
        problem = str(error)
    return {
        **_certificate(certificate),
        "authority": trust.authority,
        "authority_fingerprint": trust.fingerprint,
        "valid": problem is None,
        "problem": problem,
        **_prefixed(trust.revocations),
    }


def _trust(trust: Trust) -> Document:
    return {
        "name": trust.authority,
        "fingerprint": trust.fingerprint,
        "valid_until": trust.not_after,
        "days_left": _days_left(trust.not_after),
        **_prefixed(trust.revocations),
    }


def _prefixed(revocations: Revocations | None) -> Document:
    if revocations is None:
        return {}
    return {
        "revocation_list_made": revocations.made,
        "revocation_list_stale": revocations.stale(),
    }


def _list(revocations: Revocations) -> Document:
    return {
        "made": revocations.made,
        "next_update": revocations.next_update,
        "stale": revocations.stale(),
        "revoked": [
            {"since": since, "serial": f"{serial:x}"}
            for serial, since in revocations.revoked.items()
        ],
    }


def _days_left(end: datetime) -> int:
    return max((end - _now()).days, 0)


def _now() -> datetime:
    return datetime.now(UTC)
