"""Contexts for mutual TLS 1.3, and who is believed."""

import contextlib
import os
import ssl

import pytest

from lotor.core.errors import CertificateError, ConfigError
from lotor.crypto.certificates import Subject
from transport.parties import Federation


def test_both_sides_must_show_a_certificate_in_tls_1_3(federation: Federation) -> None:
    tls = federation.join("lyon")
    for context in (tls.client(), tls.server()):
        assert context.minimum_version is ssl.TLSVersion.TLSv1_3
        assert context.verify_mode is ssl.CERT_REQUIRED
        assert len(context.get_ca_certs()) == 1
    assert tls.subject() == Subject("lyon", "owner")


def test_contexts_are_made_once_and_again_when_the_files_change(federation: Federation) -> None:
    tls = federation.join("lyon")
    first = tls.server()
    assert tls.server() is first
    assert tls.client() is not first
    federation.join("lyon")  # a renewed certificate
    os.utime(federation.folder / "lyon.certificate.pem", ns=(1, 1))
    assert tls.server() is not first


def test_trust_is_asked_for_each_time(federation: Federation) -> None:
    tls = federation.join("lyon")
    federation.join("graz")
    tls.check(federation.certificates["graz"])
    federation.revoke("graz")
    with pytest.raises(CertificateError, match="revoked"):
        tls.check(federation.certificates["graz"])


def test_missing_and_mismatched_files_are_named(federation: Federation) -> None:
    tls = federation.join("lyon")
    federation.join("graz")
    key = federation.folder / "lyon.key.pem"
    key.write_bytes((federation.folder / "graz.key.pem").read_bytes())
    with pytest.raises(ConfigError, match=r"lyon\.key\.pem cannot be used for TLS"):
        tls.server()
    key.unlink()
    with pytest.raises(ConfigError, match=r"lyon\.key\.pem cannot be read"):
        tls.client()
    (federation.folder / "lyon.certificate.pem").unlink()
    with pytest.raises(ConfigError, match=r"lyon\.certificate\.pem cannot be read"):
        tls.subject()


def shaken(
    client: ssl.SSLContext, server: ssl.SSLContext, session: ssl.SSLSession | None = None
) -> ssl.SSLObject:
    """The client's end after a whole handshake and a byte each way."""
    to_client, to_server = ssl.MemoryBIO(), ssl.MemoryBIO()
    there = server.wrap_bio(to_server, to_client, server_side=True)
    here = client.wrap_bio(to_client, to_server, session=session)
    for end in (here, there, here, there):
        with contextlib.suppress(ssl.SSLWantReadError):
            end.do_handshake()
    here.write(b"1")
    assert there.read() == b"1"
    there.write(b"2")
    assert here.read() == b"2"
    return here


def test_no_connection_resumes_an_earlier_one(federation: Federation) -> None:
    """Else a party that was revoked meanwhile would come back without showing its certificate."""
    client, server = federation.join("lyon").client(), federation.join("comp", "comp").server()
    first = shaken(client, server)
    assert first.session is not None
    assert not first.session.has_ticket
    second = shaken(client, server, first.session)
    assert not second.session_reused


def test_a_server_with_tickets_would_resume(federation: Federation) -> None:
    """The test above can fail: this is what it looks for."""
    client, server = federation.join("lyon").client(), federation.join("comp", "comp").server()
    server.num_tickets = 1
    first = shaken(client, server)
    assert first.session is not None
    assert first.session.has_ticket
