"""Which request stands for which operation: the whole HTTP interface as a table."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

import msgspec

from lotor.core.unreadable import UNREADABLE
from lotor.runtime.daemon.local.answers import LocalRefusedError
from lotor.runtime.daemon.local.interface import (
    Excluding,
    GivingBack,
    LocalInput,
    LocalInterface,
    PruningWanted,
    Reason,
    Resolution,
    RoundsWanted,
    Taking,
    Telling,
    TellingMany,
)


@dataclass(frozen=True, slots=True)
class Route:
    """A method and a path for an operation.

    The operation is given what stands in the place of words in braces, and then what the body says,
    if it takes anything.
    """

    method: str
    path: str
    operation: Callable[..., object]
    takes: type[LocalInput] | None = None

    def words(self, path: str) -> list[str] | None:
        """What a path has in the place of words in braces; None if it is another path."""
        parts, own = path.split("/"), self.path.split("/")
        if len(parts) != len(own):
            return None
        found = []
        for part, word in zip(parts, own, strict=True):
            if word.startswith("{") and part:
                found.append(part)
            elif part != word:
                return None
        return found


ROUTES: Final = (
    Route("GET", "/v1/runs", LocalInterface.runs),
    Route("POST", "/v1/runs/prune", LocalInterface.prune, PruningWanted),
    Route("GET", "/v1/runs/{run}", LocalInterface.run),
    Route("POST", "/v1/runs/{run}/approve", LocalInterface.approve),
    Route("POST", "/v1/runs/{run}/refuse", LocalInterface.refuse, Reason),
    Route("POST", "/v1/runs/{run}/stop", LocalInterface.stop, Reason),
    Route("POST", "/v1/runs/{run}/resolve", LocalInterface.resolve, Resolution),
    Route("POST", "/v1/runs/{run}/next", LocalInterface.next, RoundsWanted),
    Route("POST", "/v1/runs/{run}/pause", LocalInterface.pause),
    Route("POST", "/v1/runs/{run}/resume", LocalInterface.resume),
    Route("POST", "/v1/runs/{run}/exclude", LocalInterface.exclude, Excluding),
    Route("GET", "/v1/decisions", LocalInterface.decisions),
    Route("GET", "/v1/runs/{run}/decisions", LocalInterface.decisions),
    Route("POST", "/v1/decisions/take", LocalInterface.take, Taking),
    Route("POST", "/v1/decisions/give-back", LocalInterface.give_back, GivingBack),
    Route("POST", "/v1/rewards", LocalInterface.tell, Telling),
    Route("POST", "/v1/rewards/many", LocalInterface.tell_many, TellingMany),
)


@dataclass(frozen=True, slots=True)
class LocalCall:
    """A request whose route is known."""

    route: Route
    words: tuple[str, ...]

    def arguments(self, body: bytes) -> list[object]:
        """What the operation is given; a refusal says what is wrong with the body."""
        takes = self.route.takes
        if takes is None:
            if body:
                raise _bad_body("this request takes none: leave it out")
            return list(self.words)
        try:
            return [*self.words, msgspec.json.decode(body or b"{}", type=takes)]
        except msgspec.ValidationError as error:
            allowed = ", ".join(takes.__struct_fields__)
            raise _bad_body(f"{error}; its fields are {allowed}") from None
        except UNREADABLE:
            raise _bad_body("it is not JSON: send an object such as {}") from None


def routed(method: str, target: str) -> LocalCall:
    """The call that a request stands for, or a refusal."""
    path, query, _ = target.partition("?")
    allowed = []
    for route, words in _fitting(path):
        if route.method == method and query:
            raise LocalRefusedError(400, "input", "this request takes no query: leave out the '?'")
        if route.method == method:
            return LocalCall(route, tuple(words))
        allowed.append(route.method)
    raise not_allowed(*allowed) if allowed else unknown_path()


def _fitting(path: str) -> Iterator[tuple[Route, list[str]]]:
    for route in ROUTES:
        words = route.words(path)
        if words is not None:
            yield route, words


def not_allowed(*methods: str) -> LocalRefusedError:
    allow = ", ".join(methods)
    return LocalRefusedError(405, "method", f"this path takes {allow} only", (("Allow", allow),))


def unknown_path() -> LocalRefusedError:
    return LocalRefusedError(404, "unknown", "there is no such path: docs/local.md lists them all")


def _bad_body(why: str) -> LocalRefusedError:
    return LocalRefusedError(400, "input", f"the body of the request cannot be used: {why}")
