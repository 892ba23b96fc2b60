"""What is altered on its way is refused with its sender, or caught by the customer."""

import msgspec
import pytest

import lotor
from helpers import run_openly
from lotor.core.effects import Message
from lotor.core.errors import IntegrityError, LotorError, ProtocolError
from lotor.protocols.party import Party
from lotor.protocols.samba import messages as set_up
from lotor.protocols.samba.dealt import messages
from lotor.protocols.samba.dealt.comp import SambaDealtComp
from lotor.protocols.samba.dealt.owner import SambaDealtOwner
from lotor.protocols.samba.tagged_totals import TaggedShare, added
from lotor.protocols.two_server.messages import Agreed, Corrections, InputKey, Opened
from mallory import Change, Mallory, altered, cut, flipped, previous, replaced
from protocols.samba.dealt.stage import dealt, terms_of

ARMS = lotor.BernoulliArms([0.5] * 4)
BUDGET = 12


def attack(kind: type[Message], change: Change, after: int = 3) -> None:
    mallory = Mallory(kind, change, after)
    run_openly(dealt(lotor.UCB(), 2), ARMS, budget=BUDGET, transport=mallory)


def changed_total(message: Message, _: object) -> Message:
    """One reward more, by a server that does not know the tag's factor."""
    share = TaggedShare.from_bytes(getattr(message, "shares"), "")  # noqa: B009
    more = added([share, TaggedShare(1 << 32, 0)])
    return msgspec.structs.replace(message, shares=more.to_bytes())


SHARES = [
    (messages.DealtScores, "owner-"),
    (Opened, "co"),
    (Corrections, "dealer"),
    (messages.DealtBits, "co"),
    (messages.DealtPartialTotal, "owner-"),
    (messages.DealtTotal, "co"),
]


@pytest.mark.parametrize(("kind", "sender"), SHARES)
def test_shares_of_another_size_name_their_sender(kind: type[Message], sender: str) -> None:
    for change in (
        altered("shares", lambda data: data[:-1]),
        altered("shares", lambda d: d + b"x"),
    ):
        with pytest.raises(ProtocolError, match=rf"^{sender}\S* sent (\d+ bytes|something)"):
            attack(kind, change, after=1)


@pytest.mark.parametrize(("kind", "sender"), SHARES)
def test_shares_for_another_place_name_their_sender(kind: type[Message], sender: str) -> None:
    with pytest.raises(ProtocolError, match=rf"^{sender}\S* sent .* for another place"):
        attack(kind, replaced(place=bytes(14)), after=1)


@pytest.mark.parametrize("kind", [messages.DealtScores, Opened, Corrections, messages.DealtBits])
def test_shares_of_an_earlier_turn_are_refused(kind: type[Message]) -> None:
    with pytest.raises(ProtocolError, match="for another place"):
        attack(kind, previous, after=5)


@pytest.mark.parametrize(("kind", "sender"), SHARES)
def test_what_is_no_such_message_names_its_sender(kind: type[Message], sender: str) -> None:
    with pytest.raises(ProtocolError, match=rf"waits for {kind.__name__} from {sender}"):
        attack(kind, cut, after=1)


@pytest.mark.parametrize("value", [2, 255])
def test_bits_that_are_none_pull_nothing(value: int) -> None:
    with pytest.raises(ProtocolError, match=r"in round \d+, iteration 1 do not select one arm"):
        attack(messages.DealtBits, altered("shares", lambda data: bytes([value]) + data[1:]))


def test_altered_bits_are_noticed_by_the_owner_or_the_customer() -> None:
    """Two arms of one owner selected, or one pull more or less than N."""
    for after in range(8):
        with pytest.raises(ProtocolError, match=r"do not select one arm|does not count 12 pulls"):
            attack(messages.DealtBits, altered("shares", flipped), after=after)


