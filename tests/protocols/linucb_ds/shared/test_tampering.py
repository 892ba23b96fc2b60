"""What somebody on the way of messages can do to the shared form, and what it refuses."""

from collections.abc import Callable
from functools import partial
from itertools import pairwise

import msgspec
import pytest

import lotor
from helpers import run_openly
from lotor.core.effects import Checkpoint, Effect, Message, Once, Send
from lotor.core.errors import InputError, IntegrityError, LotorError, ProtocolError
from lotor.core.fixed_point import MAXIMAL_BUDGET
from lotor.protocols.garbled import messages as garbled
from lotor.protocols.linucb_ds.shared import messages
from lotor.protocols.linucb_ds.shared.schedule import (
    COORDINATES_TOGETHER,
    SUM_EPOCH,
    RoundSchedule,
    size_of,
)
from lotor.protocols.linucb_ds.shared.terms import LinUCBSharedTerms
from lotor.protocols.linucb_ds.terms import terms_from
from lotor.protocols.linucb_ds.theta import total_shares
from mallory import Change, Mallory, altered, cut, flipped, previous
from protocols.linucb_ds.shared.stage import shared_run, some_arms
from relayed import Relayed

PLACED: list[tuple[type[Message], str, str]] = [
    (messages.ProductBatch, "products", "comp"),
    (messages.CoveredRows, "rows", "comp"),
    (messages.CoveredRows, "shares", "comp"),
    (garbled.InputLabels, "labels", "principal"),
]


def attack(kind: type[Message], change: Change, after: int = 0) -> None:
    shared_run(budget=6, transport=Mallory(kind, change, after))


@pytest.mark.parametrize(("kind", "field", "reader"), PLACED)
def test_other_sizes_are_refused(kind: type[Message], field: str, reader: str) -> None:
    for change in (lambda data: data[:-1], lambda data: data + b"\0", lambda _: b""):
        with pytest.raises(ProtocolError) as error:
            attack(kind, altered(field, change))
        assert error.value.__notes__ == [f"(raised at {reader})"]


@pytest.mark.parametrize(
    "kind", [messages.EncryptedCoordinate, messages.CoveredRows, garbled.InputLabels]
)
def test_messages_of_another_place_are_refused(kind: type[Message]) -> None:
    with pytest.raises(ProtocolError, match="is out of step"):
        attack(kind, previous, after=1)
    with pytest.raises(ProtocolError, match="no place at all"):
        attack(kind, altered("place", lambda _: b""))


@pytest.mark.parametrize(
    "kind", [messages.ProductPublicKey, messages.ProductBatch, messages.SumColumns]
)
def test_messages_that_are_cut_are_refused(kind: type[Message]) -> None:
    with pytest.raises(ProtocolError, match="bytes that are not one"):
        attack(kind, cut)


