"""Altered, replayed, reordered and foreign messages are refused by name, and nothing goes on."""

from collections.abc import Callable

import msgspec
import pytest

import lotor
from helpers import run_openly
from lotor.core.effects import Message
from lotor.core.errors import IntegrityError, LotorError, ProtocolError
from lotor.protocols.samba import messages
from lotor.transport import MemoryTransport

pytestmark = pytest.mark.filterwarnings("ignore::lotor.crypto.paillier.InsecureKeyWarning")

Change = Callable[[Message, dict[type, list[Message]]], Message | bytes]


class Mallory(MemoryTransport):
    """Changes the n-th message of one kind on its way; has kept all that passed before."""

    def __init__(self, kind: type[Message], change: Change, after: int = 3) -> None:
        super().__init__()
        self._kind = kind
        self._change = change
        self._left = after
        self._passed: dict[type, list[Message]] = {}

    def send(self, sender: str, to: str, payload: bytes) -> None:
        tag = msgspec.msgpack.decode(payload)[0]
        if tag == self._kind.__struct_config__.tag:
            message = msgspec.msgpack.decode(payload, type=self._kind)
            if self._left == 0:
                changed = self._change(message, self._passed)
                payload = changed if isinstance(changed, bytes) else msgspec.msgpack.encode(changed)
            self._left -= 1
            self._passed.setdefault(self._kind, []).append(message)
        super().send(sender, to, payload)


def attack(kind: type[Message], change: Change, *, after: int = 3, selection: str = "bits") -> None:
    samba = lotor.Samba(lotor.UCB(), insecure_key_bits=256, owners=2, selection=selection)  # type: ignore[arg-type]
    transport = Mallory(kind, change, after)
    run_openly(samba, lotor.BernoulliArms([0.5] * 4), budget=20, transport=transport)


def flip(field: str, position: int = 20) -> Change:
    def change(message: Message, _: object) -> Message:
        data = bytearray(getattr(message, field))
        data[position] ^= 1
        return msgspec.structs.replace(message, **{field: bytes(data)})

    return change


def replay(message: Message, passed: dict[type, list[Message]]) -> Message:
    return passed[type(message)][0]


def replay_in_place(message: Message, passed: dict[type, list[Message]]) -> Message:
    """An old ciphertext under the new round's place."""
    old = passed[type(message)][0]
    return msgspec.structs.replace(message, sealed=old.sealed)  # type: ignore[attr-defined]


def cut(message: Message, _: object) -> bytes:
    return msgspec.msgpack.encode(message)[:-1]


def shorten(message: Message, _: object) -> Message:
    return msgspec.structs.replace(message, sealed=message.sealed[:-48])  # type: ignore[attr-defined]


def another_kind(message: Message, _: object) -> Message:
    return messages.Total(b"")


CORE = [
    (messages.MaskedScores, "owner", "comp"),
    (messages.PermutedScores, "controller", "comp"),
    (messages.PermutedBits, "comp", "owner"),
    (messages.PullingBits, "controller", "owner"),
]


@pytest.mark.parametrize(("kind", "sender", "reader"), CORE)
@pytest.mark.parametrize("change", [flip("sealed"), replay_in_place], ids=["flipped", "replayed"])
def test_ciphertexts_are_bound_to_their_place(
    kind: type[Message], sender: str, reader: str, change: Change
) -> None:
    """Whoever holds the key notices, and says what came from whom in which round."""
    with pytest.raises(IntegrityError, match=r"from controller in round \d+, iteration 1") as error:
        attack(kind, change)
    assert any(reader in note for note in error.value.__notes__)


@pytest.mark.parametrize(("kind", "sender", "reader"), CORE)
@pytest.mark.parametrize("change", [replay, shorten], ids=["other round", "too short"])
def test_messages_out_of_step_name_their_sender(
    kind: type[Message], sender: str, reader: str, change: Change
) -> None:
    with pytest.raises(ProtocolError, match=rf"^{sender}\S* sent .*round \d+.*out of step"):
        attack(kind, change)


@pytest.mark.parametrize(("kind", "sender", "reader"), CORE)
@pytest.mark.parametrize("change", [cut, another_kind], ids=["cut", "other kind"])
def test_what_is_no_such_message_names_its_sender(
    kind: type[Message], sender: str, reader: str, change: Change
) -> None:
    with pytest.raises(ProtocolError, match=rf"waits for {kind.__name__} from {sender}"):
        attack(kind, change)


def test_a_ciphertext_of_the_other_direction_is_refused() -> None:
    """A bit cannot be passed off as another bit: here Controller swaps two arms' rounds."""

    def swap(message: Message, passed: dict[type, list[Message]]) -> Message:
        assert isinstance(message, messages.WinningPosition)
        return messages.WinningPosition(
            message.place,
            passed[messages.WinningPosition][-1].sealed,  # type: ignore[attr-defined]
        )

    with pytest.raises(IntegrityError, match="Positions from controller"):
        attack(messages.WinningPosition, swap, selection="position")


@pytest.mark.parametrize(
    ("kind", "field", "after"),
    [
        (messages.Setup, "signature", 0),
        (messages.Setup, "signature", 2),
        (messages.Offer, "public", 0),
        (messages.Offer, "for_comp", 1),
        (messages.Offer, "for_first_owner", 1),
        (messages.SealedKey, "sealed", 0),
        (messages.SealedKey, "signature", 1),
        (messages.SealedKey, "sealed", 2),
    ],
)
def test_keys_and_terms_cannot_be_replaced_by_who_relays_them(
    kind: type[Message], field: str, after: int
) -> None:
    with pytest.raises(IntegrityError, match="signature"):
        attack(kind, flip(field), after=after)


def test_controller_cannot_change_the_terms() -> None:
    def greedy(message: Message, _: object) -> Message:
        assert isinstance(message, messages.Setup)
        terms = msgspec.structs.replace(message.terms, budget=10**6)
        return msgspec.structs.replace(message, terms=terms)

    with pytest.raises(IntegrityError, match="terms of customer"):
        attack(messages.Setup, greedy, after=0)


@pytest.mark.parametrize("kind", [messages.PartialSums, messages.Total])
def test_sums_that_are_no_ciphertexts_name_their_sender(kind: type[Message]) -> None:
    def junk(message: Message, _: object) -> Message:
        if isinstance(message, messages.Total):
            return messages.Total(message.total[:-1])
        assert isinstance(message, messages.PartialSums)
        return messages.PartialSums([data[:-1] for data in message.sums])

    with pytest.raises(ProtocolError, match=r"^(owner-1|controller) sent no ciphertext"):
        attack(kind, junk, after=0)


def test_errors_never_show_plaintext() -> None:
    with pytest.raises(LotorError) as error:
        attack(messages.PullingBits, flip("sealed"))
    assert "b'" not in str(error.value)
