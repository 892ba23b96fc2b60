"""Live rewards: altered, exchanged and foreign messages are refused, and nothing goes on."""

from collections.abc import Iterator

import msgspec
import pytest

from helpers import Outcome, run_openly
from lotor.core.effects import Message
from lotor.core.errors import LotorError, ProtocolError
from lotor.protocols.linucb_ds.live import messages
from lotor.protocols.linucb_ds.messages import LinUCBOrder, LinUCBSetup
from lotor.protocols.linucb_ds.paper import messages as paper
from lotor.protocols.linucb_ds.paper.wire import place_of, position_of
from mallory import Change, Mallory, cut, previous, replaced
from protocols.linucb_ds.attacks import number
from protocols.linucb_ds.live.stage import SHOP, live
from protocols.linucb_ds.stage import known_keys, small_key

pytestmark = pytest.mark.filterwarnings("ignore::lotor.crypto.paillier.InsecureKeyWarning")

BUDGET = 6
# Every message: who sends it, and who reads it.
WAY = [
    (LinUCBOrder, 0, "customer", "principal"),
    (LinUCBSetup, 0, "principal", "comp"),
    (LinUCBSetup, 1, "principal", "owner"),
    (paper.CompKey, 0, "comp", "principal"),
    (paper.CompKey, 1, "principal", "owner"),
    (messages.LiveCatalogue, 0, "owner", "principal"),
    (paper.LinUCBShape, 0, "principal", "comp"),
    (messages.ChosenArm, 2, "principal", "owner"),
    (messages.EncryptedReward, 2, "owner", "principal"),
    (paper.PackedScores, 2, "principal", "comp"),
    (paper.Winner, 2, "comp", "principal"),
    (paper.MaskedSum, 0, "principal", "comp"),
    (paper.SwitchedSum, 0, "comp", "principal"),
    (messages.LiveTotal, 0, "principal", "customer"),
]


@pytest.fixture(scope="module", autouse=True)
def _keys() -> Iterator[None]:
    with known_keys(small_key("comp"), small_key("customer")):
        yield


def attack(kind: type[Message], change: Change, *, after: int = 0) -> Outcome:
    return run_openly(live(), SHOP, budget=BUDGET, transport=Mallory(kind, change, after))


@pytest.mark.parametrize(("kind", "after", "sender", "reader"), WAY)
def test_what_is_no_such_message_names_its_sender(
    kind: type[Message], after: int, sender: str, reader: str
) -> None:
    with pytest.raises(ProtocolError, match=f"^{reader} waits for {kind.__name__} from {sender}"):
        attack(kind, cut, after=after)


def test_the_list_of_messages_is_complete() -> None:
    outcome = attack(messages.LiveTotal, lambda message, _: message)
    assert {type(one.message) for one in outcome.recorder.exchanges} == {way[0] for way in WAY}


def foreign(message: Message, _: object) -> Message:
    """Under another key."""
    reward = small_key("customer").public.encrypt(1).to_bytes()
    return msgspec.structs.replace(message, reward=reward)


def zero(message: Message, _: object) -> Message:
    """Of the right form, and no ciphertext."""
    return msgspec.structs.replace(message, reward=number(0, small_key("comp")))


def impossible(message: Message, _: object) -> Message:
    """More than six rewards can be."""
    total = small_key("customer").public.encrypt(2**40).to_bytes()
    return msgspec.structs.replace(message, total=total)


@pytest.mark.parametrize(
    ("kind", "after", "change", "complaint"),
    [
        (messages.ChosenArm, 2, previous, "^principal named no arm of 4 for round 3"),
        (messages.ChosenArm, 2, replaced(t=place_of(4)), "for round 3"),
        (messages.ChosenArm, 2, replaced(arm=position_of(4)), "nothing was pulled"),
        (messages.ChosenArm, 2, replaced(arm=b""), "nothing was pulled"),
        (messages.EncryptedReward, 2, previous, "^owner sent the reward of a round other than 3"),
        (messages.EncryptedReward, 2, replaced(reward=b""), "^owner sent something that is not a"),
        (
            messages.EncryptedReward,
            2,
            foreign,
            "^owner sent something that is not a ciphertext under the right key",
        ),
        (
            messages.EncryptedReward,
            2,
            zero,
            "^owner sent something that is not a ciphertext",
        ),
        (messages.LiveCatalogue, 0, replaced(k=3), "^owner sent a malformed model"),
        (
            messages.LiveCatalogue,
            0,
            replaced(vectors=b"\xff" * 64),
            "^owner sent a malformed model",
        ),
        (messages.LiveCatalogue, 0, replaced(vectors=bytes(64)), "^owner sent a model that does"),
        (messages.LiveTotal, 0, replaced(total=b""), "^principal sent something that is not a"),
        (
            messages.LiveTotal,
            0,
            impossible,
            "^the total is not one that 6 rewards can have",
        ),
    ],
)
def test_what_is_altered_names_its_sender(
    kind: type[Message], after: int, change: Change, complaint: str
) -> None:
    with pytest.raises(ProtocolError, match=complaint):
        attack(kind, change, after=after)


def test_p_cannot_put_its_own_key_in_comps_place() -> None:
    key = small_key("customer").public.to_bytes()
    with pytest.raises(LotorError, match="signature"):
        attack(paper.CompKey, replaced(public=key), after=1)


def test_terms_of_another_range_are_refused() -> None:
    """The customer signs the range that the owner stated; the owner takes no other."""

    def wider(message: Message, _: object) -> Message:
        assert isinstance(message, LinUCBOrder)
        terms = msgspec.msgpack.decode(message.terms)
        terms["high"] = 2.0
        return msgspec.structs.replace(message, terms=msgspec.msgpack.encode(terms))

    with pytest.raises(LotorError, match=r"differ from those|signature"):
        attack(LinUCBOrder, wider)
