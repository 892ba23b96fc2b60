"""What is altered on its way is refused with its sender, and nothing goes on."""

from collections.abc import Mapping

import msgspec
import pytest

import lotor
from helpers import Outcome, run_openly
from lotor.core.effects import Message
from lotor.core.errors import IntegrityError, LotorError, ProtocolError
from lotor.crypto.sealing import SealingKey
from lotor.crypto.signing import Identity
from lotor.protocols.linucb_ds.dealt.messages import DealtChoice, DealtRewards, DealtUnit
from lotor.protocols.linucb_ds.dealt.terms import LinUCBDealtTerms
from lotor.protocols.linucb_ds.messages import LinUCBOrder, LinUCBSetup
from lotor.protocols.linucb_ds.terms import terms_from
from lotor.protocols.linucb_ds.theta.handing_out import ThetaHolding, seal_share_key
from lotor.protocols.linucb_ds.theta.messages import HolderKey, ModelShare, ShareKey
from lotor.protocols.party import Party
from lotor.protocols.two_server.messages import Agreed, BlindKey, Corrections, Opened, PadKey
from mallory import Change, Mallory, altered, cut, flipped, previous, replaced
from protocols.linucb_ds.dealt.stage import ARMS, BUDGET, dealt


def attack(kind: type[Message], change: Change, after: int = 1) -> Outcome:
    return run_openly(dealt(), ARMS, budget=BUDGET, transport=Mallory(kind, change, after))


SHARES = [
    (Opened, "principal|comp"),
    (Corrections, "dealer"),
    (DealtChoice, "comp"),
    (DealtRewards, "principal|comp"),
]
WAY = [
    (LinUCBOrder, 0, "customer"),
    (LinUCBSetup, 0, "principal"),
    (LinUCBSetup, 2, "principal"),
    (HolderKey, 0, "comp"),
    (HolderKey, 1, "principal|dealer"),
    (ModelShare, 0, "owner"),
    (ShareKey, 0, "principal"),
    (ShareKey, 1, "principal"),
    (DealtUnit, 0, "principal"),
    *((kind, 1, sender) for kind, sender in SHARES),
]


@pytest.mark.parametrize(("kind", "after", "sender"), WAY)
def test_what_is_no_such_message_names_its_sender(
    kind: type[Message], after: int, sender: str
) -> None:
    with pytest.raises(ProtocolError, match=rf"waits for {kind.__name__} from ({sender})"):
        attack(kind, cut, after)


@pytest.mark.parametrize(("kind", "sender"), SHARES)
def test_shares_of_another_size_name_their_sender(kind: type[Message], sender: str) -> None:
    for change in (lambda data: data[:-1] or b"x", lambda data: data + b"x"):
        with pytest.raises(ProtocolError, match=rf"^({sender}) sent (\d+ bytes|something else)"):
            attack(kind, altered("shares", change))


@pytest.mark.parametrize(("kind", "sender"), SHARES)
def test_shares_for_another_place_name_their_sender(kind: type[Message], sender: str) -> None:
    with pytest.raises(ProtocolError, match=rf"^({sender}) sent .* for another place"):
        attack(kind, replaced(place=bytes(14)))


@pytest.mark.parametrize("kind", [Opened, Corrections, DealtChoice])
def test_shares_of_an_earlier_round_are_refused(kind: type[Message]) -> None:
    with pytest.raises(ProtocolError, match="for another place"):
        attack(kind, previous, after=4)


@pytest.mark.parametrize(
    "change",
    [
        flipped,
        lambda data: bytes([data[0] ^ 2]) + data[1:],
        lambda data: bytes(byte ^ 1 for byte in data),
    ],
    ids=["one bit", "no bit", "all bits"],
)
def test_an_answer_that_selects_no_arm_or_several_pulls_nothing(change: object) -> None:
    with pytest.raises(ProtocolError, match="in round 2 do not select one arm") as error:
        attack(DealtChoice, altered("shares", change))  # type: ignore[arg-type]
    assert error.value.__notes__ == ["(raised at principal)"]


def test_a_total_that_no_run_can_have_is_refused() -> None:
    for after in (0, 1):
        change = altered("shares", lambda data: flipped(data, 23))
        with pytest.raises(ProtocolError, match="larger than 6 pulls can pay") as error:
            attack(DealtRewards, change, after)
        assert error.value.__notes__ == ["(raised at customer)"]
    with pytest.raises(ProtocolError, match="in an impossible unit"):
        attack(DealtUnit, replaced(longest=0.0), after=0)


@pytest.mark.parametrize("kind", [Agreed, PadKey, BlindKey])
def test_nobody_with_other_terms_is_given_anything(kind: type[Message]) -> None:
    with pytest.raises(ProtocolError, match="keeps other terms than this party"):
        attack(kind, altered("digest", flipped), after=0)


@pytest.mark.parametrize("kind", [PadKey, BlindKey])
def test_a_key_of_another_size_is_refused(kind: type[Message]) -> None:
    with pytest.raises(ProtocolError, match="sent a key of 31 bytes"):
        attack(kind, altered("key", lambda key: key[:-1]), after=0)


