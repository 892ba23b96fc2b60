"""What the local interface answers a request with, and how it refuses one."""

from dataclasses import dataclass
from typing import Final

import msgspec

JSON: Final = "application/json"
TEXT: Final = "text/plain; charset=utf-8"

# Each kind of refusal, in words for the log.
KINDS: Final = {
    "crowd": "too many connections are open",
    "failed": "it could not be answered",
    "host": "it is for another host than this machine",
    "http": "it is not HTTP as it should be",
    "input": "what it asks for cannot be done",
    "method": "its path takes another method",
    "origin": "it comes from a page of another origin",
    "size": "it is too large",
    "slow": "it takes too long",
    "token": "it shows no token, or a wrong one",
    "unknown": "it is about a run or a path that does not exist",
}


@dataclass(frozen=True, slots=True)
class LocalAnswer:
    """One answer, as it goes out."""

    status: int
    body: bytes
    content_type: str = JSON
    headers: tuple[tuple[str, str], ...] = ()


class LocalRefusedError(Exception):
    """A request that changes nothing; `kind` is one of `KINDS`."""

    def __init__(
        self, status: int, kind: str, text: str, headers: tuple[tuple[str, str], ...] = ()
    ) -> None:
        super().__init__(text)
        self.status = status
        self.kind = kind
        self.headers = headers

    @property
    def answer(self) -> LocalAnswer:
        return LocalAnswer(self.status, to_json({"error": str(self)}), headers=self.headers)


def to_json(document: object) -> bytes:
    return msgspec.json.encode(document)
