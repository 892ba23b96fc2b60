"""Places of what is exchanged, and checks of what arrives."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from struct import Struct
from typing import Protocol

from lotor.core.errors import CryptoError, ProtocolError
from lotor.crypto.prf import KEY_BYTES

_BATCH = Struct(">QH")
_ERA_SHIFT = 48
# Places of each kind have a length of their own.
_NAMES = (
    (_BATCH, "batch {}, part {}"),
    (Struct(">QB"), "round {}, iteration {}"),
    (Struct(">Q"), "round {}"),
)


class HasPlace(Protocol):
    """A message that belongs to one place."""

    @property
    def place(self) -> bytes: ...


def batch_place(number: int, part: int = 0, era: int = 0) -> bytes:
    """A part of what belongs to a batch."""
    return _BATCH.pack(in_era(number, era), part)


def in_era(number: int, era: int) -> int:
    """The number of a batch or a round, as places have it, in an era that began within the run.

    What is garbled anew after some parties have left has places of its own.
    """
    return era << _ERA_SHIFT | number


def expect(message: HasPlace, place: bytes, sender: str, **sizes: int) -> None:
    """Refuse a message of another place, or whose fields have other sizes."""
    found = {field: len(getattr(message, field)) for field in sizes}
    if message.place != place or found != sizes:
        raise ProtocolError(
            f"{sender} sent {type(message).__name__} of {_in_words(found)} for "
            f"{place_name(message.place)}, but {_in_words(sizes)} for {place_name(place)} are due: "
            f"{sender} is out of step or runs another version; start a new run"
        )


def _in_words(sizes: Mapping[str, int]) -> str:
    return " and ".join(f"{size} bytes" for size in sizes.values()) or "any size"


def place_name(place: bytes) -> str:
    """For error messages: a batch, or a turn as (round, iteration) or round."""
    for kind, text in _NAMES:
        if len(place) == kind.size:
            number, *rest = kind.unpack(place)
            era, number = divmod(number, 1 << _ERA_SHIFT)
            return text.format(number, *rest) + (f" of era {era}" if era else "")
    return "no place at all"


def key_from(key: bytes, sender: str) -> bytes:
    """A key of the right length."""
    if len(key) != KEY_BYTES:
        raise ProtocolError(
            f"{sender} sent a key of {len(key)} bytes, not {KEY_BYTES}: its message was altered, "
            "or it runs another version; start a new run"
        )
    return key


@contextmanager
def received_from(sender: str) -> Iterator[None]:
    """Let errors about keys, ciphertexts, labels and products name who sent them."""
    try:
        yield
    except CryptoError as error:
        raise ProtocolError(
            f"{sender} sent something that cannot be used: {error}; start a new run"
        ) from None
