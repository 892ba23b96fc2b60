"""The first words on a connection: a Hello from each side, or a Refusal that says why not."""

import unicodedata
from typing import Annotated

import msgspec

from lotor.core import errors
from lotor.core.errors import ConfigError, LotorError, ProtocolError, TransportError, VersionError

MAX_CARD = 64 * 1024
MAX_TEXT = 1_000
# A Hello with the largest card is about 90 kB; nothing longer is read before it.
MAX_GREETING = 128 * 1024


class Hello(msgspec.Struct, frozen=True, array_like=True, tag="hello"):
    """The sender's versions, the time on its clock, and a card for the layer above."""

    wire: int
    journal: int
    version: Annotated[str, msgspec.Meta(max_length=64)]
    clock: float
    card: Annotated[bytes, msgspec.Meta(max_length=MAX_CARD)] = b""


class Refusal(msgspec.Struct, frozen=True, array_like=True, tag="refusal"):
    """Why the sender closes the connection; `code` is the name of a Lotor error."""

    code: Annotated[str, msgspec.Meta(max_length=64)]
    text: str


class _AnyHello(msgspec.Struct, frozen=True, array_like=True, tag="hello"):
    """The part of a Hello that no version may change."""

    wire: int


_greetings: msgspec.json.Decoder[Hello | Refusal] = msgspec.json.Decoder(Hello | Refusal)
_any_hello = msgspec.json.Decoder(_AnyHello)
_encode = msgspec.json.Encoder().encode


def plain_text(text: str, limit: int = MAX_TEXT) -> str:
    """Text from outside, made safe to print: one line, no control characters, not too long."""
    printable = (" " if unicodedata.category(c)[0] in "CZ" else c for c in text[:limit])
    return "".join(printable).strip()


def encode_hello(hello: Hello) -> bytes:
    if len(hello.card) > MAX_CARD:
        raise ConfigError(
            f"the card of this party's Hello has {len(hello.card)} bytes, but at most "
            f"{MAX_CARD} are allowed: put less into it"
        )
    return _encode(hello)


def encode_refusal(error: LotorError) -> bytes:
    return _encode(Refusal(type(error).__name__, plain_text(str(error))))


_ERRORS: dict[str, type[LotorError]] = {
    name: kind
    for name, kind in vars(errors).items()
    if isinstance(kind, type) and issubclass(kind, LotorError)
}
# msgspec gives up on very deep nesting with a RecursionError.
_UNREADABLE = (msgspec.DecodeError, ValueError, RecursionError)


def decode_greeting(data: bytes, who: str, wire: int) -> Hello | Refusal:
    """A Hello or Refusal from `who`, where this party speaks `wire`.

    A Hello of an unknown shape still tells its version, as long as that is another one.
    """
    try:
        return _greetings.decode(data)
    except _UNREADABLE:
        pass
    try:
        theirs = _any_hello.decode(data).wire
    except _UNREADABLE:
        theirs = wire
    if theirs == wire:
        raise ProtocolError(
            f"{who} sent something that is neither Hello nor Refusal: it may run another "
            "program, or a damaged installation of Lotor"
        )
    return Hello(theirs, 0, "", 0.0)


def refused(refusal: Refusal, who: str) -> LotorError:
    """The error that a Refusal of `who` stands for."""
    kind = _ERRORS.get(refusal.code, TransportError)
    return kind(f"{who} refused the connection: {plain_text(refusal.text)}")


def check_wire(me: str, mine: Hello, peer: str, theirs: Hello) -> None:
    """Raise, with the same words on both sides, unless both speak one wire version."""
    if mine.wire == theirs.wire:
        return
    old, new = sorted(((mine, me), (theirs, peer)), key=lambda side: side[0].wire)
    release = plain_text(new[0].version) or f"with wire version {new[0].wire}"
    raise VersionError(
        f"{new[1]} speaks wire version {new[0].wire}, but {old[1]} speaks {old[0].wire} "
        f"(Lotor {plain_text(old[0].version) or 'of unknown version'}): "
        f"install Lotor {release} at {old[1]} and start it again"
    )
