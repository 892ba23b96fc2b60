from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from lotor.core.errors import ConfigError
from lotor.crypto.certificates import CertificateAuthority, PartyKey, Subject
from lotor.runtime.daemon.authority import AuthorityFolder
from lotor.runtime.daemon.enrolment import (
    install_certificate,
    install_revocations,
    make_request,
    renew_request,
)

LYON = Subject("lyon", "owner")


@pytest.fixture
def authority(tmp_path: Path) -> AuthorityFolder:
    return AuthorityFolder.create(tmp_path / "authority", "clinics")


def _signed(authority: AuthorityFolder, kit: Path) -> Path:
    certificate = authority.sign((kit / "request.pem").read_bytes())
    file = kit.with_suffix(".certificate.pem")
    file.write_bytes(authority.bundle(certificate))
    return file


def test_from_a_request_to_a_kit_and_its_renewal(
    tmp_path: Path, authority: AuthorityFolder
) -> None:
    kit = tmp_path / "lyon"
    request = make_request(kit, LYON)
    first = install_certificate(kit, _signed(authority, kit))
    assert first.subject == request.subject == LYON
    assert first.key.public_bytes == request.key_bytes
    assert renew_request(kit).fingerprint == request.fingerprint
    second = install_certificate(kit, _signed(authority, kit))
    assert second.certificate.serial != first.certificate.serial
    assert second.certificate.key_bytes == first.certificate.key_bytes


def test_a_key_is_never_overwritten(tmp_path: Path) -> None:
    make_request(tmp_path / "lyon", LYON)
    key = (tmp_path / "lyon" / "key.pem").read_bytes()
    with pytest.raises(ConfigError, match=r"exists already.*renew"):
        make_request(tmp_path / "lyon", LYON)
    assert (tmp_path / "lyon" / "key.pem").read_bytes() == key


def test_an_interrupted_request_goes_on_with_its_key(tmp_path: Path) -> None:
    first = make_request(tmp_path / "lyon", LYON)
    (tmp_path / "lyon" / "request.pem").unlink()
    assert make_request(tmp_path / "lyon", LYON).fingerprint == first.fingerprint


def test_a_kit_refuses_what_it_did_not_ask_for(tmp_path: Path, authority: AuthorityFolder) -> None:
    kit, other = tmp_path / "lyon", tmp_path / "porto"
    make_request(kit, LYON)
    make_request(other, Subject("porto", "owner"))
    with pytest.raises(ConfigError, match="owner porto for another key"):
        install_certificate(kit, _signed(authority, other))
    key = PartyKey.from_pem((kit / "key.pem").read_bytes())
    promoted = authority.authority.sign(key.request(Subject("lyon", "comp")))
    (tmp_path / "file").write_bytes(authority.bundle(promoted))
    with pytest.raises(ConfigError, match="comp lyon, and this kit asked to be owner lyon"):
        install_certificate(kit, tmp_path / "file")
    assert not (kit / "certificate.pem").exists()


def test_a_kit_refuses_an_expired_certificate(tmp_path: Path, authority: AuthorityFolder) -> None:
    make_request(tmp_path / "lyon", LYON)
    pem = (tmp_path / "lyon" / "request.pem").read_bytes()
    old = authority.authority.sign(pem, 1, now=datetime.now(UTC) - timedelta(days=2))
    (tmp_path / "file").write_bytes(authority.bundle(old))
    with pytest.raises(ConfigError, match=r"file: .*expired on"):
        install_certificate(tmp_path / "lyon", tmp_path / "file")


def test_a_kit_does_not_change_its_authority_silently(
    tmp_path: Path, authority: AuthorityFolder
) -> None:
    kit = tmp_path / "lyon"
    make_request(kit, LYON)
    install_certificate(kit, _signed(authority, kit))
    before = (kit / "certificate.pem").read_bytes()
    rogue = AuthorityFolder.create(tmp_path / "rogue", "rogue")
    with pytest.raises(ConfigError, match=r"another authority \(rogue\).*\(clinics\)"):
        install_certificate(kit, _signed(rogue, kit))
    assert (kit / "certificate.pem").read_bytes() == before
    (kit / "certificate.pem").unlink()
    assert install_certificate(kit, _signed(rogue, kit)).trust.authority == "rogue"


def test_a_kit_takes_the_newest_list_of_its_own_authority(
    tmp_path: Path, authority: AuthorityFolder
) -> None:
    kit, file = tmp_path / "lyon", tmp_path / "revoked.pem"
    make_request(kit, LYON)
    with pytest.raises(ConfigError, match=r"certificate\.pem is missing"):
        install_revocations(kit, authority.revoked_path)
    install_certificate(kit, _signed(authority, kit))
    file.write_bytes(CertificateAuthority.create("clinics").revocations({}))
    with pytest.raises(ConfigError, match="not signed by the authority clinics"):
        install_revocations(kit, file)
    install_revocations(kit, authority.revoked_path)
    file.write_bytes(authority.authority.revocations({}, now=datetime.now(UTC) - timedelta(days=1)))
    with pytest.raises(ConfigError, match="older than the list"):
        install_revocations(kit, file)
    assert (kit / "revoked.pem").read_bytes() == authority.revoked_path.read_bytes()
    (kit / "revoked.pem").write_bytes(b"half")
    install_revocations(kit, authority.revoked_path)
    assert (kit / "revoked.pem").read_bytes() == authority.revoked_path.read_bytes()


def test_a_certificate_brings_the_list_of_what_was_revoked(
    tmp_path: Path, authority: AuthorityFolder
) -> None:
    kit, file = tmp_path / "lyon", tmp_path / "handout"
    make_request(kit, LYON)
    make_request(tmp_path / "porto", Subject("porto", "owner"))
    gone = authority.sign((tmp_path / "porto" / "request.pem").read_bytes())
    authority.revoke("porto")
    # The authority's own list may be old; the one that it hands out is not.
    old = authority.authority.revocations({}, now=datetime.now(UTC) - timedelta(days=60))
    authority.revoked_path.write_bytes(old)
    certificate = authority.sign((kit / "request.pem").read_bytes())
    file.write_bytes(authority.handout(certificate))
    trust = install_certificate(kit, file).trust
    assert trust.revocations is not None
    assert not trust.revocations.stale()
    assert set(trust.revocations.revoked) == {gone.serial}
    assert (kit / "certificate.pem").read_bytes() == authority.bundle(certificate)


def test_a_certificate_does_not_bring_an_old_list_back(
    tmp_path: Path, authority: AuthorityFolder
) -> None:
    kit, file = tmp_path / "lyon", tmp_path / "handout"
    make_request(kit, LYON)
    certificate = authority.sign((kit / "request.pem").read_bytes())
    file.write_bytes(authority.handout(certificate))
    install_certificate(kit, file)
    newer = authority.authority.revocations({}, now=datetime.now(UTC) + timedelta(days=1))
    (kit / "revoked.pem").write_bytes(newer)
    install_certificate(kit, file)
    assert (kit / "revoked.pem").read_bytes() == newer
    forged = CertificateAuthority.create("clinics").revocations({})
    file.write_bytes(authority.bundle(certificate) + forged)
    with pytest.raises(ConfigError, match="not signed by the authority clinics"):
        install_certificate(kit, file)
    assert (kit / "revoked.pem").read_bytes() == newer
