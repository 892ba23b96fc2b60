"""The role and the name of a party, and how a certificate says them."""

import re

import msgspec
from cryptography import x509
from cryptography.x509.oid import NameOID

from lotor.core.errors import CertificateError, InputError
from lotor.crypto.certificates.parsing import fingerprint

SCHEME = "lotor:"
_WORD = re.compile(r"[a-z][a-z0-9-]{0,62}", re.ASCII)


def check_word(what: str, text: str) -> None:
    """Raise InputError unless `text` may be the name of a party, a role or a federation."""
    if not _WORD.fullmatch(text):
        raise InputError(
            f"the {what} {text[:80]!r} cannot be used: take lower-case letters, digits and "
            "hyphens, with a letter first, at most 63 in all"
        )


class Subject(msgspec.Struct, frozen=True):
    """A party: its name, which is its own in the federation, and its role.

    >>> Subject("lyon", "owner").uri
    'lotor:owner/lyon'
    """

    name: str
    role: str

    def __post_init__(self) -> None:
        check_word("role", self.role)
        check_word("name", self.name)

    def __str__(self) -> str:
        return f"{self.role} {self.name}"

    @property
    def uri(self) -> str:
        """How a certificate names its party; nothing else in it counts."""
        return f"{SCHEME}{self.role}/{self.name}"

    @classmethod
    def from_uri(cls, uri: str) -> "Subject":
        """Raise InputError unless it reads exactly lotor:ROLE/NAME."""
        role, slash, name = uri.removeprefix(SCHEME).partition("/")
        if not uri.startswith(SCHEME) or not slash:
            raise InputError(f"{uri[:160]!r} is not of the form {SCHEME}ROLE/NAME")
        return cls(name, role)


def party_fingerprint(subject: Subject, key: bytes) -> str:
    """The fingerprint of a party: of its role, its name and its public key.

    The same for its request, for each of its certificates and in every run.
    """
    return fingerprint(b"\0".join((b"lotor party", subject.uri.encode(), key)))


def subject_of(source: x509.Certificate | x509.CertificateSigningRequest) -> Subject:
    """The party that a certificate or request names; CertificateError if that is unclear."""
    try:
        names = source.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        raise CertificateError(
            f"it names no party (no {SCHEME}ROLE/NAME): it was not made by `lotor keys`"
        ) from None
    entries = list(names)
    if len(entries) != 1 or not isinstance(entries[0], x509.UniformResourceIdentifier):
        raise CertificateError(
            f"it must hold exactly one alternative name, {SCHEME}ROLE/NAME, and holds "
            f"{len(entries)}: it was not made by `lotor keys`"
        )
    try:
        subject = Subject.from_uri(entries[0].value)
    except InputError as error:
        raise CertificateError(f"it names no usable party: {error}") from None
    common = [name.value for name in source.subject.get_attributes_for_oid(NameOID.COMMON_NAME)]
    if common != [subject.name]:
        raise CertificateError(
            f"it contradicts itself: its common name is {common!r:.160} and its party is "
            f"{subject}: it was not made by `lotor keys`"
        )
    return subject
