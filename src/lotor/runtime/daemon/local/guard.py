"""Who may ask: programs of this machine that show the token, and no page of a browser."""

import hmac
import re
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from lotor.core.errors import ConfigError
from lotor.runtime.daemon.key_files import read_private, write_new
from lotor.runtime.daemon.local.answers import LocalRefusedError
from lotor.runtime.daemon.local.link import LocalRequest

TOKEN_FILE: Final = "local.token"  # noqa: S105
TOKEN_BYTES: Final = 32
HOSTS: Final = ("127.0.0.1", "localhost", "[::1]")
_TOKEN = re.compile(rb"[A-Za-z0-9_-]{43}\n?")
_NO_TOKEN = "`lotor serve` makes one when it starts"  # noqa: S105


def made_token(state: Path) -> bytes:
    """The token of a party; it is made when there is none yet."""
    path = state / TOKEN_FILE
    if not path.exists():
        write_new(path, f"{secrets.token_urlsafe(TOKEN_BYTES)}\n".encode())
    return read_token(state)


def read_token(state: Path) -> bytes:
    """The token of a party; no error shows any of it."""
    path = state / TOKEN_FILE
    token = read_private(path, _NO_TOKEN, what="the token of the local interface")
    if not _TOKEN.fullmatch(token):
        raise ConfigError(
            f"{path} is not a token that Lotor has made: remove it, and start the party again, "
            "which makes a new one"
        )
    return token.strip()


@dataclass(frozen=True, slots=True)
class Guard:
    """Refuses whoever asks from another place, by another name, or without the token."""

    port: int
    token: bytes

    def __repr__(self) -> str:
        return f"<Guard of port {self.port}>"

    def check_place(self, request: LocalRequest) -> None:
        """Refuse a page of another site, also one that has bent its own name to this machine."""
        names = [f"{host}:{self.port}" for host in HOSTS]
        if not _all_among(request.header("host"), names, least=1):
            raise LocalRefusedError(
                403, "host", f"the Host of a request must be one of {', '.join(names)}"
            )
        if not _all_among(request.header("origin"), [f"http://{name}" for name in names]):
            raise LocalRefusedError(
                403, "origin", "no page of another origin may use this interface"
            )

    def check_token(self, request: LocalRequest) -> None:
        shown = request.header("authorization")
        scheme, _, token = shown[0].partition(b" ") if len(shown) == 1 else (b"", b"", b"")
        fits = hmac.compare_digest(token.strip(), self.token)
        if not (fits and scheme.lower() == b"bearer"):
            raise LocalRefusedError(
                401,
                "token",
                f"send the header 'Authorization: Bearer TOKEN': the token is in {TOKEN_FILE} in "
                "the party's state folder",
                (("WWW-Authenticate", "Bearer"),),
            )


def _all_among(values: Iterable[bytes], names: Iterable[str], least: int = 0) -> bool:
    allowed = {name.encode() for name in names}
    found = [value.lower() for value in values]
    return len(found) >= least and all(value in allowed for value in found)
