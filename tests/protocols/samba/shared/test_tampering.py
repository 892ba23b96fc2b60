"""What somebody on the way of messages, or a server that cheats, can do to the shared form."""

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from itertools import pairwise

import msgspec
import numpy as np
import pytest

import lotor
from helpers import Outcome, run_openly
from lotor.core.effects import Checkpoint, Effect, Message, Once, Send
from lotor.core.errors import IntegrityError, ProtocolError, VersionError
from lotor.core.fixed_point import RewardScale
from lotor.protocols.garbled import messages as garbled
from lotor.protocols.garbled.evaluator import Bits
from lotor.protocols.garbled.schedule import CircuitBatch
from lotor.protocols.party import Run
from lotor.protocols.samba.shared import comp as comp_module
from lotor.protocols.samba.shared import messages
from lotor.protocols.samba.shared.evaluation import Evaluation
from lotor.protocols.samba.shared.terms import SambaSharedTerms
from lotor.protocols.samba.shared.wire import COMP_BITS, CONTROLLER_BITS
from lotor.protocols.samba.tagged_totals import P, TaggedShare
from lotor.protocols.samba.terms import terms_from
from lotor.runtime.drive import drive
from lotor.transport import MemoryTransport
from mallory import Change, Mallory, altered, cut, flipped, previous
from rebuilding import rebuildable
from relayed import Relayed

ARMS, BUDGET = lotor.BernoulliArms([0.2, 0.4, 0.6, 0.8]), 30


def attack(kind: type[Message], change: Change, *, after: int = 3) -> Outcome:
    samba = lotor.Samba(lotor.UCB(), owners=2)
    return run_openly(samba, ARMS, budget=BUDGET, transport=Mallory(kind, change, after))


def flip(field: str, position: int = 0) -> Change:
    return altered(field, lambda data: flipped(data, position))


PLACED: list[tuple[type[Message], str, str, int]] = [
    (garbled.Columns, "columns", "controller", 0),
    (garbled.GarbledTables, "tables", "comp", 0),
    (messages.CoveredScores, "scores", "controller", 3),
    (garbled.InputLabels, "labels", "comp", 3),
    (messages.ResultBits, "bits", "controller", 3),
    (messages.ResultShares, "controller", "owner-2", 3),
    (messages.ResultShares, "comp", "owner-2", 3),
]


@pytest.mark.parametrize(("kind", "field", "reader", "after"), PLACED)
def test_other_sizes_are_refused(kind: type[Message], field: str, reader: str, after: int) -> None:
    for change in (lambda data: data[:-1], lambda data: data + b"\0", lambda _: b""):
        with pytest.raises(ProtocolError, match=f"sent {kind.__name__} of") as error:
            attack(kind, altered(field, change), after=after)
        assert error.value.__notes__ == [f"(raised at {reader})"]


@pytest.mark.parametrize(("kind", "field", "reader", "after"), PLACED)
def test_messages_of_another_place_are_refused(
    kind: type[Message], field: str, reader: str, after: int
) -> None:
    late = max(after, 1) if kind is not garbled.GarbledTables else 1
    with pytest.raises(ProtocolError, match="is out of step"):
        attack(kind, previous, after=late + 1 if kind is messages.ResultShares else late)
    with pytest.raises(ProtocolError, match="no place at all"):
        attack(kind, altered("place", lambda _: b""), after=after)


@pytest.mark.parametrize("kind", [kind for kind, *_ in PLACED])
def test_messages_that_are_cut_are_refused(kind: type[Message]) -> None:
    with pytest.raises(ProtocolError, match="bytes that are not one"):
        attack(kind, cut, after=1)


@pytest.mark.parametrize("position", [0, COMP_BITS.size - 1, COMP_BITS.size + 1])
def test_comp_cannot_alter_a_result_unnoticed(position: int) -> None:
    with pytest.raises(IntegrityError, match="round 8, iteration 1 does not fit its tag") as error:
        attack(messages.ResultBits, flip("bits", position))
    assert "comp or controller" in str(error.value)


