"""How a journal's database is opened, plain or encrypted: its settings stand here and nowhere else.

An encrypted journal is a file of SQLCipher: every page, also in the log beside it, is under
AES-256 and HMAC-SHA512 with keys that come from the journal's own.
"""

import sqlite3
import sys
from pathlib import Path
from typing import cast
from urllib.parse import quote

from lotor.core.errors import ConfigError, InputError, JournalError

KEY_BYTES = 32
BUSY_SECONDS = 30
PAGE_BYTES = 4096
# Every build of SQLCipher may have other defaults for its ciphers and its pages.
CIPHER_FORMAT = "cipher_compatibility = 4"
_PLAIN = b"SQLite format 3\0"
# What is deleted is overwritten, however SQLite was built, and what SQLite puts aside while it
# rewrites the file stays in memory.
_SETTINGS = ("secure_delete = ON", "temp_store = MEMORY")


def errors(*others: type[Exception]) -> tuple[type[Exception], ...]:
    """The errors of both drivers, and others; to be called where one was raised.

    (One of the drivers is loaded on demand.)
    """
    cipher = sys.modules.get("sqlcipher3.dbapi2")
    drivers = (sqlite3.Error,) if cipher is None else (sqlite3.Error, cipher.Error)
    return (*drivers, *others)


def connect(path: Path, key: bytes | None = None) -> sqlite3.Connection:
    """A journal to write to. Nothing is written before the caller does."""
    database = open_uri(f"file:{quote(str(path))}", key)
    for setting in _SETTINGS:
        database.execute(f"PRAGMA {setting}")
    return database


def open_read_only(path: Path, key: bytes | None = None) -> sqlite3.Connection:
    """A journal to read from; opening it does not make a log file."""
    kept = path.with_name(f"{path.name}-wal").exists()
    how = "mode=ro" if kept else "mode=ro&immutable=1"
    return open_uri(f"file:{quote(str(path))}?{how}", key)


def open_uri(uri: str, key: bytes | None, timeout: float = BUSY_SECONDS) -> sqlite3.Connection:
    """A wrong key is noticed only when something is read."""
    if key is None:
        return sqlite3.connect(uri, uri=True, isolation_level=None, timeout=timeout)
    return open_cipher(uri, key, timeout)


def open_cipher(uri: str, key: bytes | None, timeout: float = BUSY_SECONDS) -> sqlite3.Connection:
    """The same with SQLCipher, which also opens plain files."""
    try:
        from sqlcipher3 import dbapi2  # noqa: PLC0415
    except ImportError as error:
        raise ConfigError(
            "a protected journal needs SQLCipher, which is not installed: run pip install "
            "'lotor[protect]'"
        ) from error
    database = dbapi2.connect(uri, uri=True, isolation_level=None, timeout=timeout)
    # It would write to stderr whatever it finds odd, a wrong key included.
    database.execute("PRAGMA cipher_log_level = NONE")
    if key is not None:
        database.execute(f"PRAGMA key = {key_literal(key)}")
        database.execute(f"PRAGMA {CIPHER_FORMAT}")
    return cast("sqlite3.Connection", database)


def key_literal(key: bytes | None) -> str:
    """A key as SQLCipher takes it: as it is, with no passphrase to derive it from."""
    if key is None:
        return "''"
    if len(key) != KEY_BYTES:
        raise InputError(f"a journal's key has {KEY_BYTES} bytes, not {len(key)}")
    return f"\"x'{key.hex()}'\""


def check_protection(path: Path, key: bytes | None) -> None:
    """Refuse a protected file for which there is no key, and a plain one where there is one."""
    size = path.stat().st_size if path.exists() else 0
    if not size:
        return
    with path.open("rb") as file:
        plain = file.read(len(_PLAIN)) == _PLAIN
    if plain and key is not None:
        raise JournalError(
            f"{path} is not protected, but its kit is, and nothing was changed: another file was "
            "put in its place, or `state` in party.toml named another folder when the kit was "
            "protected; put back the right file, or name that folder again"
        )
    # What has no whole number of pages is not SQLCipher's, but damaged.
    if not plain and key is None and size % PAGE_BYTES == 0:
        raise JournalError(
            f"{path} is protected, but its kit is not, and nothing was changed: it comes from a "
            "protected kit, or protection.json was lost, or it is damaged; put back the newest "
            "copy of all of them"
        )


def unreadable(path: Path, key: bytes | None, how: str) -> JournalError:
    """Why nothing can be read from a journal."""
    if key is not None and "not a database" in how:
        return JournalError(
            f"{path} does not open with this key: it was protected under another one, belongs to "
            "another kit, or is damaged. Use the passphrase or the key file that it was protected "
            "with, or put back the newest copy of its folder; nothing was changed"
        )
    return JournalError(
        f"{path} is damaged ({how}): put back the newest copy of its folder; peers refuse one that "
        "is too old"
    )
