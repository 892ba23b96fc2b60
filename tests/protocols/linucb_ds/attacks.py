"""What somebody on the way of LinUCB-DS's messages can do to them."""

from collections.abc import Callable

import msgspec

from helpers import Outcome, run_openly
from lotor.core.effects import Message
from lotor.crypto.paillier import PrivateKey
from lotor.crypto.paillier.encoding import CIPHERTEXT, FINGERPRINT_BYTES, Record
from lotor.protocols.linucb_ds.paper import messages
from lotor.protocols.party import Party
from mallory import Change, Mallory
from protocols.linucb_ds.stage import small, some_arms

ARMS, BUDGET = some_arms(1, k=9, d=2), 6


def attack(
    kind: type[Message],
    change: Change,
    *,
    after: int = 0,
    wrap: Callable[[str, Party], Party] = lambda _, party: party,
) -> Outcome:
    transport = Mallory(kind, change, after)
    return run_openly(small(), ARMS, budget=BUDGET, seed=1, transport=transport, wrap=wrap)


def replaced(**fields: object) -> Change:
    return lambda message, _: msgspec.structs.replace(message, **fields)


def flip(field: str, position: int = 40) -> Change:
    def change(message: Message, _: object) -> Message:
        data = bytearray(getattr(message, field))
        data[position] ^= 1
        return msgspec.structs.replace(message, **{field: bytes(data)})

    return change


def cut(message: Message, _: object) -> bytes:
    return msgspec.msgpack.encode(message)[:-1]


def another_kind(message: Message, _: object) -> Message:
    return (
        messages.LinUCBShape(3)
        if type(message) is not messages.LinUCBShape
        else messages.SwitchedSum(b"")
    )


def previous(message: Message, passed: dict[type, list[Message]]) -> Message:
    return passed[type(message)][0]


def number(value: int, key: PrivateKey) -> bytes:
    """Any number in the form of a ciphertext."""
    return Record(CIPHERTEXT, key.public.bits, key.public.fingerprint, (value,)).to_bytes()


def packed(change: Callable[[bytes], bytes]) -> Change:
    """Change the numbers of a packed message, whatever its fingerprint."""

    def alter(message: Message, _: object) -> Message:
        assert isinstance(message, messages.PackedScores)
        head, body = message.packed[:FINGERPRINT_BYTES], message.packed[FINGERPRINT_BYTES:]
        return msgspec.structs.replace(message, packed=head + change(body))

    return alter