@pytest.mark.parametrize(
    ("kind", "field", "sender"),
    [
        (messages.ProductPublicKey, "public", "comp"),
        (messages.EncryptedCoordinate, "coordinate", "comp"),
        (messages.ProductBatch, "products", "principal"),
        (messages.SumColumns, "columns", "principal"),
        (messages.SumWords, "words", "comp"),
    ],
)
def test_what_is_no_key_ciphertext_or_product_is_refused(
    kind: type[Message], field: str, sender: str
) -> None:
    """Flipping a byte is noticed where a check stands in it, a wrong length everywhere."""
    changes: list[Callable[[bytes], bytes]] = [lambda data: data[: len(data) // 2]]
    if kind in (messages.ProductPublicKey, messages.EncryptedCoordinate, messages.ProductBatch):
        changes.append(lambda data: flipped(data, 200))
    for change in changes:
        with pytest.raises(ProtocolError, match=f"{sender} sent"):
            attack(kind, altered(field, change))


def test_labels_that_were_altered_are_noticed() -> None:
    for change in (lambda data: bytes(len(data)), lambda data: flipped(data, 700)):
        with pytest.raises(ProtocolError, match=r"comp sent .* an output's tag does not belong"):
            attack(garbled.InputLabels, altered("labels", change))


def test_comp_s_share_of_the_total_cannot_be_replaced() -> None:
    def other(message: Message, _: object) -> Message:
        assert isinstance(message, total_shares.TotalShares)
        sealed = msgspec.structs.replace(message.comp, sealed=flipped(message.comp.sealed, 5))
        return msgspec.structs.replace(message, comp=sealed)

    with pytest.raises(IntegrityError, match="signature on the share of the total of comp"):
        attack(total_shares.TotalShares, other)


def test_a_total_that_no_run_pays_is_refused() -> None:
    with pytest.raises(ProtocolError, match="larger than 6 pulls can pay"):
        attack(
            total_shares.TotalShares,
            altered("principal", lambda data: bytes(data[:-3]) + bytes([data[-3] ^ 1]) + data[-2:]),
        )
    with pytest.raises(ProtocolError, match="something else than 1 shares"):
        attack(total_shares.TotalShares, altered("principal", lambda data: data[:-1]))


def test_terms_without_a_key_for_the_total_are_refused() -> None:
    form = lotor.LinUCBDS(form="shared").in_form()
    outcome = shared_run(budget=2)
    terms = terms_from(LinUCBSharedTerms, outcome.recorder.exchanges[0].message.terms)  # type: ignore[attr-defined]
    assert form.plan(terms.to_bytes()).budget == 2
    with pytest.raises(ProtocolError, match="no key to seal the total to"):
        form.plan(msgspec.structs.replace(terms, customer_key=b"short").to_bytes())
    with pytest.raises(ProtocolError, match="slots of 62 bits"):
        form.plan(msgspec.structs.replace(terms, slot_bits=62).to_bytes())


def test_more_arms_than_messages_hold_are_refused() -> None:
    with pytest.raises(InputError, match="4001 arms in 2 dimensions do not fit"):
        lotor.run(lotor.LinUCBDS(form="shared"), some_arms(k=4001, d=2), budget=2)
    with pytest.raises(InputError, match="coordinates of all arms together"):
        size_of(4000, 300)
    with pytest.raises(InputError, match="512 dimensions"):
        size_of(2, 513)


def test_a_run_that_tells_too_much_is_refused() -> None:
    """The distance grows with the rounds, and the refusal names the largest number that fits."""
    for k, d in ((1000, 100), (3999, 1), (50, 5)):
        size = size_of(k, d)
        with pytest.raises(InputError, match=r"2\^-2[0-9] from telling Comp nothing") as error:
            RoundSchedule(k, d, 1 << 36, size)
        fitting = int(str(error.value).split("order at most ")[1].split(" ")[0].replace(",", ""))
        assert fitting > 500_000
        assert -35.1 < RoundSchedule(k, d, fitting, size).distance <= -35
        with pytest.raises(InputError, match="from telling Comp nothing"):
            RoundSchedule(k, d, fitting + 1, size)


def test_products_and_circuits_use_other_batches_of_the_transfers() -> None:
    """Products have an epoch of their own, 2^48 batches further."""
    assert 0 < MAXIMAL_BUDGET < SUM_EPOCH << 48


def test_an_encrypted_number_of_any_size_is_not_kept() -> None:
    with pytest.raises(ProtocolError, match="comp sent 300000 bytes as an encrypted number"):
        attack(messages.EncryptedCoordinate, altered("coordinate", lambda _: bytes(300_000)))


def test_options_of_the_paper_are_refused() -> None:
    for option in ({"key_bits": 2048}, {"slot_bits": 96}, {"workers": 2}):
        with pytest.raises(InputError, match="an option of the paper's form"):
            lotor.LinUCBDS(form="shared", **option)  # type: ignore[arg-type]


@pytest.mark.usefixtures("real_transfers")
def test_real_base_transfers_that_are_none_are_refused() -> None:
    for change in (lambda data: data[:-1], lambda _: b""):
        with pytest.raises(LotorError):
            attack(garbled.BaseOffer, altered("offer", change))


def test_once_is_yielded_before_what_it_covers() -> None:
    """Rows, labels, choices and words of the total leave only after they were handed over."""
    kinds: dict[str, list[type]] = {"principal": [], "comp": []}

    def noted(name: str, effect: Effect) -> Effect:
        if isinstance(effect, Once):
            kinds[name].append(Once)
        elif isinstance(effect, Send):
            kinds[name].append(type(effect.message))
        return effect

    run_openly(
        lotor.LinUCBDS(),
        some_arms(),
        budget=6,
        wrap=lambda name, party: Relayed(party, partial(noted, name)) if name in kinds else party,
    )
    covered = {
        "principal": (messages.CoveredRows, messages.SumColumns),
        "comp": (garbled.InputLabels, messages.SumWords),
    }
    for name, found in kinds.items():
        for before, kind in pairwise(found):
            assert (kind in covered[name]) == (before is Once)
        assert found.count(Once) == 5 + 1


def test_a_batch_of_products_is_on_the_disk_before_it_leaves() -> None:
    """Its noise cannot be drawn again: a restarted P has to send the very same message."""
    effects: list[Effect] = []

    def noted(effect: Effect) -> Effect:
        effects.append(effect)
        return effect

    run_openly(
        lotor.LinUCBDS(),
        some_arms(k=3000, d=2),  # two rounds for each batch of products
        budget=6,
        wrap=lambda name, party: Relayed(party, noted) if name == "principal" else party,
    )
    sent = 0
    for before, effect in pairwise(effects):
        if isinstance(effect, Send) and isinstance(effect.message, messages.ProductBatch):
            assert isinstance(before, Checkpoint)
            assert before.durable
            sent += 1
    assert sent == 3


def test_coordinates_are_on_the_disk_before_more_are_asked_for() -> None:
    """Comp keeps what it sent until then, and sends all of it again to a P that comes back."""
    effects: list[Effect] = []

    def noted(effect: Effect) -> Effect:
        effects.append(effect)
        return effect

    run_openly(
        lotor.LinUCBDS(),
        some_arms(k=2, d=2 * COORDINATES_TOGETHER + 1),
        budget=2,
        wrap=lambda name, party: Relayed(party, noted) if name == "principal" else party,
    )
    asked = 0
    for before, effect in pairwise(effects):
        if isinstance(effect, Send) and isinstance(effect.message, messages.CoordinatesWanted):
            assert isinstance(before, Checkpoint)
            assert before.durable
            asked += 1
    assert asked == 3
