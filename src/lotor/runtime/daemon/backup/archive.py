"""The file of a backup: a line that says what it is, a header in JSON, and encrypted chunks.

A random key of its own encrypts the chunks; the header has it wrapped under a passphrase or a key
file. Within the chunks are the files, one after the other, each with its name and its length. Names
are of a fixed list, so that whoever made the file cannot choose where something is written.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, Final

import msgspec

from lotor.core.errors import ConfigError, FormatError, IntegrityError
from lotor.core.unreadable import UNREADABLE
from lotor.core.version import VERSION
from lotor.crypto.chunks import open_chunks, seal_chunks
from lotor.crypto.prf import new_key
from lotor.crypto.wrapping import ScryptCost, StretchedSecret, WrappedKey
from lotor.runtime.daemon.credentials import Credential, CredentialKind
from lotor.runtime.daemon.kit import CERTIFICATE, KEY, REQUEST, REVOKED
from lotor.runtime.daemon.protection import PROTECTION

PARTY_TOML: Final = "party.toml"
KIT_FILES: Final = (PARTY_TOML, CERTIFICATE, KEY, PROTECTION, REQUEST, REVOKED)
JOURNAL: Final = "state/journal.db"
_STORED: Final = re.compile(r"state/store/[0-9a-f]{2,64}/[0-9a-f]{64}")
_MAGIC: Final = b"lotor backup 1\n"
_MOST_HEADER: Final = 64 * 1024
_MOST_HEAD: Final = 1024
READ_BYTES: Final = 1 << 20


class BackupHeader(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What can be read without the secret. `made` is in seconds since 1970."""

    subject: str
    made: float
    version: str
    kind: CredentialKind
    wrapped: WrappedKey
    key_file: str | None = None

    def __repr__(self) -> str:
        return f"<BackupHeader of {self.subject}, {self.kind}>"


class _FileHead(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    name: str
    size: int


def allowed(name: str) -> bool:
    """Whether a backup may hold a file of this name."""
    return name in KIT_FILES or name == JOURNAL or _STORED.fullmatch(name) is not None


class BackupWriter:
    """Writes the file of a backup; `add` what belongs in it, and then `write` it."""

    def __init__(
        self, subject: str, made: float, credential: Credential, cost: ScryptCost | None = None
    ) -> None:
        self._key = new_key()
        wrapped = StretchedSecret(credential.value, cost).wrap(
            self._key, _bound(subject, made, VERSION, credential.kind)
        )
        path = credential.key_file
        self._header = BackupHeader(
            subject, made, VERSION, credential.kind, wrapped, None if path is None else str(path)
        )

    def write(self, file: BinaryIO, contents: Iterable[tuple[str, int, Iterable[bytes]]]) -> None:
        """Write everything: the name, the length and the content of each file."""
        header = msgspec.json.encode(self._header)
        head = _MAGIC + len(header).to_bytes(4, "big") + header
        file.write(head)
        for chunk in seal_chunks(self._key, head, _joined(contents)):
            file.write(chunk)


def _joined(contents: Iterable[tuple[str, int, Iterable[bytes]]]) -> Iterator[bytes]:
    for name, size, pieces in contents:
        head = msgspec.json.encode(_FileHead(name, size))
        yield len(head).to_bytes(2, "big") + head
        left = size
        for piece in pieces:
            left -= len(piece)
            yield piece
        if left:
            raise ConfigError(f"{name} has changed while it was read: run the command again")


class BackupReader:
    """Reads the file of a backup. Nothing of it may be used before `files` has come to its end."""

    def __init__(self, path: Path, file: BinaryIO) -> None:
        self._path = path
        self._file = file
        start = file.read(len(_MAGIC) + 4)
        if not start.startswith(_MAGIC):
            raise FormatError(
                f"{path} is no backup, or one of another version of lotor: name the file that "
                "`lotor backup` has written"
            )
        length = int.from_bytes(start[len(_MAGIC) :], "big")
        header = file.read(min(length, _MOST_HEADER))
        self._head = start + header
        try:
            self.header = msgspec.json.decode(header, type=BackupHeader)
        except UNREADABLE:
            raise self._damaged() from None

    def unlock(self, credential: Credential) -> bytes:
        """The key of the chunks; ConfigError if the secret is not the right one."""
        told = self.header
        wrapped = told.wrapped
        secret = StretchedSecret(credential.value, wrapped.cost, wrapped.salt)
        try:
            return secret.unwrap(wrapped, _bound(told.subject, told.made, told.version, told.kind))
        except IntegrityError:
            word = "passphrase" if told.kind == "passphrase" else "key file"
            raise ConfigError(
                f"{credential.source} does not open {self._path}, and nothing was written: it is "
                f"not the {word} of this backup of {told.subject}, or the file was altered; try "
                f"again with the right {word}"
            ) from None

    def files(self, key: bytes) -> Iterator[tuple[str, Iterator[bytes]]]:
        """Each file with its content, which is to be read before the next one is asked for."""
        stream = _Stream(open_chunks(key, self._head, self._file.read))
        try:
            while (head := stream.head()) is not None:
                if not allowed(head.name):
                    raise FormatError(
                        f"{self._path} holds a file that belongs into no kit: it was not made by "
                        "`lotor backup`, and nothing was written"
                    )
                yield head.name, stream.pieces(head.size)
        except IntegrityError:
            raise self._damaged() from None

    def _damaged(self) -> IntegrityError:
        return IntegrityError(
            f"{self._path} is damaged: it was cut short or altered, and nothing was written; take "
            "another copy of it, or an older backup"
        )


class _Stream:
    """What comes in chunks, in pieces of other lengths."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._buffer = b""

    def _some(self, most: int) -> bytes:
        """At least one byte; none at the end."""
        while not self._buffer:
            chunk = next(self._chunks, None)
            if chunk is None:
                return b""
            self._buffer = chunk
        piece, self._buffer = self._buffer[:most], self._buffer[most:]
        return piece

    def pieces(self, size: int) -> Iterator[bytes]:
        while size > 0:
            piece = self._some(min(size, READ_BYTES))
            if not piece:
                raise IntegrityError("the data ends within a file")
            size -= len(piece)
            yield piece

    def head(self) -> _FileHead | None:
        """Of the next file; None after the last one."""
        first = self._some(1)
        if not first:
            return None
        length = int.from_bytes(first + b"".join(self.pieces(1)), "big")
        if length > _MOST_HEAD:
            raise IntegrityError("this is not the head of a file")
        try:
            return msgspec.json.decode(b"".join(self.pieces(length)), type=_FileHead)
        except UNREADABLE:
            raise IntegrityError("this is not the head of a file") from None


def _bound(subject: str, made: float, version: str, kind: CredentialKind) -> bytes:
    """What nobody can change without the secret; the place of a key file is free to move."""
    return msgspec.json.encode(["lotor backup 1", subject, made, version, kind])
