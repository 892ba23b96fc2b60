"""Neither keys nor terms can be exchanged by who relays them."""

from collections.abc import Iterator

import msgspec
import pytest

import lotor
from helpers import run_openly
from lotor.core.effects import Message
from lotor.core.errors import IntegrityError, ProtocolError
from lotor.crypto.paillier import PublicKey
from lotor.crypto.signing import Identity
from lotor.protocols.linucb_ds.messages import LinUCBOrder, LinUCBSetup
from lotor.protocols.linucb_ds.paper import messages
from lotor.protocols.linucb_ds.paper.comp import LinUCBComp
from lotor.protocols.linucb_ds.paper.principal import LinUCBPrincipal
from lotor.protocols.linucb_ds.paper.terms import LinUCBPaperTerms
from lotor.protocols.linucb_ds.paper.wire import COMP_KEY
from lotor.protocols.linucb_ds.terms import terms_from
from lotor.protocols.party import Party
from mallory import Change, Mallory
from protocols.linucb_ds.attacks import ARMS, BUDGET, attack, flip, replaced
from protocols.linucb_ds.stage import known_keys, small, small_key

pytestmark = pytest.mark.filterwarnings("ignore::lotor.crypto.paillier.InsecureKeyWarning")


@pytest.fixture(scope="module", autouse=True)
def _keys() -> Iterator[None]:
    with known_keys(small_key("comp"), small_key("customer")):
        yield


def test_comps_key_cannot_be_replaced_by_who_relays_it() -> None:
    """P, or whoever else is on the way, could read theta otherwise."""
    own = small_key("mallory").public.to_bytes()
    for after in (0, 1):
        with pytest.raises(
            IntegrityError, match="signature on the Comp's Paillier key of comp is not valid"
        ) as error:
            attack(messages.CompKey, replaced(public=own), after=after)
        assert error.value.__notes__ == ["(raised at owner)"]
        with pytest.raises(IntegrityError, match="Comp's Paillier key of comp"):
            attack(messages.CompKey, flip("signature", 5), after=after)


@pytest.mark.parametrize(
    ("run", "purpose", "recipient"),
    [
        ("bb", COMP_KEY, "owner"),
        ("aa", "terms", "owner"),
        ("aa", COMP_KEY, "principal"),
    ],
)
def test_a_key_that_comp_signed_for_something_else_is_refused(
    run: str, purpose: str, recipient: str
) -> None:
    """Even one of Comp's own: what it decrypts elsewhere must not be this theta."""
    key = small_key("mallory").public.to_bytes()
    identities: list[Identity] = []

    def spy(name: str, party: Party) -> Party:
        if isinstance(party, LinUCBComp):
            identities.append(party._identity)
        return party

    def another(_: Message, __: object) -> Message:
        signature = identities[0].sign(key, run=run, purpose=purpose, recipient=recipient)
        return messages.CompKey(key, signature)

    transport = Mallory(messages.CompKey, another, 1)
    with pytest.raises(IntegrityError, match="for another run"):
        run_openly(small(), ARMS, budget=BUDGET, run_id="aa", transport=transport, wrap=spy)


def with_terms(**fields: object) -> Change:
    def change(message: Message, _: object) -> Message:
        assert isinstance(message, LinUCBSetup | LinUCBOrder)
        terms = msgspec.structs.replace(terms_from(LinUCBPaperTerms, message.terms), **fields)
        return msgspec.structs.replace(message, terms=terms.to_bytes())

    return change


@pytest.mark.parametrize(("kind", "after"), [(LinUCBSetup, 0), (LinUCBSetup, 1)])
@pytest.mark.parametrize("field", ["customer_key", "budget", "policy", "slot_bits"])
def test_the_customers_key_and_terms_cannot_be_replaced(
    kind: type[Message], after: int, field: str
) -> None:
    """With a customer's key of its own, P would read the sum."""
    own = {
        "customer_key": small_key("mallory").public.to_bytes(),
        "budget": 100,
        "policy": "linucb:S=2",
        "slot_bits": 96,
    }
    with pytest.raises(IntegrityError, match="terms of customer is not valid") as error:
        attack(kind, with_terms(**{field: own[field]}), after=after)
    assert error.value.__notes__ == [f"(raised at {['comp', 'owner'][after]})"]


