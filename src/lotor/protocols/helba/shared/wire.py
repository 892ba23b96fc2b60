"""How long values are cut into messages, and checks of what arrives."""

from collections.abc import Callable, Iterator
from struct import Struct
from typing import Final

import numpy as np

from lotor.core.effects import Receive, Send, Steps
from lotor.core.errors import ProtocolError
from lotor.crypto.residues import Modulus, Residues
from lotor.protocols.garbled.messages import PlacedGarbledMessage
from lotor.protocols.garbled.schedule import PART_BYTES
from lotor.protocols.garbled.wire import batch_place, expect

SEALING_KEY: Final = "sealing key"
USERS_KEYS: Final = "users' keys"

_PLACE = Struct(">Q")
_WORD = np.dtype("<u8")


def round_place(t: int) -> bytes:
    return _PLACE.pack(t)


def send_parts(
    to: str, kind: Callable[[bytes, bytes], PlacedGarbledMessage], t: int, data: bytes
) -> Steps[None]:
    """Send what belongs to round t, cut into messages."""
    for part, here in enumerate(_parts(len(data))):
        yield Send(to, kind(batch_place(t, part), data[here]))


def receive_parts(sender: str, kind: type[PlacedGarbledMessage], t: int, size: int) -> Steps[bytes]:
    """All parts of so many bytes, which belong to round t."""
    (_, field), parts = kind.__struct_fields__, []
    for part, here in enumerate(_parts(size)):
        message = yield Receive(sender, kind)
        expect(message, batch_place(t, part), sender, **{field: here.stop - here.start})
        parts.append(getattr(message, field))
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _parts(size: int) -> Iterator[slice]:
    starts = range(0, max(size, 1), PART_BYTES)
    return (slice(start, min(start + PART_BYTES, size)) for start in starts)


def to_words(residues: Residues) -> bytes:
    return residues.astype(_WORD).tobytes()


def from_words(data: bytes, modulus: Modulus, sender: str) -> Residues:
    """Numbers modulo P, (numbers, primes), from words of a length that was checked."""
    residues = np.frombuffer(data, _WORD).astype(np.uint64).reshape(-1, modulus.count)
    if not modulus.contains(residues):
        raise ProtocolError(
            f"{sender} sent words that are no residues of this run's primes: they were altered, or "
            "it runs another version; start a new run"
        )
    return residues


def check_digest(found: bytes, expected: bytes, sender: str) -> None:
    """Refuse a party that keeps other terms, before it is given anything."""
    if found != expected:
        raise ProtocolError(
            f"{sender} keeps other terms than this party: they were told different things; start "
            "a new run"
        )


def products_of(run: str) -> str:
    """The name under which the base transfers of products are made: others than those of labels."""
    return f"{run} products"
