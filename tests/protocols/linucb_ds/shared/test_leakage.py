"""Recorded views of the shared form: nothing in clear, one length a kind, uniform to Comp."""

from collections import defaultdict

import numpy as np
import pytest

import lotor
from helpers import HopTransport, Outcome, truth_of, view_of
from lotor.core.effects import Message
from lotor.protocols.garbled import messages as garbled
from lotor.protocols.linucb_ds.attacks import DirectionFromPulls
from lotor.protocols.linucb_ds.shared import messages
from lotor.protocols.linucb_ds.shared.attacks import ArmsFromCoveredRows, ScoresFromCircuitShares
from lotor.protocols.linucb_ds.shared.complexity import SharedLinearCosts
from lotor.protocols.linucb_ds.shared.leakage import KEYS, MEASURED
from lotor.protocols.linucb_ds.shared.principal import PRODUCTS
from lotor.protocols.linucb_ds.theta.attacks import ThetaFromShares
from lotor.protocols.plain.linear import linear_layout
from protocols.linucb_ds.shared.stage import (
    BUDGET,
    D,
    K,
    comp_of,
    contents,
    principal_of,
    shared_run,
    some_arms,
)


@pytest.fixture(scope="module")
def outcome() -> Outcome:
    return shared_run()


def order_of(outcome: Outcome) -> bytes:
    terms = outcome.recorder.exchanges[0].message.terms  # type: ignore[attr-defined]
    assert isinstance(terms, bytes)
    return terms


def test_no_theta_score_or_row_stands_on_any_wire(outcome: Outcome) -> None:
    """Numbers of a few bits would be found by chance, so that only those of 24 are looked for."""
    seen = b"".join(one.payload for one in outcome.recorder.exchanges)
    arms, game = some_arms(), principal_of(outcome).game
    assert game is not None
    theta = linear_layout(arms.vectors, lotor.LinUCB(), 59).theta(arms.theta)
    secrets = [value % (1 << 59) for value in theta] + [value % (1 << 64) for value in theta]
    rows = game.rows(BUDGET - 1).u.view(np.uint64).ravel().tolist()
    for secret in (*secrets, *rows):
        if secret.bit_length() > 24:
            assert secret.to_bytes(8, "little") not in seen
    model = outcome.parties["owner"]._arms  # type: ignore[attr-defined]
    assert model.theta.tobytes() not in seen


def test_keys_are_seen_by_their_holders_only(outcome: Outcome) -> None:
    seen = b"".join(one.payload for one in outcome.recorder.exchanges)
    comp, principal = comp_of(outcome)._memory, principal_of(outcome)._memory
    assert comp.holding is not None
    secrets = [
        comp.holding.key,
        comp.circuits.garbling_key,
        comp.circuits.delta(outcome.run.id).words.tobytes(),
        comp_of(outcome)._key.to_bytes()[-128:-64],
        principal.circuits.transfer_key,
        principal.circuits.seed_pairs[:16],
        *principal.keys.values(),
    ]
    assert PRODUCTS in principal.keys
    assert not any(secret in seen for secret in secrets)
    assert set(MEASURED) >= {role for _, holders in KEYS.values() for role in holders}


def test_messages_of_one_kind_have_one_length(outcome: Outcome) -> None:
    """The last batch of circuits is smaller; Comp's encryptions are compressed, and sent once."""
    lengths: defaultdict[type[Message], set[int]] = defaultdict(set)
    for one in outcome.recorder.exchanges:
        if "place" in one.message.__struct_fields__:
            lengths[type(one.message)].add(len(one.payload))
    ahead = {garbled.Columns, garbled.GarbledTables, garbled.DecodingTable}
    for kind, found in lengths.items():
        if kind is messages.EncryptedCoordinate:
            assert max(found) - min(found) < 0.01 * max(found)
        else:
            assert len(found) <= (2 if kind in ahead else 1), kind


def test_nothing_that_is_covered_repeats(outcome: Outcome) -> None:
    for kind, field in (
        (messages.CoveredRows, "rows"),
        (messages.CoveredRows, "shares"),
        (garbled.InputLabels, "labels"),
        (garbled.Columns, "columns"),
    ):
        found = contents(outcome, kind, field)
        assert len(found) > 1
        assert len(set(found)) == len(found)


