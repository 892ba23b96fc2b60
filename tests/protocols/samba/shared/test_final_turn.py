"""Who alters what the customer is told is noticed, or what is not claimed is shown."""

from collections.abc import Callable

import msgspec
import pytest

import lotor
from helpers import Outcome, run_openly
from lotor.core.effects import Effect, Message, Send
from lotor.core.errors import IntegrityError, ProtocolError
from lotor.protocols.party import Party
from lotor.protocols.samba.keys import KeyRing
from lotor.protocols.samba.shared import final_turn, messages
from lotor.protocols.samba.shared.wire import COMP_BITS, CONTROLLER_BITS
from mallory import Change, Mallory, altered, cut, flipped
from relayed import Relayed

ARMS, BUDGET = lotor.BernoulliArms([0.2, 0.4, 0.6, 0.8]), 12


def attack(kind: type[Message], change: Change, reveal: str = "best") -> Outcome:
    samba = lotor.Samba(owners=2, reveal=reveal)  # type: ignore[arg-type]
    return run_openly(samba, ARMS, budget=BUDGET, transport=Mallory(kind, change, 0))


@pytest.mark.parametrize("position", [0, CONTROLLER_BITS.size])
def test_codes_that_were_altered_are_noticed(position: int) -> None:
    """A colour without its tags; a tag that is not met does not matter."""
    with pytest.raises(IntegrityError, match="that the customer is told does not fit its tag"):
        attack(messages.FinalCodes, altered("codes", lambda data: flipped(data, position)))


def test_codes_of_another_size_or_place_are_refused() -> None:
    for change in (altered("codes", lambda data: data[:-1]), altered("place", lambda _: b"")):
        with pytest.raises(ProtocolError, match="controller sent FinalCodes of"):
            attack(messages.FinalCodes, change)


def sealed(change: Callable[[bytes], bytes]) -> Change:
    def alter(message: Message, _: object) -> Message:
        assert isinstance(message, messages.FinalBits | messages.SealedCounts)
        inner = msgspec.structs.replace(message.sealed, sealed=change(message.sealed.sealed))
        return msgspec.structs.replace(message, sealed=inner)

    return alter


@pytest.mark.parametrize(
    ("kind", "reveal", "whose"),
    [
        (messages.FinalBits, "best", "signature on the result of the final turn"),
        (messages.SealedCounts, "counts", "signature on the counts of arms"),
    ],
)
def test_controller_cannot_replace_what_was_sealed(
    kind: type[Message], reveal: str, whose: str
) -> None:
    with pytest.raises(IntegrityError, match=whose):
        attack(kind, sealed(lambda data: flipped(data, 40)), reveal)
    with pytest.raises(ProtocolError, match="bytes that are not one"):
        attack(kind, cut, reveal)


def cheating(
    monkeypatch: pytest.MonkeyPatch, purpose: str, change: Callable[[bytes], bytes]
) -> None:
    """Somebody seals something else to the customer."""
    honest = KeyRing.seal_to

    def seal_to(self: KeyRing, recipient: str, public: bytes, secret: bytes, why: str) -> object:
        return honest(self, recipient, public, change(secret) if why == purpose else secret, why)

    monkeypatch.setattr(KeyRing, "seal_to", seal_to)


@pytest.mark.parametrize("position", [0, 1, COMP_BITS.size])
def test_a_comp_that_alters_the_result_is_noticed(
    monkeypatch: pytest.MonkeyPatch, position: int
) -> None:
    cheating(monkeypatch, final_turn.FINAL_BITS, lambda data: flipped(data, position))
    with pytest.raises(IntegrityError, match="that the customer is told does not fit its tag"):
        run_openly(lotor.Samba(owners=2, reveal="best"), ARMS, budget=BUDGET)


@pytest.mark.parametrize("reveal", ["best", "counts"])
def test_another_size_names_its_maker(monkeypatch: pytest.MonkeyPatch, reveal: str) -> None:
    purpose = {"best": final_turn.FINAL_BITS, "counts": final_turn.ARM_COUNTS}[reveal]
    cheating(monkeypatch, purpose, lambda data: data[:-1])
    with pytest.raises(ProtocolError, match=r"^(comp|owner-1) sealed \d+ bytes as its"):
        run_openly(lotor.Samba(owners=2, reveal=reveal), ARMS, budget=BUDGET)  # type: ignore[arg-type]


def test_counts_that_do_not_add_up_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    cheating(monkeypatch, final_turn.ARM_COUNTS, lambda data: flipped(data, 0))
    with pytest.raises(ProtocolError, match="outcomes together, but the total counts 12"):
        run_openly(lotor.Samba(owners=1, reveal="counts"), ARMS, budget=BUDGET)


def altering(change: Callable[[list[tuple[int, int, int]]], list[tuple[int, int, int]]]) -> Outcome:
    """A Controller that sends the customer other codes than it garbled."""

    def relay(effect: Effect) -> Effect:
        if isinstance(effect, Send) and isinstance(effect.message, messages.FinalCodes):
            rows = list(CONTROLLER_BITS.iter_unpack(effect.message.codes))
            codes = b"".join(CONTROLLER_BITS.pack(*row) for row in change(rows))
            return Send(effect.to, msgspec.structs.replace(effect.message, codes=codes))
        return effect

    def wrap(name: str, party: Party) -> Party:
        return Relayed(party, relay) if name == "controller" else party

    samba = lotor.Samba(owners=2, reveal="best")
    return run_openly(samba, ARMS, budget=BUDGET, wrap=wrap)


def test_a_controller_that_turns_all_bits_over_names_too_many_arms() -> None:
    with pytest.raises(ProtocolError, match="names 3 arms instead of one: controller"):
        altering(lambda rows: [(colour ^ 1, one, zero) for colour, zero, one in rows])


def test_a_controller_that_spoils_one_tag_learns_whether_it_was_met() -> None:
    """What docs/security/shared-argmax.md says is not prevented."""
    honest = altering(lambda rows: rows).parties["customer"].revealed
    assert honest is not None

    def spoiled(arm: int) -> Callable[[list[tuple[int, int, int]]], list[tuple[int, int, int]]]:
        return lambda rows: [
            (colour, zero, one ^ 1) if at == arm else (colour, zero, one)
            for at, (colour, zero, one) in enumerate(rows)
        ]

    for arm in range(4):
        if arm == honest.arm:
            with pytest.raises(IntegrityError, match="does not fit its tag"):
                altering(spoiled(arm))
        else:
            altering(spoiled(arm))
