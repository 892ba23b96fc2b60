import json
import stat
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lotor.core.errors import CertificateError, ConfigError, FormatError, InputError
from lotor.crypto.certificates import PartyKey, Request, Subject, Trust
from lotor.runtime.daemon.authority import AuthorityFolder, Issued, check_request

LYON = Subject("lyon", "owner")
NOW = datetime(2030, 5, 17, 12, tzinfo=UTC)
KEYS = [PartyKey.new() for _ in range(3)]


@pytest.fixture
def folder(tmp_path: Path) -> AuthorityFolder:
    return AuthorityFolder.create(tmp_path / "authority", "clinics")


def _trust(folder: AuthorityFolder) -> Trust:
    return Trust(folder.authority.certificate_pem, folder.revoked_path.read_bytes())


def test_what_was_signed_is_in_the_register(folder: AuthorityFolder) -> None:
    certificate = folder.sign(KEYS[0].request(LYON), days=7)
    (entry,) = AuthorityFolder(folder.path).issued()
    assert (entry.name, entry.role, entry.revoked) == ("lyon", "owner", None)
    assert int(entry.serial, 16) == certificate.serial
    assert entry.fingerprint == certificate.fingerprint
    assert entry.not_after == certificate.not_after
    assert _trust(folder).check(certificate) == LYON


def test_the_folder_is_private(folder: AuthorityFolder) -> None:
    assert stat.S_IMODE(folder.path.stat().st_mode) == 0o700
    assert stat.S_IMODE((folder.path / "key.pem").stat().st_mode) == 0o600
    assert stat.S_IMODE((folder.path / "issued.json").stat().st_mode) == 0o600
    (folder.path / "key.pem").chmod(0o640)
    with pytest.raises(ConfigError, match="chmod 600"):
        AuthorityFolder(folder.path)


def test_an_authority_is_never_overwritten(folder: AuthorityFolder) -> None:
    before = folder.authority.fingerprint
    with pytest.raises(ConfigError, match="exists already"):
        AuthorityFolder.create(folder.path, "clinics")
    (folder.path / "authority.pem").rename(folder.path / "moved.pem")
    with pytest.raises(ConfigError, match=r"key\.pem exists already"):
        AuthorityFolder.create(folder.path, "clinics")
    (folder.path / "moved.pem").rename(folder.path / "authority.pem")
    assert AuthorityFolder(folder.path).authority.fingerprint == before


def test_an_unusable_name_leaves_no_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        AuthorityFolder.create(tmp_path / "authority", "Clinics!")
    assert not (tmp_path / "authority").exists()


def test_a_second_key_for_a_name_needs_a_revocation_first(folder: AuthorityFolder) -> None:
    first = folder.sign(KEYS[0].request(LYON))
    with pytest.raises(ConfigError, match=r"in use with another key.*lotor keys revoke lyon"):
        folder.sign(KEYS[1].request(LYON))
    renewed = folder.sign(KEYS[0].request(LYON))
    taken = [int(entry.serial, 16) for entry in folder.revoke("lyon")]
    assert taken == [first.serial, renewed.serial]
    trust = _trust(folder)
    for certificate in (first, renewed):
        with pytest.raises(CertificateError, match="revoked"):
            trust.check(certificate)
    with pytest.raises(ConfigError, match="was revoked on"):
        folder.sign(KEYS[0].request(LYON))
    assert trust.check(folder.sign(KEYS[1].request(LYON))) == LYON


def test_a_name_keeps_its_role_and_a_key_its_name(folder: AuthorityFolder) -> None:
    folder.sign(KEYS[0].request(LYON))
    with pytest.raises(ConfigError, match="in use as owner, and this request asks for comp"):
        folder.sign(KEYS[0].request(Subject("lyon", "comp")))
    with pytest.raises(ConfigError, match="owner porto is the key of owner lyon"):
        folder.sign(KEYS[0].request(Subject("porto", "owner")))
    assert len(folder.issued()) == 1


ENTRIES = st.builds(
    lambda name, role, key, days, revoked: Issued(
        "1", name, role, KEYS[key].public_bytes.hex(), "", NOW + timedelta(days=days),
        NOW if revoked else None,
    ),
    st.sampled_from(["lyon", "porto"]),
    st.sampled_from(["owner", "comp"]),
    st.integers(0, 2),
    st.integers(-2, 2),
    st.booleans(),
)  # fmt: skip


