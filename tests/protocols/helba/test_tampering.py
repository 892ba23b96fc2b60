"""Altered, exchanged, cut and foreign messages are refused by name, and nothing goes on."""

from collections.abc import Callable

import msgspec
import pytest

import lotor
from helpers import run_openly
from lotor.core.effects import Message
from lotor.core.errors import LotorError
from lotor.protocols.helba.paper import messages
from mallory import Mallory
from protocols.helba.stage import small

TOY = lotor.LinearContexts.toy(3, seed=5)
HELBA = small(stages=2)


def flipped(data: bytes) -> bytes:
    place = len(data) // 2
    return data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]


def cut(data: bytes) -> bytes:
    return data[:-1]


def nothing(data: bytes) -> bytes:
    return b""


FIELDS = [
    (messages.SealingKeyOffer, "digest"),
    (messages.SealingKeyOffer, "public"),
    (messages.SealingKeyOffer, "signature"),
    (messages.ServerKeys, "digest"),
    (messages.KeyPart, "place"),
    (messages.KeyPart, "data"),
    (messages.SealedSecretKey, "signature"),
    (messages.SealedKeyPart, "place"),
    (messages.SealedKeyPart, "data"),
    (messages.Contexts, "place"),
    (messages.Contexts, "data"),
    (messages.EncryptedChoice, "place"),
    (messages.EncryptedChoice, "ciphertext"),
    (messages.Update, "place"),
    (messages.Update, "data"),
    (messages.Taken, "place"),
]
NUMBERS = [
    (messages.ServerKeys, "public", "authority sent keys of another length"),
    (messages.ServerKeys, "evaluation", "authority sent keys of another length"),
    (messages.KeyPart, "index", "where number 0 of 1 is due"),
    (messages.SealedKeyPart, "index", "where number 0 of 1 is due"),
    (messages.Contexts, "index", "user sent Contexts number 1 where number 0 of 2 is due"),
    (messages.Update, "index", "user sent Update number 1 where number 0 of 2 is due"),
    (messages.Taken, "count", "server took other parts of Update than the first 2"),
]
SIZES = [
    (messages.ServerKeys, "public"),
    (messages.ServerKeys, "evaluation"),
    (messages.SealedSecretKey, "size"),
]


@pytest.mark.parametrize("change", [flipped, cut, nothing])
@pytest.mark.parametrize(("kind", "field"), FIELDS)
def test_altered_fields(kind: type[Message], field: str, change: Callable[[bytes], bytes]) -> None:
    def altered(message: Message, _: dict[type, list[Message]]) -> Message:
        return msgspec.structs.replace(message, **{field: change(getattr(message, field))})

    with pytest.raises(LotorError, match=r"user|authority|server"):
        run_openly(HELBA, TOY, budget=3, transport=Mallory(kind, altered, after=0))


@pytest.mark.parametrize(("kind", "field", "match"), NUMBERS)
def test_altered_numbers(kind: type[Message], field: str, match: str) -> None:
    def altered(message: Message, _: object) -> Message:
        return msgspec.structs.replace(message, **{field: getattr(message, field) + 1})

    with pytest.raises(LotorError, match=match):
        run_openly(HELBA, TOY, budget=3, transport=Mallory(kind, altered, after=0))


@pytest.mark.parametrize("size", [0, -1, 1 << 40])
@pytest.mark.parametrize(("kind", "field"), SIZES)
def test_impossible_sizes(kind: type[Message], field: str, size: int) -> None:
    """Nobody waits for more than there can be."""

    def altered(message: Message, _: object) -> Message:
        return msgspec.structs.replace(message, **{field: size})

    with pytest.raises(LotorError, match=f"authority announced .* of {size} bytes"):
        run_openly(HELBA, TOY, budget=3, transport=Mallory(kind, altered, after=0))


@pytest.mark.parametrize(
    ("kind", "after"), [(messages.Contexts, 2), (messages.EncryptedChoice, 1), (messages.Update, 2)]
)
def test_an_earlier_message_again(kind: type[Message], after: int) -> None:
    def earlier(_: Message, passed: dict[type, list[Message]]) -> Message:
        return passed[kind][0]

    with pytest.raises(LotorError, match="another round"):
        run_openly(HELBA, TOY, budget=3, transport=Mallory(kind, earlier, after=after))


@pytest.mark.parametrize("kind", [messages.KeyPart, messages.Contexts, messages.Update])
def test_parts_that_are_too_long(kind: type[Message]) -> None:
    def longer(message: Message, _: object) -> Message:
        return msgspec.structs.replace(message, data=bytes((8 << 20) + 1))

    with pytest.raises(LotorError, match=r"(user|authority) sent .* bytes where \d+ are the most"):
        run_openly(HELBA, TOY, budget=3, transport=Mallory(kind, longer, after=0))


@pytest.mark.parametrize("kind", [messages.Contexts, messages.Update])
def test_a_part_twice(kind: type[Message]) -> None:
    def again(_: Message, passed: dict[type, list[Message]]) -> Message:
        return passed[kind][0]

    with pytest.raises(LotorError, match="number 0 where number 1 of 2 is due"):
        run_openly(HELBA, TOY, budget=3, transport=Mallory(kind, again, after=1))


def test_contexts_in_the_place_of_an_update() -> None:
    """Under the right key, but of another level."""
    found: list[bytes] = []

    class Swapping(Mallory):
        def send(self, sender: str, to: str, payload: bytes) -> None:
            if msgspec.msgpack.decode(payload)[0] == messages.WIRE + "contexts":
                found.append(msgspec.msgpack.decode(payload, type=messages.Contexts).data)
            super().send(sender, to, payload)

    def swapped(message: Message, _: object) -> Message:
        return msgspec.structs.replace(message, data=found[0])

    with pytest.raises(LotorError, match="another level or scale than round 1 needs"):
        run_openly(HELBA, TOY, budget=3, transport=Swapping(messages.Update, swapped, after=0))


def test_a_choice_under_another_key() -> None:
    found: list[Message] = []

    def kept(message: Message, _: object) -> Message:
        found.append(message)
        return message

    def foreign(_: Message, __: object) -> Message:
        return found[0]

    run_openly(HELBA, TOY, budget=1, transport=Mallory(messages.EncryptedChoice, kept, after=0))
    with pytest.raises(
        LotorError, match="server sent something else than a ciphertext of this run in round 1"
    ):
        run_openly(
            HELBA, TOY, budget=1, transport=Mallory(messages.EncryptedChoice, foreign, after=0)
        )