@pytest.mark.parametrize("after", [0, 1])
def test_an_altered_total_is_caught(after: int) -> None:
    with pytest.raises(IntegrityError, match="its tag does not fit: controller or comp") as error:
        attack(messages.DealtTotal, changed_total, after)
    assert error.value.__notes__ == ["(raised at customer)"]


@pytest.mark.parametrize("after", [0, 1])
def test_an_altered_partial_total_is_caught(after: int) -> None:
    with pytest.raises(IntegrityError, match="or an owner gave them shares that do not belong"):
        attack(messages.DealtPartialTotal, changed_total, after)


def test_an_owner_that_miscounts_is_caught() -> None:
    def lying(name: str, party: Party) -> Party:
        if isinstance(party, SambaDealtOwner) and name == "owner-2":
            honest = party._cumulative_reward

            def total(terms, earned):  # type: ignore[no-untyped-def]
                (s, n), *others = earned
                return honest(terms, [(s, n + 1), *others])

            party._cumulative_reward = total  # type: ignore[method-assign]
        return party

    with pytest.raises(ProtocolError, match="does not count 12 pulls: an owner miscounts"):
        run_openly(dealt(lotor.UCB(), 2), ARMS, budget=BUDGET, wrap=lying)


@pytest.mark.parametrize("kind", [Agreed, InputKey, messages.DealtTieKey])
def test_nobody_with_other_terms_is_given_anything(kind: type[Message]) -> None:
    with pytest.raises(ProtocolError, match="keeps other terms than this party"):
        attack(kind, altered("digest", flipped), after=0)


@pytest.mark.parametrize("kind", [InputKey, messages.DealtTieKey])
def test_a_key_of_another_size_is_refused(kind: type[Message]) -> None:
    with pytest.raises(ProtocolError, match="sent a key of 31 bytes"):
        attack(kind, altered("key", lambda key: key[:-1]), after=0)


@pytest.mark.parametrize(
    ("kind", "field"),
    [
        (set_up.SambaSetup, "signature"),
        (set_up.SambaOffer, "public"),
        (set_up.SambaSealedKey, "sealed"),
        (set_up.SambaSealedKey, "signature"),
    ],
)
def test_controller_cannot_replace_terms_or_keys(kind: type[Message], field: str) -> None:
    with pytest.raises(IntegrityError, match="signature"):
        attack(kind, altered(field, flipped), after=0)


def test_an_order_that_was_not_announced_is_refused() -> None:
    with pytest.raises(ProtocolError, match="terms differ from those that the parties"):
        attack(set_up.SambaOrder, altered("terms", lambda terms: terms[:-1] + b"\1"), after=0)


def test_a_server_with_other_terms_is_refused() -> None:
    def other(name: str, party: Party) -> Party:
        if not isinstance(party, SambaDealtComp):
            return party
        return SambaDealtComp(msgspec.structs.replace(party._terms, budget=BUDGET + 1))

    with pytest.raises(ProtocolError, match="keeps other terms"):
        run_openly(dealt(lotor.UCB(), 2), ARMS, budget=BUDGET, wrap=other)


@pytest.mark.parametrize("kind", [messages.DealtScores, messages.DealtTieKey])
def test_any_altered_byte_is_a_clear_error_or_another_arm(kind: type[Message]) -> None:
    """Never a bare Python error. A flipped share is another score, and selects as one."""

    def change_at(position: int) -> Change:
        def change(message: Message, _: object) -> bytes:
            return flipped(msgspec.msgpack.encode(message), position)

        return change

    size = 40
    for position in range(size):
        try:
            attack(kind, change_at(position), after=0)
        except LotorError:
            continue


def test_terms_are_one_for_all() -> None:
    parties = run_openly(dealt(lotor.UCB(), 2), ARMS, budget=BUDGET).parties
    terms = terms_of(parties)
    digests = {msgspec.structs.replace(terms, budget=n).digest for n in (BUDGET, BUDGET + 1)}
    assert len(digests) == 2