@given(entries=st.lists(ENTRIES, max_size=6), key=st.integers(0, 2))
def test_no_name_ever_has_two_keys_or_roles_in_use(entries: list[Issued], key: int) -> None:
    request = Request.from_pem(KEYS[key].request(LYON))
    mine = request.key_bytes.hex()
    contradicts = any(
        (entry.name == "lyon" and entry.in_use(NOW) and (entry.key, entry.role) != (mine, "owner"))
        or (entry.key == mine and (entry.revoked or entry.name != "lyon"))
        for entry in entries
    )
    if contradicts:
        with pytest.raises(ConfigError):
            check_request(entries, request, NOW)
    else:
        check_request(entries, request, NOW)


def test_all_requests_are_signed_or_none(folder: AuthorityFolder) -> None:
    good, clash = KEYS[0].request(LYON), KEYS[1].request(LYON)
    with pytest.raises(ConfigError):
        folder.sign_all([good, clash])
    with pytest.raises(FormatError):
        folder.sign_all([good, b"junk"])
    assert folder.issued() == []


def test_only_what_is_in_use_can_be_revoked(folder: AuthorityFolder) -> None:
    folder.sign(KEYS[0].request(LYON))
    with pytest.raises(ConfigError, match="no certificate of 'porto' in use; in use are: lyon"):
        folder.revoke("porto")
    folder.revoke("lyon")
    with pytest.raises(ConfigError, match="in use are: none"):
        folder.revoke("porto")


def test_an_interrupted_revocation_can_be_repeated(
    folder: AuthorityFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    certificate = folder.sign(KEYS[0].request(LYON))
    with monkeypatch.context() as patch:
        patch.setattr(folder, "_write_revocations", lambda _: None)
        folder.revoke("lyon")
    assert _trust(folder).check(certificate) == LYON
    (entry,) = folder.revoke("lyon")
    assert int(entry.serial, 16) == certificate.serial
    with pytest.raises(CertificateError, match="revoked"):
        _trust(folder).check(certificate)


def test_refreshing_keeps_what_is_revoked(folder: AuthorityFolder) -> None:
    certificate = folder.sign(KEYS[0].request(LYON))
    folder.revoke("lyon")
    folder.revoked_path.unlink()
    folder.refresh()
    with pytest.raises(CertificateError, match="revoked"):
        _trust(folder).check(certificate)


def test_two_people_at_one_authority_lose_nothing(folder: AuthorityFolder) -> None:
    requests = [PartyKey.new().request(Subject(f"owner-{i}", "owner")) for i in range(12)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda pem: AuthorityFolder(folder.path).sign(pem), requests))
    assert {entry.name for entry in folder.issued()} == {f"owner-{i}" for i in range(12)}


@pytest.mark.parametrize("text", ["", "[]", '{"version": 2, "issued": []}', '{"version": 1}'])
def test_a_damaged_register_is_named_and_left_alone(folder: AuthorityFolder, text: str) -> None:
    path = folder.path / "issued.json"
    path.write_text(text)
    with pytest.raises(ConfigError, match=r"issued\.json is damaged"):
        folder.sign(KEYS[0].request(LYON))
    assert path.read_text() == text
    path.unlink()
    with pytest.raises(ConfigError, match="register is lost"):
        folder.issued()


def test_the_register_is_plain_json(folder: AuthorityFolder) -> None:
    folder.sign(KEYS[0].request(LYON))
    document = json.loads((folder.path / "issued.json").read_text())
    assert document["issued"][0]["name"] == "lyon"
    assert "PRIVATE" not in json.dumps(document)


def test_a_missing_authority_says_how_to_make_one(tmp_path: Path, folder: AuthorityFolder) -> None:
    with pytest.raises(ConfigError, match="lotor keys authority"):
        AuthorityFolder(tmp_path / "none")
    (folder.path / "authority.pem").unlink()
    with pytest.raises(ConfigError, match=r"authority\.pem is missing"):
        AuthorityFolder(folder.path)
