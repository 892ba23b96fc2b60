"""Every way in which a connection fails has a sentence that names the peer."""

import errno
import socket
import ssl

import pytest

from lotor.core.errors import CertificateError, ConsentError, TransportError
from lotor.transport.failures import explain


def alert(reason: str) -> ssl.SSLError:
    error = ssl.SSLError(1, reason)
    error.reason = reason
    return error


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (None, "was cut"),
        (EOFError(), "was cut"),
        (ConnectionResetError(), "was cut"),
        (ConnectionRefusedError(errno.ECONNREFUSED, "refused"), "nobody listens"),
        (socket.gaierror(-2, "unknown"), "cannot be resolved"),
        (TimeoutError(), "no answer"),
        (OSError(errno.ENETUNREACH, "Network is unreachable"), "Network is unreachable"),
        (UnicodeError("label too long"), "label too long"),
        (alert("TLSV1_ALERT_PROTOCOL_VERSION"), "does not speak TLS 1.3"),
        (alert("WRONG_VERSION_NUMBER"), "does not speak TLS 1.3"),
        (alert("BAD_RECORD_TYPE"), "bad record type"),
    ],
)
def test_network_failures(error: Exception | None, words: str) -> None:
    found = explain(error, "comp at 10.0.0.1:7400")
    assert type(found) is TransportError
    assert words in str(found)
    assert "comp at 10.0.0.1:7400" in str(found)


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        ("TLSV1_ALERT_UNKNOWN_CA", "does not know the authority"),
        ("SSLV3_ALERT_CERTIFICATE_EXPIRED", "has expired"),
        ("SSLV3_ALERT_CERTIFICATE_REVOKED", "is revoked"),
        ("SSLV3_ALERT_BAD_CERTIFICATE", "damaged or not yet valid"),
        ("SSLV3_ALERT_CERTIFICATE_UNKNOWN", "cannot be used"),
        ("TLSV13_ALERT_CERTIFICATE_REQUIRED", "none was shown"),
        ("PEER_DID_NOT_RETURN_A_CERTIFICATE", "showed no certificate"),
    ],
)
def test_refused_certificates(reason: str, words: str) -> None:
    found = explain(alert(reason), "comp")
    assert type(found) is CertificateError
    assert words in str(found)
    assert "comp" in str(found)


def test_what_is_explained_already_stays() -> None:
    error = ConsentError("no")
    assert explain(error, "comp") is error