def test_an_order_that_is_replaced_on_its_way_to_p_is_refused_by_the_others() -> None:
    change = with_terms(customer_key=small_key("mallory").public.to_bytes())

    def careless(name: str, party: Party) -> Party:
        if isinstance(party, LinUCBPrincipal):
            party._order = None
        return party

    with pytest.raises(IntegrityError, match="terms of customer is not valid"):
        attack(LinUCBOrder, change, wrap=careless)
    with pytest.raises(ProtocolError, match="customer's terms differ from those") as error:
        attack(LinUCBOrder, change)
    assert error.value.__notes__ == ["(raised at principal)"]


def test_signatures_are_for_one_recipient() -> None:
    def swapped(message: Message, _: object) -> Message:
        assert isinstance(message, LinUCBOrder)
        own = {"owner": message.signatures["comp"], "comp": message.signatures["owner"]}
        return msgspec.structs.replace(message, signatures=own)

    with pytest.raises(IntegrityError, match="is not valid for comp"):
        attack(LinUCBOrder, swapped)
    for signatures in ({}, {"owner": b""}, {"owner": b"", "comp": b"", "principal": b""}):
        with pytest.raises(ProtocolError, match=r"^customer did not sign its order for exactly"):
            attack(LinUCBOrder, replaced(signatures=signatures))


@pytest.mark.parametrize("name", ["owner", "principal", "comp"])
def test_terms_other_than_announced_are_refused(name: str) -> None:
    def announced(who: str, party: Party) -> Party:
        if who == name:
            party._order = b"other terms"  # type: ignore[attr-defined]
        return party

    with pytest.raises(ProtocolError, match="customer's terms differ from those") as error:
        run_openly(small(), ARMS, budget=BUDGET, wrap=announced)
    assert error.value.__notes__ == [f"(raised at {name})"]


def test_terms_that_no_run_can_fulfil_are_refused() -> None:
    terms = LinUCBPaperTerms(
        run="a", budget=9, policy="linucb", slot_bits=64, key_bits=3072, customer_key=b""
    )
    assert terms.check("a") == lotor.LinUCB()
    wrong: list[dict[str, object]] = [{"budget": 1}, {"budget": 2**62}, {"slot_bits": 32}]
    for fields in wrong:
        with pytest.raises(ProtocolError, match="order it again"):
            msgspec.structs.replace(terms, **fields).check("a")
    with pytest.raises(ProtocolError, match="cannot be done in run b"):
        terms.check("b")
    with pytest.raises(ProtocolError, match=r"^customer ordered ucb, which is not a linear policy"):
        msgspec.structs.replace(terms, policy="ucb").check("a")
    for policy in ("linucb:S=0", "linucb:tau=1", ""):
        with pytest.raises(ProtocolError, match=r"^customer ordered a policy not known here"):
            msgspec.structs.replace(terms, policy=policy).check("a")
    for junk in (b"", b"junk", terms.to_bytes()[:-1]):
        with pytest.raises(
            ProtocolError, match=r"^customer signed terms that this version cannot read"
        ):
            terms_from(LinUCBPaperTerms, junk)


@pytest.mark.parametrize("data", [b"", b"junk", b"LPai" + bytes(20)])
def test_an_unusable_customers_key_is_refused_at_once(
    data: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PublicKey, "to_bytes", lambda key: data)
    with pytest.raises(ProtocolError, match=r"^customer sent an unusable Paillier key") as error:
        run_openly(small(), ARMS, budget=BUDGET)
    assert error.value.__notes__ == ["(raised at principal)"]
