"""What is prepared for which steps: the same for both servers, and no place twice."""

import pytest
from msgspec.structs import replace

import lotor
from lotor.core.errors import InputError, ProtocolError, VersionError
from lotor.core.fixed_point import RewardScale
from lotor.protocols.dealerless.schedule import (
    BATCH_BYTES,
    PART_BYTES,
    GarbledCircuit,
    SharesCircuit,
    parts_of,
)
from lotor.protocols.ppcb.shared.circuits import PPCBSharedCircuits
from lotor.protocols.ppcb.shared.form import PPCBShared
from lotor.protocols.ppcb.terms import Alone, PPCBTerms


def terms_of(arms: int, features: int, budget: int = 100, **options: object) -> PPCBTerms:
    protocol = lotor.PPCB(**options)  # type: ignore[arg-type]
    terms = protocol.terms(
        "run", budget=budget, arms=arms, owners={"owner": features}, scale=RewardScale(0, 1)
    )
    return PPCBSharedCircuits.ordered(terms)


@pytest.mark.parametrize(
    ("arms", "features", "reciprocal", "batch"),
    [(4, 6, "shares", 16), (10, 20, "shares", 16), (10, 20, "garbled", 16), (10, 100, "shares", 1)],
)
def test_batches_are_cut_to_frames_and_hashes_to_keys(
    arms: int, features: int, reciprocal: str, batch: int
) -> None:
    made = PPCBSharedCircuits(terms_of(arms, features, reciprocal=reciprocal)).schedule
    assert made.size == batch
    assert made.security_bits >= 100
    largest = made.largest
    assert len(largest.steps) == batch
    assert made.bytes_of(largest) <= BATCH_BYTES or batch == 1
    for chooser in (0, 1):
        layout = made.layout(largest, chooser)
        parts = [*layout.word_parts, *layout.table_parts, *parts_of(layout.column_bytes)]
        assert max(parts) <= PART_BYTES


@pytest.mark.parametrize("options", [{}, {"delay": 7}, {"delay": 7, "keep": True}])
def test_every_step_is_in_one_batch_with_all_that_it_computes(options: dict[str, object]) -> None:
    terms = terms_of(3, 4, budget=50, **options)
    circuits = PPCBSharedCircuits(terms)
    made = circuits.schedule
    batches = [made.batch(number) for number in range(made.count)]
    assert [t for batch in batches for t in batch.steps] == list(range(1, terms.ends + 1))
    computed: list[SharesCircuit | GarbledCircuit] = [*made.shares, *made.garbled]
    for each in computed:
        steps = [t for batch in batches for t in batch.of(each)]
        assert steps == list(range(each.first, each.last + 1))
    assert len(range(circuits.choose.first, circuits.choose.last + 1)) == terms.steps
    assert len(range(circuits.learn.first, circuits.learn.last + 1)) == terms.learnt
    assert all(made.of(t).number == batch.number for batch in batches for t in batch.steps)


def test_roles_alternate_so_that_both_servers_pay_alike() -> None:
    made = PPCBSharedCircuits(terms_of(3, 4, budget=64)).schedule
    evaluators = [made.batch(number).evaluator for number in range(made.count)]
    assert evaluators == [1, 0] * (made.count // 2)
    for number in range(made.count):
        batch = made.batch(number)
        rows = [made.layout(batch, chooser).rows for chooser in (0, 1)]
        assert rows[batch.evaluator] > rows[1 - batch.evaluator]
        assert made.layout(batch, batch.evaluator).table_parts
        assert not made.layout(batch, 1 - batch.evaluator).table_parts


def test_both_servers_do_as_much_in_a_run() -> None:
    arms = lotor.ContextualArms.lookalike(rounds=64, arms=3, d=3, seed=1)
    parties = lotor.run(lotor.PPCB(), arms, budget=64, seed=1).parties
    sent = [parties[name].bytes_sent for name in ("server-0", "server-1")]
    assert max(sent) < 1.1 * min(sent)


def test_a_step_that_takes_too_much_is_refused() -> None:
    with pytest.raises(InputError, match=r"a step needs [\d.]+ MiB .* form='dealt'"):
        terms_of(10, 600)


def test_another_version_does_not_go_on_with_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    terms, refused = terms_of(3, 4), "make other things for each other than this version"
    PPCBSharedCircuits(terms)
    assert terms.alone is not None
    for alone in (Alone("shares", "x"), Alone("garbled", terms.alone.prepared)):
        with pytest.raises(VersionError, match=refused):
            PPCBSharedCircuits(replace(terms, alone=alone))
    # Other batches, other rows and other masks of products.
    for place, value in (
        ("lotor.protocols.dealerless.schedule.MOST_TOGETHER", 5),
        ("lotor.crypto.sharing.supply._PIECE", 2),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(place, value)
            with pytest.raises(VersionError, match=refused):
                PPCBSharedCircuits(terms)


def test_less_than_100_bits_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lotor.crypto.ot.hash.LEAST_SECURITY_BITS", 112)
    with pytest.raises(InputError, match="leave 109 bits of security, and 112 is the least"):
        terms_of(10, 20)


def test_orders_with_a_dealer_are_not_for_this_form() -> None:
    terms = lotor.PPCB(form="dealt").terms(
        "run", budget=10, arms=3, owners={"owner": 2}, scale=RewardScale(0, 1)
    )
    with pytest.raises(ProtocolError, match="order for a run with a dealer"):
        PPCBShared().plan(terms.to_bytes())
    junk = replace(terms, alone=Alone("none", "x"))
    with pytest.raises(ProtocolError, match="reciprocal is 'none'"):
        PPCBShared().plan(junk.to_bytes())
    unsaid = replace(terms, alone=Alone("shares"))
    with pytest.raises(ProtocolError, match="does not say what the servers make"):
        PPCBShared().plan(unsaid.to_bytes())


def test_rings_are_refused_where_rounding_might_leave_them() -> None:
    """And where x·u might leave what reciprocals are right for."""
    terms_of(3, 20, budget=250_000).check()
    with pytest.raises(InputError, match="rounding in 260000 steps with 20 features"):
        terms_of(3, 20, budget=260_000)
    terms_of(3, 20, budget=1 << 19, policy=lotor.LinearEpsilonGreedy(ridge=1.1)).check()


@pytest.mark.parametrize(
    "options",
    [
        {"delay": 50},
        {"delay": 49, "keep": True},
        {"delay": 20, "reciprocal": "garbled"},
        {"delay": 15, "privacy_budget": 80.0},
    ],
)
def test_no_batch_takes_more_than_the_size_was_chosen_for(options: dict[str, object]) -> None:
    terms = terms_of(10, 60, budget=50, **options)
    made = PPCBSharedCircuits(terms).schedule
    sizes = [made.bytes_of(made.batch(number)) for number in range(made.count)]
    assert max(sizes) == made.bytes_of(made.largest) <= BATCH_BYTES
    computed: list[SharesCircuit | GarbledCircuit] = [*made.shares, *made.garbled]
    assert all(each.first <= each.last for each in computed)


@pytest.mark.parametrize("options", [{"delay": 50, "reciprocal": "garbled"}, {"delay": 50}])
def test_a_choice_that_takes_too_much_is_refused_whatever_is_learnt(
    options: dict[str, object],
) -> None:
    with pytest.raises(InputError, match=r"a step needs [\d.]+ MiB"):
        terms_of(3000, 100, budget=50, **options)
