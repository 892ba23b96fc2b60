"""What a run takes, how safe it is, and what is refused before any key is made."""

from math import log2
from pathlib import Path

import msgspec
import pytest

import lotor
from helpers import HopTransport, run_openly
from lotor.core.errors import InputError, ProtocolError, VersionError
from lotor.core.fixed_point import RewardScale
from lotor.policies.optimistic import BatchedOFUL
from lotor.protocols.garbled import messages as garbled
from lotor.protocols.helba.shared import messages
from lotor.protocols.helba.shared.costs import HelbaSharedCosts
from lotor.protocols.helba.shared.form import HelbaShared, ordered_setting
from lotor.protocols.helba.shared.setting import HelbaSharedSetting
from lotor.protocols.helba.shared.terms import shared_terms_from
from protocols.helba.shared.stage import POLICIES, QUADRATIC, ROOT, SCALE, setting_of

FORM = HelbaShared()
PAGE = Path(__file__).parents[4].joinpath("docs", "security", "private-contexts.md").read_text()


@pytest.mark.parametrize("policy", POLICIES)
def test_a_run_takes_what_was_forecast(policy: BatchedOFUL) -> None:
    arms = lotor.LinearContexts.random(32, arms=3, d=2, length=policy.L, seed=1)
    helba = lotor.Helba(policy)
    setting = ordered_setting(
        helba, "", budget=32, arms=3, d=2, scale=RewardScale(*arms.reward_range)
    )
    costs = HelbaSharedCosts(setting)
    outcome = run_openly(helba, arms, budget=32)
    done = {k: v for seat in outcome.parties.values() for k, v in seat.operations().items()}
    assert {name: done[name] for name in costs.operations()} == costs.operations()
    kinds = (
        *(garbled.Columns, garbled.GarbledTables, garbled.DecodingTable, garbled.InputLabels),
        *(messages.ProductColumns, messages.CoveredUpdate, messages.EstimateWords),
        *(messages.CoveredEstimate, messages.ContextWords, messages.CoveredShares),
    )
    sent = 0
    for one in outcome.recorder.exchanges:
        if isinstance(one.message, kinds):
            sent += sum(len(getattr(one.message, f)) for f in one.message.__struct_fields__[1:])
    # In rounds of one batch: its last one may be shorter, and columns come in whole eights.
    assert costs.run_bytes() * 0.98 < sent <= costs.run_bytes() * 1.001


@pytest.mark.parametrize("policy", POLICIES)
def test_a_run_takes_the_round_trips_that_were_forecast(policy: BatchedOFUL) -> None:
    arms = lotor.LinearContexts.random(32, arms=3, d=2, length=policy.L, seed=1)
    helba, hops, said = lotor.Helba(policy), [], []
    for budget in (1, 2, 7, 32):
        transport = HopTransport()
        run_openly(helba, arms, budget=budget, transport=transport)
        hops.append(transport.hops["user"])
        figure = FORM.forecast(helba, arms, budget).figures["round_trips_in_all"]
        assert isinstance(figure, int)
        said.append(2 * figure)
    set_up = hops[0] - said[0]
    assert hops == [set_up + rounds for rounds in said]


@pytest.mark.parametrize("policy", POLICIES)
def test_batches_are_those_of_the_schedule(policy: BatchedOFUL) -> None:
    for budget in (1, 2, 3, 10, 57, 130):
        setting, start, count = setting_of(policy, budget=budget), 1, 0
        for t in range(1, budget + 1):
            if setting.starts(t, start):
                start, count = t, count + 1
        assert setting.batches == count


