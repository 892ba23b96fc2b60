import os
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from lotor.core.errors import CertificateError, ConfigError
from lotor.crypto.certificates import CertificateAuthority, PartyKey, Subject
from lotor.runtime.daemon.authority import AuthorityFolder
from lotor.runtime.daemon.kit import Kit
from lotor.sandbox.kits import make_kits


@pytest.fixture
def kits(tmp_path: Path) -> dict[str, Path]:
    return make_kits(tmp_path, {"lyon": "owner", "porto": "owner", "cloud": "controller"})


def test_a_kit_knows_who_it_is_and_whom_it_trusts(kits: dict[str, Path]) -> None:
    kit, other = Kit(kits["lyon"]), Kit(kits["cloud"])
    assert kit.subject == Subject("lyon", "owner")
    assert kit.certificate.key_bytes == kit.key.public_bytes
    assert kit.trust.check(other.certificate) == Subject("cloud", "controller")
    assert kit.party_toml == kits["lyon"] / "party.toml"
    assert (kit.certificate_path.name, kit.key_path.name) == ("certificate.pem", "key.pem")
    assert repr(kit) == "<Kit of owner lyon>"


def test_what_is_missing_is_named_with_the_command_that_makes_it(kits: dict[str, Path]) -> None:
    with pytest.raises(ConfigError, match=r"no kit .*nowhere.*lotor keys request"):
        Kit(kits["lyon"] / "nowhere")
    kits["lyon"].joinpath("key.pem").unlink()
    with pytest.raises(ConfigError, match=r"key\.pem is missing: put it back from a backup of"):
        Kit(kits["lyon"])
    kits["porto"].joinpath("certificate.pem").unlink()
    with pytest.raises(ConfigError, match=r"certificate\.pem is missing.*lotor keys install"):
        Kit(kits["porto"])


def test_a_key_open_to_others_is_refused(kits: dict[str, Path]) -> None:
    kits["lyon"].joinpath("key.pem").chmod(0o644)
    with pytest.raises(ConfigError, match=r"chmod 600 .*lyon/key\.pem"):
        Kit(kits["lyon"])


def test_mixed_up_files_are_refused(kits: dict[str, Path]) -> None:
    shutil.copy(kits["porto"] / "key.pem", kits["lyon"] / "key.pem")
    with pytest.raises(ConfigError, match=r"is not the key of .*owner lyon"):
        Kit(kits["lyon"])


def test_an_authority_that_did_not_sign_is_refused(kits: dict[str, Path]) -> None:
    path = kits["lyon"] / "certificate.pem"
    other = CertificateAuthority.create("demo").certificate_pem
    path.write_bytes(Kit(kits["lyon"]).certificate.to_pem() + other)
    with pytest.raises(ConfigError, match="owner lyon is not signed by the authority demo"):
        Kit(kits["lyon"])


@pytest.mark.parametrize("name", ["key.pem", "certificate.pem", "revoked.pem"])
def test_damaged_files_are_named(kits: dict[str, Path], name: str) -> None:
    path = kits["lyon"] / name
    path.write_bytes(b"-----BEGIN CERTIFICATE-----\nnonsense")
    with pytest.raises(ConfigError, match=f"lyon/{name}: .* cannot be read"):
        Kit(kits["lyon"])


def test_an_expired_certificate_can_still_be_looked_at(tmp_path: Path) -> None:
    authority, key = CertificateAuthority.create("demo"), PartyKey.new()
    old = datetime.now(UTC) - timedelta(days=10)
    certificate = authority.sign(key.request(Subject("lyon", "owner")), 1, now=old)
    (tmp_path / "key.pem").write_bytes(key.to_pem())
    (tmp_path / "key.pem").chmod(0o600)
    bundle = certificate.to_pem() + authority.certificate_pem
    (tmp_path / "certificate.pem").write_bytes(bundle)
    kit = Kit(tmp_path)
    with pytest.raises(CertificateError, match="expired"):
        kit.trust.check(kit.certificate)


def test_a_new_revocation_list_counts_at_once(kits: dict[str, Path]) -> None:
    kit, porto = Kit(kits["lyon"]), Kit(kits["porto"]).certificate
    folder = AuthorityFolder(kits["lyon"].parent / "authority")
    before = kit.fresh_trust()
    assert before.check(porto)
    assert kit.fresh_trust() is before
    folder.revoke("porto")
    shutil.copy(folder.revoked_path, kits["lyon"] / "revoked.pem")
    with pytest.raises(CertificateError, match="owner porto was revoked"):
        kit.fresh_trust().check(porto)
    assert kit.trust is kit.fresh_trust()
    cloud = Kit(kits["cloud"]).certificate
    assert kit.fresh_trust().check(cloud)
    folder.revoke("cloud")
    shutil.copy(folder.revoked_path, kits["lyon"] / "revoked.pem")
    with pytest.raises(CertificateError, match="controller cloud was revoked"):
        kit.fresh_trust().check(cloud)
    with pytest.raises(CertificateError, match="revoked"):
        Kit(kits["lyon"]).trust.check(porto)


def test_a_lost_revocation_list_goes_on_to_count(kits: dict[str, Path]) -> None:
    folder = AuthorityFolder(kits["lyon"].parent / "authority")
    folder.revoke("porto")
    path = kits["lyon"] / "revoked.pem"
    shutil.copy(folder.revoked_path, path)
    kit, porto = Kit(kits["lyon"]), Kit(kits["porto"]).certificate
    path.unlink()
    with pytest.raises(CertificateError, match="revoked"):
        kit.fresh_trust().check(porto)


def test_a_foreign_or_half_copied_list_is_refused_until_it_is_whole(kits: dict[str, Path]) -> None:
    kit, path = Kit(kits["lyon"]), kits["lyon"] / "revoked.pem"
    whole = AuthorityFolder(kits["lyon"].parent / "authority").revoked_path.read_bytes()
    for bad in (CertificateAuthority.create("demo").revocations({}), whole[: len(whole) // 2]):
        path.write_bytes(bad)
        for _ in range(2):
            with pytest.raises(ConfigError, match=r"revoked\.pem"):
                kit.fresh_trust()
    path.write_bytes(whole)
    os.utime(path)
    assert kit.fresh_trust().revocations is not None
