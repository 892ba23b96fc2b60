"""Altered, replayed, reordered and foreign messages are refused by name, and nothing goes on."""

import msgspec
import pytest

import lotor
from helpers import run_openly
from lotor.core.effects import Message
from lotor.core.errors import IntegrityError, LotorError, ProtocolError
from lotor.core.fixed_point import RewardScale
from lotor.crypto.aead import Aead
from lotor.crypto.paillier import PublicKey
from lotor.crypto.sealing import SealingKey
from lotor.crypto.signing import Identity
from lotor.protocols.party import Party
from lotor.protocols.samba import messages as set_up
from lotor.protocols.samba.paper import messages
from lotor.protocols.samba.paper.comp import SambaPaperComp
from lotor.protocols.samba.paper.customer import SambaPaperCustomer
from lotor.protocols.samba.paper.owner import SambaPaperOwner
from lotor.protocols.samba.paper.terms import SambaPaperTerms
from lotor.protocols.samba.paper.wire import SEALED_BIT, Bindings
from lotor.protocols.samba.terms import terms_from
from lotor.protocols.samba.wire import place_of
from lotor.transport import MemoryTransport
from mallory import Change, Mallory

pytestmark = pytest.mark.filterwarnings("ignore::lotor.crypto.paillier.InsecureKeyWarning")


def attack(kind: type[Message], change: Change, *, after: int = 3, selection: str = "bits") -> None:
    samba = lotor.Samba(
        lotor.UCB(),
        form="paper",
        insecure_key_bits=256,
        owners=2,
        selection=selection,  # type: ignore[arg-type]
    )
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
    return messages.SambaTotal(b"")


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


@pytest.mark.parametrize("change", [flip("sealed"), replay_in_place], ids=["flipped", "replayed"])
@pytest.mark.parametrize("kind", [messages.WinningPosition, messages.Positions])
def test_positions_are_bound_to_their_place(kind: type[Message], change: Change) -> None:
    with pytest.raises(IntegrityError, match=r"Positions from controller in round \d+"):
        attack(kind, change, selection="position")


def test_positions_for_other_arms_are_refused() -> None:
    with pytest.raises(ProtocolError, match="no position for some of 2 arms"):
        attack(
            messages.Positions,
            lambda message, _: msgspec.structs.replace(message, positions=b""),
            selection="position",
        )


def test_places_bind_run_direction_round_and_iteration() -> None:
    here = Bindings("a").to_comp(place_of(1, 1))
    elsewhere = [
        Bindings("b").to_comp(place_of(1, 1)),
        Bindings("a").to_owner(place_of(1, 1)),
        Bindings("a").to_comp(place_of(2, 1)),
        Bindings("a").to_comp(place_of(1, 2)),
    ]
    cipher = Aead(bytes(32))
    sealed = cipher.seal([b"x"], here)
    assert len({here, *elsewhere}) == 5
    for bound in elsewhere:
        with pytest.raises(IntegrityError):
            cipher.open(sealed, 1, bound)


def test_bits_given_to_the_wrong_owner_are_noticed_by_the_customer() -> None:
    """Within a round they open; but then the pulls do not add up to N."""
    copied: list[bytes] = []

    def copy(message: Message, _: object) -> Message:
        assert isinstance(message, messages.PullingBits)
        copied.append(message.sealed)
        return msgspec.structs.replace(message, sealed=copied[0])

    class Copycat(Mallory):
        """Gives the second owner the first one's bits, in every round."""

        def send(self, sender: str, to: str, payload: bytes) -> None:
            if to == "owner-1":
                copied.clear()
            self._left = 0
            super().send(sender, to, payload)

    samba = lotor.Samba(lotor.UCB(), form="paper", insecure_key_bits=256, owners=2)
    with pytest.raises(ProtocolError, match="pulls instead of 50"):
        run_openly(
            samba,
            lotor.BernoulliArms([0.5] * 4),
            budget=50,
            transport=Copycat(messages.PullingBits, copy),
        )