@pytest.mark.parametrize(
    ("name", "policy", "size", "budget"),
    [
        ("quadratic", QUADRATIC, 2, 130),
        ("quadratic", QUADRATIC, 10, 10**6),
        ("root, η = 0.1", ROOT, 10, 10**6),
    ],
)
def test_the_numbers_of_the_security_page(
    name: str, policy: BatchedOFUL, size: int, budget: int
) -> None:
    setting = setting_of(policy, budget=budget, arms=size, d=size)
    numbers = (
        f"{setting.garbling_security:.0f}",
        f"{setting.product_security:.0f}",
        f"2^{setting.word_distance:.0f}",
        f"2^{setting.stop_chance:.0f}",
    )
    row = f"| {name} | {size}, {size}, {budget:,} | {' | '.join(numbers)} |"
    assert row in PAGE


def test_the_bytes_of_the_security_page() -> None:
    setting = setting_of(QUADRATIC, budget=130)
    costs, (scores,) = HelbaSharedCosts(setting), setting.score_products(1)
    estimate, schedule = setting.estimate_products(1), setting.schedule
    assert estimate.column_bytes == scores.column_bytes
    for step, said in (
        ("`Columns`", f"{schedule.column_bytes(schedule.batch(0)) // schedule.size:,}"),
        ("`ProductColumns`", f"2 × {scores.column_bytes:,}"),
        ("`CoveredUpdate`", f"{costs.round_bytes(starts=False)['update']:,}"),
        ("`EstimateWords`", f"{estimate.word_bytes:,}"),
        ("`ContextWords`", f"{costs.round_bytes(starts=False)['up']:,}"),
        ("`InputLabels`", f"{schedule.label_bytes:,}"),
    ):
        (row,) = [line for line in PAGE.splitlines() if f" | {step}" in line]
        assert row.split(" | ")[3] == said, step


@pytest.mark.parametrize("policy", POLICIES)
def test_security_and_distances_follow_from_what_is_done(policy: BatchedOFUL) -> None:
    setting = setting_of(policy, budget=130, arms=4, d=3)
    calls = [setting.estimate_products(5), *setting.score_products(5)]
    assert setting.product_security == 128 - log2(max(call.words for call in calls))
    scores = sum(call.words for call in calls[1:])
    assert setting.words == 130 * scores + setting.batches * calls[0].words
    assert setting.word_distance == log2(setting.words) - 98
    chance = sum(1 / p + 1 / p**2 for p in setting.modulus.primes) * setting.batches
    assert log2(chance) <= setting.stop_chance < log2(chance) + 1e-5


def refused(match: str, policy: BatchedOFUL = QUADRATIC, *, budget: int, arms: int, d: int) -> None:
    with pytest.raises(InputError, match=match):
        setting_of(policy, budget=budget, arms=arms, d=d)


def test_what_no_run_can_do_is_refused_with_what_would_fit() -> None:
    refused("arms is 1: helba takes 2 to", budget=9, arms=1, d=2)
    refused("d is 0: helba takes 1 to", budget=9, arms=2, d=0)
    refused("budget is 0: helba takes 1 to", budget=0, arms=2, d=2)
    refused("take a smaller budget or a larger eta", budget=2**31 - 1, arms=2, d=5)
    refused("shorter contexts or fewer arms, or a coarser grid", budget=130, arms=40, d=30)
    larger_eta = BatchedOFUL(eta=0.01)
    assert setting_of(larger_eta, budget=2**31 - 1, arms=2, d=5).distance < -35


@pytest.mark.parametrize("eta", [0.0, 1e-3, 0.01, 0.1, 0.3, 0.5, 1.0, 1.5, 7.0, 1e23])
def test_batches_are_counted_for_any_eta(eta: float) -> None:
    """At once, also where there are millions: an order must not keep a server busy."""
    policy = BatchedOFUL(eta=eta)
    for budget in (1, 2, 3, 5, 17, 130, 999):
        count = start = 1
        for t in range(2, budget + 1):
            if policy.due(t, start):
                count, start = count + 1, t
        assert setting_of(policy, budget=budget).batches == count