@pytest.mark.parametrize("field", ["controller", "comp"])
def test_a_colour_that_was_altered_alone_is_noticed(field: str) -> None:
    with pytest.raises(IntegrityError, match="does not fit its tag"):
        attack(messages.ResultShares, flip(field), after=4)


def test_owners_results_cannot_be_exchanged() -> None:
    """Comp's pads belong to one owner and one place."""

    def exchanged(message: Message, _: object) -> Message:
        assert isinstance(message, messages.ResultBits)
        half = len(message.bits) // 2
        return msgspec.structs.replace(message, bits=message.bits[half:] + message.bits[:half])

    with pytest.raises(IntegrityError, match="does not fit its tag"):
        attack(messages.ResultBits, exchanged)


@pytest.mark.parametrize("position", [0, 100, 4000])
def test_altered_tables_and_labels_end_the_run_or_change_nothing(position: int) -> None:
    """A table row that is not met does not matter; one that is met gives a label without a tag."""
    plain = lotor.run(lotor.UCB(), ARMS, budget=BUDGET, seed=1)
    for kind, field in ((garbled.GarbledTables, "tables"), (garbled.InputLabels, "labels")):
        with suppress(IntegrityError):
            assert attack(kind, flip(field, position), after=0).arms == plain.arms


def test_the_tables_of_a_wrong_delta_are_noticed() -> None:
    with pytest.raises(IntegrityError, match="does not fit its tag"):
        attack(garbled.GarbledTables, altered("tables", lambda data: bytes(len(data))), after=0)


def shifted(field: str, change: Callable[[TaggedShare], TaggedShare]) -> Change:
    return altered(field, lambda data: change(TaggedShare.from_bytes(data, "it")).to_bytes())


@pytest.mark.parametrize(
    "change",
    [
        lambda share: TaggedShare((share.number + 1) % P, share.tag),
        lambda share: TaggedShare((share.number + 1) % P, (share.tag + 1) % P),
        lambda share: TaggedShare(share.number, (share.tag + 1) % P),
    ],
)
def test_a_changed_total_is_noticed(change: Callable[[TaggedShare], TaggedShare]) -> None:
    for kind, field in ((messages.SumShare, "share"), (messages.SharedTotal, "controller")):
        with pytest.raises(IntegrityError, match="its tag does not fit: controller or comp"):
            attack(kind, shifted(field, change), after=0)


def test_controller_cannot_replace_what_comp_sealed() -> None:
    def change(message: Message, _: object) -> Message:
        assert isinstance(message, messages.SharedTotal)
        sealed = msgspec.structs.replace(message.comp, sealed=flipped(message.comp.sealed, 5))
        return msgspec.structs.replace(message, comp=sealed)

    with pytest.raises(IntegrityError, match="signature on the sum of comp's shares"):
        attack(messages.SharedTotal, change, after=0)


@pytest.mark.parametrize("kind", [messages.SumShare, messages.SharedTotal])
def test_a_share_that_is_none_is_refused(kind: type[Message]) -> None:
    field = kind.__struct_fields__[0]
    for data in (b"", bytes(31), b"\xff" * 32):
        with pytest.raises(ProtocolError, match="not a share of a total"):
            attack(kind, altered(field, lambda _, data=data: data), after=0)  # type: ignore[misc]


@pytest.mark.parametrize("kind", [messages.SharedTieKey, garbled.LabelHashKey])
def test_keys_of_another_length_are_refused(kind: type[Message]) -> None:
    with pytest.raises(ProtocolError, match="a key of 31 bytes, not 32"):
        attack(kind, altered("key", lambda data: data[:-1]), after=0)