def test_a_bit_copied_to_another_arm_of_one_owner_is_noticed() -> None:
    class Twice(MemoryTransport):
        """Sends an owner the bit of its first arm for its second one, too."""

        def send(self, sender: str, to: str, payload: bytes) -> None:
            if msgspec.msgpack.decode(payload)[0] == "samba/3/pulling-bits":
                message = msgspec.msgpack.decode(payload, type=messages.PullingBits)
                first = message.sealed[:SEALED_BIT]
                payload = msgspec.msgpack.encode(messages.PullingBits(message.place, first * 2))
            super().send(sender, to, payload)

    # Exploring always, so that the first arm is selected sooner or later.
    samba = lotor.Samba(lotor.EpsilonGreedy(1.0), form="paper", insecure_key_bits=256)
    with pytest.raises(ProtocolError, match=r"bits in round \d+, iteration 1 that select more"):
        run_openly(samba, lotor.BernoulliArms([0.5] * 2), budget=50, transport=Twice())


@pytest.mark.parametrize("maker", ["comp", "owner-1"])
def test_keys_are_sealed_to_owners_only(maker: str) -> None:
    """Controller has an identity that others can verify, and still gets no key."""
    samba = lotor.Samba(lotor.UCB(), form="paper", insecure_key_bits=256, owners=2)
    own = SealingKey()

    class Greedy(MemoryTransport):
        identity: Identity
        run: str

        def send(self, sender: str, to: str, payload: bytes) -> None:
            if to == maker and msgspec.msgpack.decode(payload)[0] == "samba/3/offers":
                signature = self.identity.sign(
                    own.public, run=self.run, purpose="sealing key", recipient=maker
                )
                offer = set_up.SignedOffer("controller", own.public, signature)
                payload = msgspec.msgpack.encode(set_up.Offers([offer]))
            super().send(sender, to, payload)

    greedy = Greedy()

    def spy(name: str, party: Party) -> Party:
        if isinstance(party, SambaPaperComp):
            # All identities of a simulation trust each other: borrow one that can sign.
            greedy.identity, greedy.run = party._ring.identity, party._ring.run
        return party

    with pytest.raises(
        ProtocolError, match=f"did not ask {maker} to seal .* to exactly the owners"
    ):
        run_openly(samba, lotor.BernoulliArms([0.5] * 4), budget=20, transport=greedy, wrap=spy)


def test_terms_of_another_run_policy_or_size_are_refused() -> None:
    terms = SambaPaperTerms(
        run="a",
        budget=100,
        owners={"owner-1": 2},
        policy="ucb",
        iterations=1,
        selection="bits",
        low=0.0,
        high=1.0,
        customer_key=b"",
    )
    terms.check("a", lotor.UCB())
    for run, policy in (("b", lotor.UCB()), ("a", lotor.Softmax())):
        with pytest.raises(ProtocolError, match="start it again with what was ordered"):
            terms.check(run, policy)
    wrong: list[dict[str, object]] = [
        {"owners": {}},
        {"owners": {"owner-1": 0}},
        {"budget": 1},
        {"iterations": 2},
        {"selection": "bytes"},
    ]
    for change in wrong:
        with pytest.raises(ProtocolError, match="no run can do"):
            msgspec.structs.replace(terms, **change).check("a", lotor.UCB())
    with pytest.raises(ProtocolError, match="may seal 2\\^32"):
        msgspec.structs.replace(terms, budget=2**31 - 1).check("a", lotor.UCB())


@pytest.mark.parametrize("name", ["controller", "comp", "owner-1"])
def test_a_party_started_for_another_policy_refuses(name: str) -> None:
    def other(who: str, party: Party) -> Party:
        if who == name:
            party._policy = lotor.Softmax()  # type: ignore[attr-defined]
        return party

    samba = lotor.Samba(lotor.UCB(), form="paper", insecure_key_bits=256)
    with pytest.raises(ProtocolError, match="started for softmax") as error:
        run_openly(samba, lotor.BernoulliArms([0.5] * 2), budget=9, wrap=other)
    assert error.value.__notes__ == [f"(raised at {name})"]


def test_an_owner_refuses_terms_that_are_not_its_own() -> None:
    """The customer orders a range of rewards, or arms, that an owner does not offer."""
    samba = lotor.Samba(lotor.UCB(), form="paper", insecure_key_bits=256)

    def other(name: str, party: Party) -> Party:
        if isinstance(party, SambaPaperOwner):
            party._scale = RewardScale(0.0, 2.0)
        return party

    with pytest.raises(ProtocolError, match="the terms of this run do not fit"):
        run_openly(samba, lotor.BernoulliArms([0.5] * 2), budget=9, wrap=other)


