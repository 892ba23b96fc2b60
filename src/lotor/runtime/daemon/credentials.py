"""Where the secret of a protected folder comes from: a credential file, a key file or a person.

It is never an argument and never the value of a variable: both can be read by other users.
"""

import getpass
import os
import sys
import unicodedata
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias

from lotor.core.errors import ConfigError
from lotor.crypto.prf import new_key
from lotor.runtime.daemon.key_files import naming, read_private, write_new

VARIABLE = "LOTOR_CREDENTIAL_FILE"
# Set by systemd for a service with LoadCredential= or SetCredentialEncrypted=.
SERVICE_VARIABLE, SERVICE_NAME = "CREDENTIALS_DIRECTORY", "lotor"
LEAST_KEY_BYTES = 32
LEAST_CHARACTERS = 12
MOST_BYTES = 1 << 20
MISNAMED = "put it back, for instance from the medium that it is kept on, or correct its name"
# Its name is the one by which the folder was protected, and nobody has typed it now.
MOVED = (
    f"put it back, for instance from the medium that it is kept on, or let {VARIABLE} name the "
    "file where it is now; if it is lost, nothing can open what it protects (docs/keys.md)"
)
# A credential file holds the old secret while a new one takes its place.
ELSEWHERE = (
    "run the command at a terminal, or let it make a key file instead (--new-key-file FILE); "
    "nothing was changed"
)

CredentialKind: TypeAlias = Literal["passphrase", "key-file"]


@dataclass(frozen=True, slots=True)
class Credential:
    """A secret that opens a folder. `source` is how errors name it."""

    kind: CredentialKind
    value: bytes = field(repr=False)
    source: str
    key_file: Path | None = None


def find_credential(kind: CredentialKind, owner: str, key_file: Path | None) -> Credential:
    """The secret of `owner`: from the first place that has one, else from who sits here."""
    named = _from_environment(kind)
    if named is not None:
        return named
    if kind == "key-file":
        if key_file is None:
            raise ConfigError(f"the key file of {owner} is not known here: {_where()}")
        return read_key_file(key_file, MOVED)
    typed = ask(f"Passphrase of {owner}: ", f"the passphrase of {owner}", _where())
    return Credential(kind, _encoded(typed), "what was typed")


def new_passphrase(owner: str, *, from_file: bool = True) -> Credential:
    """A passphrase for `owner`: that of the credential file, else one that is typed twice."""
    found = _from_environment("passphrase") if from_file else None
    if found is None:
        needed, where = f"a new passphrase for {owner}", _where() if from_file else ELSEWHERE
        typed = ask(f"New passphrase for {owner}: ", needed, where)
        if ask("The same again: ", needed, where) != typed:
            raise ConfigError("the two passphrases differ, and nothing was changed: try again")
        found = Credential("passphrase", _encoded(typed), "what was typed")
    if len(found.value.decode()) < LEAST_CHARACTERS:
        raise ConfigError(
            f"{found.source} is too short for a passphrase, and nothing was changed: take at "
            f"least {LEAST_CHARACTERS} characters, for instance five words drawn by chance"
        )
    return found


def read_key_file(path: Path, missing: str = MISNAMED) -> Credential:
    """A key file that somebody made; nobody can check how it was drawn, only that it is long."""
    source = f"the key file {path}"
    return _from_file("key-file", path, source, key_file=path.absolute(), missing=missing)


def make_key_file(path: Path) -> Credential:
    """A new key file, from the operating system."""
    with naming(path):
        if path.exists():
            raise ConfigError(
                f"{path} exists already, and no key file is overwritten: use it by --key-file, or "
                "name another file"
            )
    key = new_key()
    write_new(path, key)
    return Credential("key-file", key, f"the key file {path}", path.absolute())


def ask(prompt: str, needed: str, where: str) -> str:
    """What a person types, unseen; ConfigError if nobody sits here, which says `where` to go on."""
    if not sys.stdin.isatty():
        raise ConfigError(f"{needed} is needed, and there is no terminal to ask at: {where}")
    with warnings.catch_warnings():
        warnings.simplefilter("error", getpass.GetPassWarning)
        try:
            return getpass.getpass(prompt, stream=sys.stderr)
        except getpass.GetPassWarning:
            raise ConfigError(
                f"this terminal would show what is typed, so nothing was asked: {where}"
            ) from None
        except EOFError:
            raise ConfigError(
                "no passphrase was typed, and nothing was changed: try again"
            ) from None


def credential_file() -> tuple[Path, str] | None:
    """The file that the environment names, and by what."""
    if named := os.environ.get(VARIABLE):
        return Path(named), VARIABLE
    if folder := os.environ.get(SERVICE_VARIABLE):
        path = Path(folder) / SERVICE_NAME
        with naming(path):
            if path.exists():
                return path, "a credential of the service"
    return None


def _from_environment(kind: CredentialKind) -> Credential | None:
    found = credential_file()
    if found is None:
        return None
    path, named = found
    try:
        return _from_file(kind, path, f"the content of {path} ({named})")
    except ConfigError as error:
        raise ConfigError(f"{named}: {error}") from None


def _from_file(
    kind: CredentialKind,
    path: Path,
    source: str,
    *,
    key_file: Path | None = None,
    missing: str = MISNAMED,
) -> Credential:
    data = _read(path, missing)
    if kind == "passphrase":
        data = _encoded(_text(data, path))
    elif len(data) < LEAST_KEY_BYTES:
        raise ConfigError(
            f"{path} has {len(data)} bytes, and a key file has at least {LEAST_KEY_BYTES}: name "
            "the right file, or make one with `lotor keys protect --new-key-file FILE`"
        )
    return Credential(kind, data, source, key_file)


def _read(path: Path, missing: str) -> bytes:
    # What systemd hands to a service belongs to root and is readable for a group; systemd itself
    # sees to it that nobody else comes into its folder.
    guarded = os.environ.get(SERVICE_VARIABLE) == str(path.parent)
    data = read_private(path, missing, what="a secret", guarded=guarded)
    if len(data) > MOST_BYTES:
        raise ConfigError(f"{path} is too long for a passphrase or a key file: name another file")
    return data


def _text(data: bytes, path: Path) -> str:
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise ConfigError(
            f"{path} should hold a passphrase, and is no text in UTF-8: name the right file"
        ) from None
    # Editors end a file with a newline that nobody means.
    return text[:-2] if text.endswith("\r\n") else text.removesuffix("\n")


def _encoded(text: str) -> bytes:
    # One keyboard writes é as a letter, another one as e and an accent.
    try:
        return unicodedata.normalize("NFC", text).encode()
    except UnicodeEncodeError:  # its own text would show a character
        raise ConfigError(
            "what was typed is no text in UTF-8, and nothing was changed: let the terminal send "
            "UTF-8, or put the passphrase in a file"
        ) from None


def _where() -> str:
    return (
        f"let {VARIABLE} name a file that holds the secret and that only you can read, or start "
        f"the service with the credential `{SERVICE_NAME}` (docs/keys.md), or run the command at "
        "a terminal"
    )