def test_rows_of_the_same_arms_look_uniform_to_comp() -> None:
    """Other theta, other noise, other order: each bit of what Comp is sent is a fair coin.

    Bits: 2 runs of 39 rounds, 5·3 words of 59 bits: 69,030. Six deviations are 788; a uniform
    source fails with a chance of 2e-9.
    """
    ones = count = 0
    for seed in (1, 2):
        for rows in contents(shared_run(some_arms(seed), seed=seed), messages.CoveredRows, "rows"):
            words = np.frombuffer(rows, "<u8")
            assert not (words >> np.uint64(59)).any()
            ones += int(np.bitwise_count(words).sum())
            count += 59 * len(words)
    assert abs(2 * ones - count) < 6 * np.sqrt(count)


def test_attacks_find_what_is_stated_and_nothing_else(outcome: Outcome) -> None:
    order, truth = order_of(outcome), truth_of(outcome)
    both = ThetaFromShares().score(view_of(outcome, order, "principal", "comp"), truth)
    assert both.right == both.of == D
    for seat in ("principal", "comp"):
        alone = ThetaFromShares().score(view_of(outcome, order, seat), truth)
        assert alone.right == 0
    assert ScoresFromCircuitShares().score(view_of(outcome, order, "comp"), truth).right == 0
    found = ArmsFromCoveredRows().score(view_of(outcome, order, "comp"), truth)
    assert found.of == BUDGET - 1
    assert found.right < found.of
    # What P is told gives a direction, right or not: the leakage table has how often.
    assert DirectionFromPulls().guess(view_of(outcome, order, "principal")) is not None


def test_reprs_show_nothing(outcome: Outcome) -> None:
    for one in outcome.recorder.exchanges:
        assert len(repr(one.message)) < 4000
        if type(one.message).__module__ in (messages.__name__, garbled.__name__):
            assert repr(one.message) == f"<{type(one.message).__name__}>"
    for party in (comp_of(outcome), principal_of(outcome)):
        assert " in run " in repr(party._memory)


def test_counts_and_bytes_are_those_of_the_forecast(outcome: Outcome) -> None:
    protocol, arms = lotor.LinUCBDS(form="shared"), some_arms()
    form = protocol.in_form()
    counts = form.complexity(protocol, arms, BUDGET)["expected"]
    done: defaultdict[str, int] = defaultdict(int)
    for party in outcome.parties.values():
        for name, count in party.operations().items():
            done[name] += count
    assert {name: done[name] for name in counts} == counts
    figures = form.forecast(protocol, arms, BUDGET).figures
    costs = SharedLinearCosts(K, D, BUDGET)
    within = sum(
        len(contents(outcome, kind, field)[0])
        for kind, field in (
            (messages.CoveredRows, "rows"),
            (messages.CoveredRows, "shares"),
            (garbled.InputLabels, "labels"),
        )
    )
    assert within == figures["bytes_within"] == costs.round_bytes
    each = costs.schedule.size
    ahead = sum(
        len(contents(outcome, kind, field)[0]) / each
        for kind, field in (
            (garbled.Columns, "columns"),
            (garbled.GarbledTables, "tables"),
            (garbled.DecodingTable, "colours"),
            (garbled.DecodingTable, "tags"),
        )
    )
    rounds = costs.schedule.circuits_each * each
    ahead += len(contents(outcome, messages.ProductBatch, "products")[0]) / rounds
    assert abs(ahead - costs.ahead_bytes) < 4  # whole bytes
    total = sum(
        len(contents(outcome, kind, field)[0])
        for kind, field in ((messages.SumColumns, "columns"), (messages.SumWords, "words"))
    )
    assert total == costs.total_bytes


def test_a_round_takes_the_round_trips_of_the_forecast() -> None:
    protocol, hops = lotor.LinUCBDS(form="shared"), []
    for budget in (BUDGET // 2, BUDGET):
        transport = HopTransport()
        shared_run(budget=budget, transport=transport)
        hops.append(transport.hops["principal"])
    trips = protocol.in_form().forecast(protocol, some_arms(), BUDGET).figures["round_trips"]
    assert hops[1] - hops[0] == 2 * trips * (BUDGET - BUDGET // 2)  # type: ignore[operator]


def test_distances_and_security_are_stated_as_numbers() -> None:
    """docs/security/private-linear.md has these."""
    for k, d, budget, distance, bits in (
        (50, 5, 1_000, -51, 112),
        (50, 5, 1_000_000, -41, 112),
        (1000, 20, 1_000_000, -36, 111),
    ):
        costs = SharedLinearCosts(k, d, budget)
        assert round(costs.distance) == distance
        assert round(costs.security_bits) == bits
