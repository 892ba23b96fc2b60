"""Contexts for mutual TLS 1.3, and who is believed."""

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