@pytest.mark.parametrize(
    ("kind", "field", "after"),
    [
        (set_up.SambaSetup, "signature", 0),
        (set_up.SambaSetup, "signature", 2),
        (set_up.SambaOffer, "public", 0),
        (set_up.SambaSealedKey, "sealed", 0),
        (set_up.SambaSealedKey, "signature", 1),
        (set_up.SambaSealedKey, "sealed", 2),
    ],
)
def test_keys_and_terms_cannot_be_replaced_by_who_relays_them(
    kind: type[Message], field: str, after: int
) -> None:
    with pytest.raises(IntegrityError, match="signature"):
        attack(kind, flip(field), after=after)


@pytest.mark.parametrize("maker", ["comp", "owner-1"])
def test_an_owner_signs_its_key_for_each_maker(maker: str) -> None:
    def change(message: Message, _: object) -> Message:
        assert isinstance(message, set_up.SambaOffer)
        signature = bytearray(message.signatures[maker])
        signature[20] ^= 1
        signatures = {**message.signatures, maker: bytes(signature)}
        return msgspec.structs.replace(message, signatures=signatures)

    with pytest.raises(IntegrityError, match="signature"):
        attack(set_up.SambaOffer, change, after=1)


def test_a_signature_for_each_maker_must_be_there() -> None:
    def change(message: Message, _: object) -> Message:
        return msgspec.structs.replace(message, signatures={})

    with pytest.raises(ProtocolError, match="did not sign its sealing key for exactly comp"):
        attack(set_up.SambaOffer, change, after=0)


def test_controller_cannot_change_the_terms() -> None:
    def greedy(message: Message, _: object) -> Message:
        assert isinstance(message, set_up.SambaSetup)
        terms = msgspec.structs.replace(terms_from(SambaPaperTerms, message.terms), budget=10**6)
        return msgspec.structs.replace(message, terms=terms.to_bytes())

    with pytest.raises(IntegrityError, match="terms of customer"):
        attack(set_up.SambaSetup, greedy, after=0)


@pytest.mark.parametrize("kind", [messages.PartialSums, messages.SambaTotal])
def test_sums_that_are_no_ciphertexts_name_their_sender(kind: type[Message]) -> None:
    def junk(message: Message, _: object) -> Message:
        if isinstance(message, messages.SambaTotal):
            return messages.SambaTotal(message.total[:-1])
        assert isinstance(message, messages.PartialSums)
        return messages.PartialSums([data[:-1] for data in message.sums])

    with pytest.raises(
        ProtocolError, match=r"^(owner-1|controller) sent something that is not a ciphertext"
    ):
        attack(kind, junk, after=0)


def test_a_total_beyond_what_n_pulls_can_pay_is_refused() -> None:
    def forge(name: str, party: Party) -> Party:
        if isinstance(party, SambaPaperCustomer):
            key = party._key.public

            def rich(_: Message, __: object) -> Message:
                return messages.SambaTotal(key.encrypt(20 << 64 | 1000 << 32).to_bytes())

            transport._change = rich
        return party

    transport = Mallory(messages.SambaTotal, replay, after=0)
    samba = lotor.Samba(lotor.UCB(), form="paper", insecure_key_bits=256)
    with pytest.raises(ProtocolError, match="pulls instead of 20"):
        run_openly(
            samba, lotor.BernoulliArms([0.5] * 4), budget=20, transport=transport, wrap=forge
        )


def test_an_unusable_key_is_refused_before_anything_is_pulled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[lotor.Decision] = []

    def pull(decision: lotor.Decision) -> float:
        asked.append(decision)
        return 1.0

    monkeypatch.setattr(PublicKey, "to_bytes", lambda key: b"junk")
    samba = lotor.Samba(lotor.UCB(), form="paper", insecure_key_bits=256)
    with pytest.raises(ProtocolError, match="customer sent an unusable Paillier key"):
        run_openly(samba, lotor.CallbackArms([pull] * 2), budget=20)
    assert asked == []


@pytest.mark.parametrize("kind", [messages.MaskedScores, set_up.SambaSealedKey, set_up.SambaOffer])
def test_any_altered_byte_is_a_clear_error_or_changes_nothing(kind: type[Message]) -> None:
    """Every byte of one message, flipped: never a bare Python error."""

    def flipped(position: int) -> Change:
        def change(message: Message, _: object) -> bytes:
            payload = bytearray(msgspec.msgpack.encode(message))
            payload[position % len(payload)] ^= 0x80
            return bytes(payload)

        return change

    for position in range(0, 240, 3):
        with pytest.raises(LotorError):
            attack(kind, flipped(position), after=1)
