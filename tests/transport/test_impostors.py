"""Certificates that must not be believed, at either end; the errors say why."""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from lotor.core.errors import CertificateError, LotorError
from lotor.transport import Tls
from transport.parties import Federation, Party, exchange, running


def dialled(
    federation: Federation, tls: Tls, expected: str, name: str, listener: Tls
) -> tuple[LotorError, LotorError | None]:
    """What the dialler and the listener say when `tls` dials `expected` at `listener`."""
    found: list[LotorError | None] = []

    async def scenario() -> None:
        there = Party(listener, listen=True)
        async with running(there):
            here = Party(tls, dial={expected: there.address})
            good = Party(federation.join("graz"), dial={name: there.address})
            async with running(here):
                found.append(await here.error(expected))
                found.append(there.net.last_error(here.name))
                assert not there.net.connected(here.name)
                assert here.net.sessions(expected) == 0
            if listener.subject().name == name:
                async with running(good):
                    await exchange(good, there)

    asyncio.run(scenario())
    assert found[0] is not None
    return found[0], found[1]


@pytest.fixture
def elsewhere(tmp_path: Path) -> Federation:
    """Another federation, with names like ours."""
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    return Federation(folder, "rogues")


def test_a_rogue_authority_at_the_dialler(federation: Federation, elsewhere: Federation) -> None:
    """The dialler trusts our authority but shows a certificate of another."""
    elsewhere.join("lyon")
    rogue = Tls(
        elsewhere.folder / "lyon.certificate.pem",
        elsewhere.folder / "lyon.key.pem",
        federation.trust,
    )
    error, _ = dialled(federation, rogue, "comp", "comp", federation.join("comp", "comp"))
    assert isinstance(error, CertificateError)
    assert "does not know the authority" in str(error)
    assert "comp at 127.0.0.1" in str(error)


def test_a_rogue_authority_at_the_listener(federation: Federation, elsewhere: Federation) -> None:
    error, _ = dialled(
        federation, federation.join("lyon"), "comp", "", elsewhere.join("comp", "comp")
    )
    assert isinstance(error, CertificateError)
    assert "not signed by this federation's authority" in str(error)
    assert "comp at 127.0.0.1" in str(error)


@pytest.mark.parametrize(
    ("days", "begin", "theirs", "ours"),
    [
        (1, -3, "it has expired", "has expired"),
        (30, +3, "not yet valid", "not yet valid"),
    ],
)
def test_certificates_out_of_time(
    federation: Federation, days: int, begin: int, theirs: str, ours: str
) -> None:
    now = datetime.now(UTC) + timedelta(days=begin)
    late = federation.join("lyon", days=days, now=now)
    error, _ = dialled(federation, late, "comp", "comp", federation.join("comp", "comp"))
    assert isinstance(error, CertificateError)
    assert theirs in str(error)
    late = federation.join("comp", "comp", days=days, now=now)
    error, _ = dialled(federation, federation.join("lyon"), "comp", "", late)
    assert isinstance(error, CertificateError)
    assert ours in str(error)


def test_revoked_certificates(federation: Federation) -> None:
    lyon, comp = federation.join("lyon"), federation.join("comp", "comp")
    federation.revoke("lyon")
    error, noticed = dialled(federation, lyon, "comp", "comp", comp)
    assert isinstance(noticed, CertificateError)
    assert "was revoked on" in str(noticed)
    assert isinstance(error, CertificateError)
    assert "comp at 127.0.0.1" in str(error)
    assert "lyon" in str(error)
    assert "was revoked on" in str(error)
    federation.revoke("comp")
    error, _ = dialled(federation, federation.join("lyon"), "comp", "", comp)
    assert isinstance(error, CertificateError)
    assert "was revoked on" in str(error)


def test_an_owner_that_poses_as_comp(federation: Federation) -> None:
    error, _ = dialled(
        federation, federation.join("lyon"), "comp", "porto", federation.join("porto")
    )
    assert isinstance(error, CertificateError)
    assert "comp was expected" in str(error)
    assert "owner porto" in str(error)


def test_a_party_that_dials_itself(federation: Federation) -> None:
    lyon = federation.join("lyon")
    error, _ = dialled(federation, lyon, "lyon", "lyon", lyon)
    assert isinstance(error, CertificateError)
    assert "own name" in str(error)