@pytest.mark.parametrize(
    ("kind", "field", "afters"),
    [
        (LinUCBSetup, "signature", range(3)),
        (HolderKey, "public", range(4)),
        (HolderKey, "signature", range(4)),
        (ShareKey, "sealed", range(2)),
        (ShareKey, "signature", range(2)),
    ],
)
def test_p_cannot_replace_terms_or_keys(kind: type[Message], field: str, afters: range) -> None:
    for after in afters:
        with pytest.raises(IntegrityError, match="signature"):
            attack(kind, altered(field, flipped), after)


@pytest.mark.parametrize("change", [{"k": 8}, {"d": 3}], ids=str)
def test_p_cannot_tell_a_holder_another_number_of_arms(change: dict[str, object]) -> None:
    for after in (0, 1):
        with pytest.raises(ProtocolError, match="a sealed key does not open"):
            attack(ShareKey, replaced(**change), after)


@pytest.mark.parametrize("change", [{"k": 1}, {"k": 1 << 15}, {"d": 0}, {"d": 1 << 20}], ids=str)
def test_an_impossible_size_is_refused_before_anything_is_made_of_it(
    change: dict[str, object],
) -> None:
    with pytest.raises(ProtocolError, match="does not fit this form"):
        attack(ShareKey, replaced(**change), after=0)


def test_holders_cannot_be_swapped() -> None:
    """What was sealed and signed for one holder is of no use to another."""

    def swapped(message: Message, passed: dict[type, list[Message]]) -> Message:
        return passed[type(message)][-1]

    with pytest.raises(IntegrityError, match="signature on the share key of theta"):
        attack(ShareKey, swapped, after=1)
    with pytest.raises(ProtocolError, match="passed on a key of comp, not of dealer"):
        attack(HolderKey, swapped, after=3)


def model(**fields: object) -> Change:
    return lambda message, _: msgspec.structs.replace(message, **fields)


MALFORMED: Mapping[str, Change] = {
    "another k": model(k=8),
    "another d": model(d=1),
    "a share less": altered("theta", lambda data: data[:-8]),
    "a share of the total less": altered("total", lambda data: data[:-24]),
    "a coordinate less": altered("vectors", lambda data: data[:-8]),
    "nan": altered("vectors", lambda data: b"\xff" * 8 + data[8:]),
    "eigenvalues of other arms": model(eigenvalues=bytes(8)),
    "negative noise": model(noise_sd=-1.0),
    "no keys": model(keys=[]),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_a_malformed_model_is_refused(name: str) -> None:
    with pytest.raises(ProtocolError, match=r"^owner "):
        attack(ModelShare, MALFORMED[name], after=0)


def test_an_order_that_was_not_announced_is_refused() -> None:
    with pytest.raises(ProtocolError, match="terms differ from those that the parties"):
        attack(LinUCBOrder, altered("terms", lambda terms: terms[:-1] + b"\1"), after=0)
    with pytest.raises(ProtocolError, match="did not sign its order for exactly comp, dealer, own"):
        attack(LinUCBOrder, replaced(signatures={}), after=0)


def test_a_key_that_was_sealed_in_another_run_or_for_other_terms_does_not_open() -> None:
    identities: dict[str, Identity] = {}
    orders: list[bytes] = []

    def noted(name: str, party: Party) -> Party:
        if name in ("owner", "comp"):
            identities[name] = party._identity  # type: ignore[attr-defined]
            orders.append(party._order)  # type: ignore[attr-defined]
        return party

    run_openly(dealt(), ARMS, budget=BUDGET, run_id="aa", wrap=noted)
    terms = terms_from(LinUCBDealtTerms, orders[0])
    sealing = SealingKey()
    public = sealing.public
    holding = ThetaHolding(ARMS.k, ARMS.d, bytes(32))

    def offer(run: str) -> HolderKey:
        comp = identities["comp"]
        signature = comp.sign(public, run=run, purpose="sealing key", recipient="owner")
        return HolderKey("comp", public, signature)

    with pytest.raises(IntegrityError, match="signature on the sealing key of comp"):
        seal_share_key(terms, identities["owner"], offer("bb"), holding)
    first, second = (
        seal_share_key(other, identities["owner"], offer("aa"), holding)
        for other in (terms, msgspec.structs.replace(terms, budget=7))
    )
    assert first.sealed != second.sealed

    def opened(sealed: ShareKey) -> bytes:
        from lotor.protocols.linucb_ds.theta.handing_out import _bound  # noqa: PLC0415

        return sealing.open(sealed.sealed, _bound(terms, "comp", ARMS.k, ARMS.d))

    assert opened(first) == bytes(32)
    with pytest.raises(IntegrityError, match="a sealed key does not open"):
        opened(second)


@pytest.mark.parametrize("kind", [ModelShare, ShareKey, DealtChoice, DealtRewards])
def test_any_altered_byte_is_a_clear_error_or_another_number(kind: type[Message]) -> None:
    """Never a bare Python error."""

    def change_at(position: int) -> Change:
        def change(message: Message, _: object) -> bytes:
            data = msgspec.msgpack.encode(message)
            return flipped(data, position % len(data))

        return change

    for position in range(0, 60, 3):
        try:
            attack(kind, change_at(position), after=0)
        except LotorError:
            continue


def test_an_honest_run_passes() -> None:
    """So that the refusals above are due to what was changed."""
    outcome = attack(DealtRewards, lambda message, _: message, after=0)
    plain = lotor.run(dealt().plain(), ARMS, budget=BUDGET, seed=1)
    assert outcome.seats["customer"].output == plain.reward