def test_orders_with_millions_of_batches_are_judged_at_once() -> None:
    assert setting_of(BatchedOFUL(eta=1e-4), budget=2**31 - 1).batches == 128_550
    refused("59490073 new estimates", BatchedOFUL(eta=1e-7), budget=2**31 - 1, arms=2, d=2)


@pytest.mark.parametrize("policy", [{"ridge": 1e305}, {"L": 1e200}, {"delta": 5e-324}], ids=str)
def test_numbers_beyond_floats_are_refused_by_name(policy: dict[str, float]) -> None:
    (name,) = policy
    refused(f"^{name} is ", BatchedOFUL(**policy), budget=10, arms=2, d=2)  # type: ignore[arg-type]


def test_what_waits_for_an_acknowledgement_fits_a_connection() -> None:
    """A party acknowledges where batches begin: all since then may have to be sent again."""
    for d, arms in ((2, 2), (10, 2), (10, 10), (12, 2), (15, 5)):
        setting = setting_of(QUADRATIC, budget=1000, arms=arms, d=d)
        assert setting.schedule.size * setting.round_bytes <= 24 << 20


def test_options_that_belong_to_another_form() -> None:
    for name, value in (
        ("security", 192),
        ("stages", 3),
        ("noise_bits", 6),
        ("mean_bound", 2.0),
        ("rms_length", 5.0),
        ("workers", 2),
        ("insecure_degree", 1024),
    ):
        with pytest.raises(InputError, match=f"{name} is an option of the paper's form"):
            lotor.Helba(**{name: value})  # type: ignore[arg-type]
    for name in ("context_bits", "reward_bits"):
        with pytest.raises(InputError, match=f"{name} is an option of the shared form"):
            lotor.Helba(**{name: 9}, form="paper")  # type: ignore[arg-type]
        with pytest.raises(InputError, match=f"{name} is 25: give a whole number from 1 to 24"):
            lotor.Helba(**{name: 25})  # type: ignore[arg-type]


def test_condition_8_and_a_dealer_are_refused_with_the_reason() -> None:
    with pytest.raises(InputError, match=r"tell the server a bit .* form='paper'"):
        lotor.Helba(BatchedOFUL(index="sqrt", C=1.0))
    with pytest.raises(
        InputError, match=r"users who come and go: choose shared or two-servers or paper"
    ):
        lotor.Helba(form="dealt")


def test_exactness_depends_on_the_form() -> None:
    assert lotor.Helba().exact
    assert not lotor.Helba(form="paper").exact


def test_orders_of_another_version_are_refused() -> None:
    terms = setting_of().terms
    assert FORM.plan(terms.to_bytes()).k == 2
    for change in ({"primes": 3}, {"gates": 9}, {"batch": 5}):
        with pytest.raises(VersionError, match="finish the run with the version that began it"):
            FORM.plan(msgspec.structs.replace(terms, **change).to_bytes())


def test_orders_that_no_run_can_keep_are_refused() -> None:
    terms = setting_of().terms
    for change in ({"arms": 1}, {"d": 65}, {"budget": 0}, {"low": 7.0}, {"context_bits": 40}):
        with pytest.raises(ProtocolError, match="ordered an impossible run"):
            FORM.plan(msgspec.structs.replace(terms, **change).to_bytes())
    with pytest.raises(ProtocolError, match="cannot read these terms"):
        FORM.plan(b"nonsense")
    assert shared_terms_from(terms.to_bytes()) == terms


def test_an_order_says_what_was_asked_for() -> None:
    helba = lotor.Helba.ordered({"policy": "batched-oful:eta=0.5", "context_bits": 9})
    setting = ordered_setting(helba, "aa", budget=9, arms=3, d=2, scale=SCALE)
    terms = setting.terms
    assert (terms.arms, terms.d, terms.context_bits, terms.reward_bits) == (3, 2, 9, 8)
    assert HelbaSharedSetting.of(terms).modulus == setting.modulus
    assert terms.digest != msgspec.structs.replace(terms, high=7.0).digest
