"""Why a connection failed, as an error in plain words that names the peer and the next step."""

import socket
import ssl

from lotor.core.errors import CertificateError, LotorError, TransportError

_RENEW = "renew it with `lotor keys renew` and have it signed again"

# OpenSSL's complaints about the certificate of the other side, by number (X509_V_ERR_…).
_THEIRS = {
    9: "is not yet valid: compare the clocks of both machines",
    10: "has expired: its party must " + _RENEW,
    23: "is revoked: its party needs a new key and certificate",
}
_FOREIGN = (
    "was not signed by this federation's authority: the address is wrong, somebody else answers "
    "there, or the certificate comes from another authority (compare with `lotor keys show`)"
)

# The other side's complaints about our certificate, by the name of the TLS alert.
_OURS = {
    "UNKNOWN_CA": "it does not know the authority that signed it: both sides must have the same "
    "authority (compare with `lotor keys show`)",
    "CERTIFICATE_EXPIRED": "it has expired: " + _RENEW,
    "CERTIFICATE_REVOKED": "it is revoked: ask the federation's authority, and request a new one",
    "BAD_CERTIFICATE": "it is damaged or not yet valid there: compare the clocks of both "
    "machines, and look at it with `lotor keys show`",
    "CERTIFICATE_UNKNOWN": "it cannot be used: look at it with `lotor keys show`",
    "CERTIFICATE_REQUIRED": "none was shown: install one with `lotor keys install`",
}


def explain(error: BaseException | None, who: str) -> LotorError:
    """The error to report for a failed or lost connection; `who` is the peer and its address."""
    if isinstance(error, LotorError):
        return error
    if isinstance(error, ssl.SSLCertVerificationError):
        reason = _THEIRS.get(error.verify_code, _FOREIGN)
        return CertificateError(f"the certificate of {who} {reason}")
    if isinstance(error, ssl.SSLError):
        return _tls(error, who)
    return TransportError(_network(error, who))


def _tls(error: ssl.SSLError, who: str) -> LotorError:
    reason = error.reason or ""
    for alert, meaning in _OURS.items():
        if reason.endswith("ALERT_" + alert):
            return CertificateError(f"{who} did not accept this party's certificate: {meaning}")
    if reason == "PEER_DID_NOT_RETURN_A_CERTIFICATE":
        return CertificateError(f"{who} showed no certificate: every party needs one to connect")
    if "VERSION" in reason or "PROTOCOL" in reason:
        return TransportError(f"{who} does not speak TLS 1.3: another or an old program is there")
    if isinstance(error, ssl.SSLEOFError):
        return TransportError(_network(None, who))
    name = reason.lower().replace("_", " ") or "no reason given"
    return TransportError(
        f"TLS with {who} failed ({name}): another program may be there, or the data was damaged "
        "on its way"
    )


def _network(error: BaseException | None, who: str) -> str:
    if isinstance(error, TimeoutError):
        return (
            f"no answer from {who}: its machine is off, or a firewall drops the connection; "
            "check both, it is tried again"
        )
    if isinstance(error, socket.gaierror):
        return (
            f"the host name of {who} cannot be resolved: correct the address, or check this "
            "machine's DNS"
        )
    if isinstance(error, ConnectionRefusedError):
        return (
            f"nobody listens where {who} should be: its daemon is not running (start it with "
            "`lotor serve`), or the address is wrong"
        )
    if error is None or isinstance(error, EOFError | ConnectionError):
        return f"the connection to {who} was cut: its daemon stopped, or the network between failed"
    detail = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return f"no connection to {who}: {detail}; check the address and the network"
