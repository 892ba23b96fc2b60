"""Altered, exchanged, cut and foreign messages are refused by name, and nothing goes on."""

from collections.abc import Callable

import msgspec
import pytest

import lotor
from helpers import run_openly
from lotor.core.effects import Message
from lotor.core.errors import LotorError
from lotor.protocols.helba import messages
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
    (messages.Offer, "digest"),
    (messages.Offer, "public"),
    (messages.Offer, "signature"),
    (messages.ServerKeys, "digest"),
    (messages.ServerKeys, "public"),
    (messages.ServerKeys, "evaluation"),
    (messages.SealedKey, "sealed"),
    (messages.SealedKey, "signature"),
    (messages.Contexts, "place"),
    (messages.Contexts, "ciphertexts"),
    (messages.Choice, "place"),
    (messages.Choice, "ciphertext"),
    (messages.Update, "place"),
    (messages.Update, "ciphertexts"),
]


@pytest.mark.parametrize("change", [flipped, cut, nothing])
@pytest.mark.parametrize(("kind", "field"), FIELDS)
def test_altered_fields(kind: type[Message], field: str, change: Callable[[bytes], bytes]) -> None:
    def altered(message: Message, _: dict[type, list[Message]]) -> Message:
        value = getattr(message, field)
        new = [change(value[0]), *value[1:]] if isinstance(value, list) else change(value)
        return msgspec.structs.replace(message, **{field: new})

    with pytest.raises(LotorError, match=r"user|authority|server"):
        run_openly(HELBA, TOY, budget=3, transport=Mallory(kind, altered, after=0))


@pytest.mark.parametrize("kind", [messages.Contexts, messages.Choice, messages.Update])
def test_an_earlier_message_again(kind: type[Message]) -> None:
    def earlier(_: Message, passed: dict[type, list[Message]]) -> Message:
        return passed[kind][0]

    with pytest.raises(LotorError, match="another round"):
        run_openly(HELBA, TOY, budget=3, transport=Mallory(kind, earlier, after=1))


@pytest.mark.parametrize("kind", [messages.Contexts, messages.Update])
def test_too_few_ciphertexts(kind: type[Message]) -> None:
    def fewer(message: Message, _: object) -> Message:
        listed = message.ciphertexts[:-1]  # type: ignore[attr-defined]
        return msgspec.structs.replace(message, ciphertexts=listed)

    with pytest.raises(LotorError, match="4 ciphertexts in round 1 where 5 are due"):
        run_openly(HELBA, TOY, budget=3, transport=Mallory(kind, fewer, after=0))


def test_contexts_in_the_place_of_an_update() -> None:
    """Under the right key, but of another level."""
    found: list[bytes] = []

    class Swapping(Mallory):
        def send(self, sender: str, to: str, payload: bytes) -> None:
            if msgspec.msgpack.decode(payload)[0] == messages.WIRE + "contexts":
                found.extend(msgspec.msgpack.decode(payload, type=messages.Contexts).ciphertexts)
            super().send(sender, to, payload)

    def swapped(message: Message, _: object) -> Message:
        return msgspec.structs.replace(message, ciphertexts=found[:5])

    with pytest.raises(LotorError, match="another level or scale than round 1 needs"):
        run_openly(HELBA, TOY, budget=3, transport=Swapping(messages.Update, swapped, after=0))


def test_a_choice_under_another_key() -> None:
    found: list[Message] = []

    def kept(message: Message, _: object) -> Message:
        found.append(message)
        return message

    def foreign(_: Message, __: object) -> Message:
        return found[0]

    run_openly(HELBA, TOY, budget=1, transport=Mallory(messages.Choice, kept, after=0))
    with pytest.raises(LotorError, match="server sent no ciphertext of this run in round 1"):
        run_openly(HELBA, TOY, budget=1, transport=Mallory(messages.Choice, foreign, after=0))
