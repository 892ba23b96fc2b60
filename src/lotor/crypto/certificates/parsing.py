"""Small helpers around X.509: errors of parsers, fingerprints, moments in UTC."""

import hashlib
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.utils import CryptographyDeprecationWarning

from lotor.core.errors import CertificateError, FormatError, InputError


@contextmanager
def parsing(what: str) -> Iterator[None]:
    """Turn whatever a parser says about bytes from outside into one FormatError."""
    try:
        # What the parser only warns of, such as a serial number below 1, is refused as well.
        with warnings.catch_warnings(action="error", category=CryptographyDeprecationWarning):
            yield
    except CertificateError as error:
        raise CertificateError(f"the {what} is refused: {error}") from None
    except (
        ValueError,
        TypeError,
        NotImplementedError,
        UnsupportedAlgorithm,
        x509.InvalidVersion,
        x509.DuplicateExtension,
        x509.ExtensionNotFound,
        x509.UnsupportedGeneralNameType,
        CryptographyDeprecationWarning,
    ):
        # The parser's own words are left out: they may quote what they were given.
        raise FormatError(
            f"the {what} cannot be read: it is damaged, cut off, or another kind of file"
        ) from None


def ed25519_of(
    source: x509.Certificate | x509.CertificateSigningRequest,
) -> Ed25519PublicKey:
    """The public key of a certificate or request; CertificateError if it is of another kind."""
    key = source.public_key()
    if not isinstance(key, Ed25519PublicKey):
        raise CertificateError("its key is not an Ed25519 key, and no other kind is used here")
    return key


def fingerprint(der: bytes) -> str:
    """SHA-256 in sixteen blocks of four digits, short enough to read out on the phone.

    >>> fingerprint(b"")[:19]
    'e3b0 c442 98fc 1c14'
    """
    return hashlib.sha256(der).digest().hex(" ", 2)


def fingerprint_lines(text: str) -> list[str]:
    """A fingerprint as people compare it: in lines of eight blocks, each of which stays whole."""
    blocks = text.split(" ")
    return [" ".join(blocks[start : start + 8]) for start in range(0, len(blocks), 8)]


def moment(now: datetime | None) -> datetime:
    """`now` in UTC to the second, as certificates write it; the present if None."""
    if now is None:
        now = datetime.now(UTC)
    elif now.tzinfo is None:
        raise InputError("a moment without a time zone was given: use datetime.now(UTC)")
    return now.astimezone(UTC).replace(microsecond=0)


def day(when: datetime) -> str:
    """A moment for people, to the minute."""
    return f"{when:%Y-%m-%d %H:%M} UTC"