def test_a_comp_that_flips_a_bit_of_its_input_is_not_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What docs/security/shared-argmax.md does not claim: arm 0 wins every round from then on."""

    class Cheating(Evaluation):
        def _shares(self, batch: CircuitBatch) -> tuple[Bits, ...]:
            honest = self.pads.shares
            top = np.zeros(4, np.uint64)
            top[0] = 1 << 62
            self.pads.shares = lambda t, l: honest(t, l) ^ top  # type: ignore[method-assign]
            try:
                return super()._shares(batch)
            finally:
                self.pads.shares = honest  # type: ignore[method-assign]

    monkeypatch.setattr(comp_module, "Evaluation", Cheating)
    outcome = run_openly(lotor.Samba(lotor.UCB(), owners=2), ARMS, budget=BUDGET)
    assert outcome.arms[4:] == [0] * (BUDGET - 4)


def test_a_run_is_not_restored_by_a_version_that_garbles_otherwise(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Other turns under the same labels and transfers would give choices away."""
    made = rebuildable(lotor.Samba(), Run("aa", 4, BUDGET, RewardScale(), 1, ARMS))
    snapshots: dict[str, bytes] = {}

    def kept(name: str, effect: Effect) -> Effect:
        if isinstance(effect, Checkpoint):
            snapshots[name] = effect.snapshot()
        return effect

    parties = {name: Relayed(one.party, partial(kept, name)) for name, one in made.items()}
    drive(parties, MemoryTransport(), ARMS.start(1))
    for name in ("controller", "comp"):
        next(made[name].rebuild(snapshots[name]).steps())
        with monkeypatch.context() as patch:
            patch.setattr("lotor.protocols.garbled.schedule.MOST_TOGETHER", 8)
            with pytest.raises(VersionError, match="finish the run with the version that began it"):
                next(made[name].rebuild(snapshots[name]).steps())


def test_an_owner_notices_two_selected_arms() -> None:
    """A Controller that exchanges colours and both tags is not caught but for this."""

    def exchanged(effect: Effect) -> Effect:
        if isinstance(effect, Send) and isinstance(effect.message, messages.ResultShares):
            rows = CONTROLLER_BITS.iter_unpack(effect.message.controller)
            other = [CONTROLLER_BITS.pack(c ^ 1, one, zero) for c, zero, one in rows]
            changed = msgspec.structs.replace(effect.message, controller=b"".join(other))
            return Send(effect.to, changed)
        return effect

    samba = lotor.Samba(lotor.UCB(), owners=2)
    with pytest.raises(ProtocolError, match="selects 2 arms of owner-"):
        run_openly(
            samba,
            ARMS,
            budget=BUDGET,
            wrap=lambda name, party: Relayed(party, exchanged) if name == "controller" else party,
        )


def test_terms_are_checked() -> None:
    samba = lotor.Samba(lotor.UCB(), owners=2)
    form = samba.in_form()
    recorded = run_openly(samba, ARMS, budget=BUDGET).recorder.exchanges[0].message
    terms = terms_from(SambaSharedTerms, recorded.terms)  # type: ignore[attr-defined]
    assert form.plan(terms.to_bytes()).k == 4
    for change, complaint in (
        ({"batch": 5}, "batches of 5 argmaxes of 488 AND gates, where this version garbles 16"),
        ({"gates": 9}, "batches of 16 argmaxes of 9 AND gates"),
        ({"customer_key": b"short"}, "no key to seal the total to"),
        ({"owners": {"lyon": 9000}, "budget": 10_000}, "9000 arms do not fit the messages"),
        ({"budget": 3}, "which no run can do"),
    ):
        altered_terms = msgspec.structs.replace(terms, **change)
        with pytest.raises(ProtocolError, match=complaint):
            form.plan(altered_terms.to_bytes())


def test_once_is_yielded_before_what_it_covers() -> None:
    """The labels of scores leave only after these were handed to the journal."""
    kinds: list[type] = []

    def noted(effect: Effect) -> Effect:
        if isinstance(effect, Once):
            kinds.append(Once)
        elif isinstance(effect, Send):
            kinds.append(type(effect.message))
        return effect

    run_openly(
        lotor.Samba(owners=2),
        ARMS,
        budget=9,
        wrap=lambda name, party: Relayed(party, noted) if name == "controller" else party,
    )
    for before, kind in pairwise(kinds):
        assert (kind is garbled.InputLabels) == (before is Once)
    assert kinds.count(Once) == 9 - 4
