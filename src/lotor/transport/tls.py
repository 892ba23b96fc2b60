"""A party's side of mutual TLS 1.3: its certificate and key, and whom it trusts."""

import os
import ssl
from collections.abc import Callable
from pathlib import Path

from lotor.core.errors import ConfigError
from lotor.crypto.certificates import Certificate, Subject, Trust


class Tls:
    """Makes TLS contexts from a certificate and key file, and tells who is at the other end.

    Files and `trust` are looked at again for each new connection, so that a renewed certificate
    or a new revocation list counts at once. Host names play no part: a party is who its
    certificate says. `password` opens the key file if it is encrypted.
    """

    def __init__(
        self,
        certificate: Path,
        key: Path,
        trust: Callable[[], Trust],
        *,
        password: bytes | None = None,
    ) -> None:
        self._certificate = certificate
        self._key = key
        self._password = password
        self._trust = trust
        self._cache: dict[bool, tuple[object, ssl.SSLContext]] = {}

    def subject(self) -> Subject:
        """Whose certificate this is."""
        return self.certificate().subject

    def certificate(self) -> Certificate:
        """This party's certificate, as it is now."""
        try:
            pem = self._certificate.read_bytes()
        except OSError as error:
            raise _unreadable(self._certificate, error) from None
        return Certificate.from_pem(pem)

    def client(self) -> ssl.SSLContext:
        """The context for a connection that this party dials."""
        return self._context(server=False)

    def server(self) -> ssl.SSLContext:
        """The context for a connection that this party accepts."""
        return self._context(server=True)

    def check(self, certificate: Certificate) -> None:
        """CertificateError unless this certificate is trusted now."""
        self._trust().check(certificate)

    def _context(self, *, server: bool) -> ssl.SSLContext:
        authority = self._trust().authority_pem
        stamp = (authority, _stamp(self._certificate), _stamp(self._key))
        cached = self._cache.get(server)
        if cached is not None and cached[0] == stamp:
            return cached[1]
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER if server else ssl.PROTOCOL_TLS_CLIENT)
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        context.check_hostname = False
        context.verify_mode = ssl.CERT_REQUIRED
        context.verify_flags |= ssl.VerifyFlags.VERIFY_X509_STRICT
        if server:
            context.num_tickets = 0  # no resumption: every connection shows its certificate anew
        try:
            context.load_verify_locations(cadata=authority.decode("ascii"))
            # Without a password OpenSSL would ask for one on the terminal, in the event loop.
            context.load_cert_chain(self._certificate, self._key, self._password or b"")
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(
                f"certificate {self._certificate} and key {self._key} cannot be used for TLS "
                f"({error}): look at them with `lotor keys show`"
            ) from None
        self._cache[server] = stamp, context
        return context


def _stamp(path: Path) -> tuple[int, int, int]:
    try:
        status = os.stat(path)
    except OSError as error:
        raise _unreadable(path, error) from None
    return status.st_mtime_ns, status.st_ino, status.st_size


def _unreadable(path: Path, error: OSError) -> ConfigError:
    return ConfigError(
        f"{path} cannot be read ({error.strerror}): put it back, or make it readable for this user"
    )
