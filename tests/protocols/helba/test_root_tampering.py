"""Doubts, bits, verdicts and refreshed estimates that were altered on their way."""

from collections.abc import Callable

import msgspec
import pytest

import lotor
from helpers import run_openly
from lotor.core.effects import Message
from lotor.core.errors import LotorError
from lotor.protocols.helba.paper import messages
from mallory import Mallory
from protocols.helba.stage import paper, small
from protocols.helba.test_tampering import cut, flipped, nothing

TOY = lotor.LinearContexts.toy(5, seed=5)
HELBA = small(paper(1.0, 2.0), stages=2)

FIELDS = [
    (messages.CoveredSign, "place"),
    (messages.CoveredSign, "ciphertext"),
    (messages.SignBit, "place"),
    (messages.BatchDecision, "place"),
    (messages.MaskedEntry, "place"),
    (messages.MaskedEntry, "data"),
    (messages.RefreshedEntry, "place"),
    (messages.RefreshedEntry, "data"),
]


def run(mallory: Mallory) -> None:
    run_openly(HELBA, TOY, budget=5, seed=6, transport=mallory)


@pytest.mark.parametrize("change", [flipped, cut, nothing])
@pytest.mark.parametrize(("kind", "field"), FIELDS)
def test_altered_fields(kind: type[Message], field: str, change: Callable[[bytes], bytes]) -> None:
    def altered(message: Message, _: object) -> Message:
        return msgspec.structs.replace(message, **{field: change(getattr(message, field))})

    with pytest.raises(LotorError, match=r"user|server"):
        run(Mallory(kind, altered, after=0))


@pytest.mark.parametrize(
    ("kind", "match"),
    [
        (messages.MaskedEntry, "server sent MaskedEntry number 1 where number 0 of 5 is due"),
        (messages.RefreshedEntry, "user sent RefreshedEntry number 1 where number 0 of 5 is due"),
    ],
)
def test_parts_out_of_order(kind: type[Message], match: str) -> None:
    def later(message: Message, _: object) -> Message:
        return msgspec.structs.replace(message, index=1)

    with pytest.raises(LotorError, match=match):
        run(Mallory(kind, later, after=0))


@pytest.mark.parametrize("kind", [messages.MaskedEntry, messages.RefreshedEntry])
def test_parts_that_are_too_long(kind: type[Message]) -> None:
    def longer(message: Message, _: object) -> Message:
        return msgspec.structs.replace(message, data=bytes(1 << 22))

    with pytest.raises(LotorError, match=r"(user|server) sent .* bytes where \d+ are the most"):
        run(Mallory(kind, longer, after=0))


def test_a_choice_in_the_place_of_a_masked_number() -> None:
    """Under the right key, but of another level: the user encrypts nothing again but estimates."""
    found: list[bytes] = []

    class Swapping(Mallory):
        def send(self, sender: str, to: str, payload: bytes) -> None:
            if msgspec.msgpack.decode(payload)[0] == messages.WIRE + "choice":
                found.append(
                    msgspec.msgpack.decode(payload, type=messages.EncryptedChoice).ciphertext
                )
            super().send(sender, to, payload)

    def swapped(message: Message, _: object) -> Message:
        return msgspec.structs.replace(message, data=found[0])

    with pytest.raises(LotorError, match="server sent ciphertexts of another level or scale"):
        run(Swapping(messages.MaskedEntry, swapped, after=0))


def test_a_masked_number_in_the_place_of_a_doubt() -> None:
    """The user tells no bit of what is neither above nor below."""
    found: list[bytes] = []

    class Swapping(Mallory):
        def send(self, sender: str, to: str, payload: bytes) -> None:
            if msgspec.msgpack.decode(payload)[0] == messages.WIRE + "masked":
                found.append(msgspec.msgpack.decode(payload, type=messages.MaskedEntry).data)
            super().send(sender, to, payload)

    def swapped(message: Message, _: object) -> Message:
        return msgspec.structs.replace(message, ciphertext=found[0])

    with pytest.raises(LotorError, match="neither above nor below"):
        run(Swapping(messages.CoveredSign, swapped, after=1))


def test_another_verdict_is_noticed() -> None:
    def turned(message: Message, _: object) -> Message:
        assert isinstance(message, messages.BatchDecision)
        return msgspec.structs.replace(message, new=not message.new)

    with pytest.raises(LotorError):
        run(Mallory(messages.BatchDecision, turned, after=0))
