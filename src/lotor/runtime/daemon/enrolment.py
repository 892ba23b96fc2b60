"""How a kit comes to its key, its request, its certificate and its revocation list."""

from pathlib import Path

from lotor.core.errors import ConfigError, CryptoError
from lotor.crypto.certificates import (
    PartyKey,
    Request,
    Revocations,
    Subject,
    Trust,
    read_bundle,
)
from lotor.runtime.daemon.key_files import (
    make_folder,
    naming,
    read_file,
    replace_file,
    write_new,
)
from lotor.runtime.daemon.kit import (
    CERTIFICATE,
    KEY,
    NO_CERTIFICATE,
    REQUEST,
    REVOKED,
    Kit,
    unlock_key,
)

CERTIFICATE_LABEL = b"-----BEGIN CERTIFICATE-----"
LIST_LABEL = b"-----BEGIN X509 CRL-----"


def make_request(kit: Path, subject: Subject) -> Request:
    """Make a kit with a new key and a request for a certificate."""
    make_folder(kit)
    if any((kit / name).exists() for name in (REQUEST, CERTIFICATE)):
        raise ConfigError(
            f"the kit {kit} exists already: use `lotor keys renew --kit {kit}` to keep its key, "
            "or choose another folder for a new one"
        )
    # A key without a request is what an interrupted call left behind: go on with it.
    if not (kit / KEY).exists():
        write_new(kit / KEY, PartyKey.new().to_pem())
    return _write_request(kit, subject)


def renew_request(kit: Path) -> Request:
    """Write a kit's request again, for a new certificate with the same key."""
    return _write_request(kit, Kit(kit).subject)


def _write_request(kit: Path, subject: Subject) -> Request:
    pem = unlock_key(kit).request(subject)
    replace_file(kit / REQUEST, pem)
    return Request.from_pem(pem)


def install_certificate(kit: Path, file: Path) -> Kit:
    """Put the certificate that the authority signed into the kit that asked for it.

    The authority's list of revoked certificates comes with it, unless the kit has a newer one.
    """
    key = unlock_key(kit)
    pem = read_file(file, "it should be what `lotor keys sign` wrote")
    with naming(file):
        certificate, authority_pem = read_bundle(pem)
        brought = Revocations.from_pem(pem) if LIST_LABEL in pem else None
        trust = Trust(authority_pem, None if brought is None else brought.to_pem())
        trust.check(certificate)
    if certificate.key_bytes != key.public_bytes:
        raise ConfigError(
            f"{file} is the certificate of {certificate.subject} for another key than "
            f"{kit / KEY}: it belongs to another kit, or to an earlier request"
        )
    _check_unchanged(kit, file, certificate.subject, trust)
    known = _known_revocations(kit / REVOKED)
    # The list comes first: a kit with a certificate and no list would take back nothing.
    if brought is not None and (known is None or known.made <= brought.made):
        replace_file(kit / REVOKED, brought.to_pem())
    replace_file(kit / CERTIFICATE, certificate.to_pem() + authority_pem)
    return Kit(kit)


def _check_unchanged(kit: Path, file: Path, subject: Subject, trust: Trust) -> None:
    """Refuse a role or name that was not asked for, and a silent change of the authority."""
    if (kit / REQUEST).exists():
        with naming(kit / REQUEST):
            asked = Request.from_pem((kit / REQUEST).read_bytes()).subject
        if asked != subject:
            raise ConfigError(
                f"{file} is a certificate of {subject}, and this kit asked to be {asked}: "
                "talk to the authority"
            )
    if (kit / CERTIFICATE).exists():
        known = Kit(kit).trust
        if known.fingerprint != trust.fingerprint:
            raise ConfigError(
                f"{file} is signed by another authority ({trust.authority}) than the one that "
                f"this kit trusts ({known.authority}): if the federation has a new authority, "
                f"move certificate.pem and revoked.pem of {kit} away first"
            )


def install_revocations(kit: Path, file: Path) -> Revocations:
    """Put the authority's revocation list into a kit; a running party sees it at once."""
    bundle = read_file(kit / CERTIFICATE, NO_CERTIFICATE.format(kit))
    pem = read_file(file, "it should be the revoked.pem of the authority")
    with naming(kit / CERTIFICATE):
        _, authority_pem = read_bundle(bundle)
    with naming(file):
        new = Revocations.from_pem(pem)
        Trust(authority_pem, pem)
    known = _known_revocations(kit / REVOKED)
    if known is not None and known.made > new.made:
        raise ConfigError(
            f"{file} is of {new.made:%Y-%m-%d %H:%M}, older than the list of "
            f"{known.made:%Y-%m-%d %H:%M} that this kit has: fetch the newest from the authority"
        )
    replace_file(kit / REVOKED, pem)
    return new


def _known_revocations(path: Path) -> Revocations | None:
    try:
        return Revocations.from_pem(path.read_bytes())
    except (FileNotFoundError, CryptoError):
        return None  # a damaged list is to be replaced
