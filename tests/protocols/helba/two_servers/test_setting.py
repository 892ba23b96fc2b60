"""What a run with two servers takes, how safe it is, and what is refused before any key is made."""

from math import log2
from pathlib import Path

import pytest

import lotor
from helpers import HopTransport, run_openly
from lotor.core.errors import InputError
from lotor.policies.optimistic import BatchedOFUL
from lotor.protocols.garbled import messages as garbled
from lotor.protocols.helba.two_servers import messages
from lotor.protocols.helba.two_servers.costs import HelbaTwoServersCosts
from lotor.protocols.helba.two_servers.form import HelbaTwoServers
from protocols.helba.shared.stage import POLICIES, QUADRATIC, ROOT

FORM = HelbaTwoServers()
PAGE = Path(__file__).parents[4].joinpath("docs", "security", "two-servers.md").read_text()
# Everything but the set-up and the totals.
KINDS = (
    *(garbled.Columns, garbled.GarbledTables, garbled.InputLabels, garbled.DecodingTable),
    *(garbled.ShownOutputs, messages.RenewalColumns, messages.PadWords, messages.PaddedEstimate),
    *(messages.ModelWords, messages.ScoreColumns, messages.PaddedContexts, messages.ScoreWords),
    *(messages.ScoreDifferences, messages.PaddedUpdate),
)


def costs_of(
    policy: BatchedOFUL = QUADRATIC, *, budget: int = 130, arms: int = 2, d: int = 2
) -> HelbaTwoServersCosts:
    world = lotor.LinearContexts.random(1, arms=arms, d=d, length=policy.L, seed=1)
    return FORM.costs(lotor.Helba(policy, servers=2), world, budget)


@pytest.mark.parametrize("policy", POLICIES)
def test_a_run_takes_what_was_forecast(policy: BatchedOFUL) -> None:
    arms = lotor.LinearContexts.random(32, arms=3, d=2, length=policy.L, seed=1)
    helba = lotor.Helba(policy, servers=2)
    costs = FORM.costs(helba, arms, 32)
    outcome = run_openly(helba, arms, budget=32)
    done = {k: v for seat in outcome.parties.values() for k, v in seat.operations().items()}
    assert {name: done[name] for name in costs.operations()} == costs.operations()
    sent = 0
    for one in outcome.recorder.exchanges:
        if isinstance(one.message, KINDS):
            sent += sum(len(getattr(one.message, f)) for f in one.message.__struct_fields__[1:])
    # The last batch may be shorter, the last round brings no update, and columns are whole eights.
    assert costs.run_bytes() * 0.98 < sent <= costs.run_bytes() * 1.001


@pytest.mark.parametrize("policy", POLICIES)
def test_a_run_takes_the_round_trips_that_were_forecast(policy: BatchedOFUL) -> None:
    """The first round's are among those of the set-up."""
    arms = lotor.LinearContexts.random(20, arms=2, d=2, length=policy.L, seed=1)
    helba = lotor.Helba(policy, servers=2)
    took, said = [], []
    for budget in (1, 2, 9, 20):
        transport = HopTransport()
        run_openly(helba, arms, budget=budget, transport=transport)
        took.append(max(hops for name, hops in transport.hops.items() if "user" in name))
        said.append(FORM.costs(helba, arms, budget).run_round_trips())
    assert [hops - took[0] for hops in took] == [2 * (trips - said[0]) for trips in said]


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
    setting = costs_of(policy, budget=budget, arms=size, d=size).setting
    numbers = (
        f"{setting.garbling_security:.0f}",
        f"{setting.product_security:.0f}",
        f"2^{setting.word_distance:.0f}",
        f"2^{setting.stop_chance:.0f}",
    )
    row = f"| {name} | {size}, {size}, {budget:,} | {' | '.join(numbers)} |"
    assert row in PAGE


def test_the_bytes_of_the_security_page() -> None:
    setting = costs_of(budget=130).setting
    estimate, model = setting.renewal_products(1)
    first, second = setting.score_products(1)
    renewal = estimate.column_bytes + model.column_bytes
    for step, said in (
        ("`RenewalColumns`", f"{renewal:,}"),
        ("`PadWords`", f"{estimate.word_bytes:,}"),
        ("`ModelWords`", f"{model.word_bytes:,}"),
        ("`ScoreColumns`", f"{first.column_bytes + second.column_bytes:,}"),
        ("`PaddedContexts`", f"{sum(setting.context_sizes):,}"),
        (
            "`ScoreWords`, `ScoreDifferences`",
            f"{first.word_bytes + second.word_bytes + setting.share_bytes:,}",
        ),
    ):
        (row,) = [line for line in PAGE.splitlines() if f" | {step} |" in line]
        assert row.split(" | ")[3] == said, step


@pytest.mark.parametrize("policy", POLICIES)
def test_security_and_distances_follow_from_what_is_done(policy: BatchedOFUL) -> None:
    setting = costs_of(policy, budget=130, arms=4, d=3).setting
    renewal, scores = setting.renewal_products(5), setting.score_products(5)
    assert setting.product_security == 128 - log2(max(one.words for one in renewal + scores))
    words = 130 * sum(one.words for one in scores)
    assert setting.words == words + setting.batches * sum(one.words for one in renewal)


@pytest.mark.parametrize("policy", POLICIES)
def test_each_product_has_a_number_of_its_own(policy: BatchedOFUL) -> None:
    """Rows of transfers and hash keys belong to numbers."""
    setting = costs_of(policy).setting
    for calls in (setting.renewal_products, setting.score_products):
        numbers = [call.number for t in range(1, 40) for call in calls(t)]
        assert numbers == sorted(set(numbers))


def test_what_waits_for_an_acknowledgement_fits_a_connection() -> None:
    for d, arms in ((2, 2), (10, 2), (10, 10), (12, 2)):
        setting = costs_of(budget=1000, arms=arms, d=d).setting
        assert setting.schedule.size * setting.round_bytes <= 24 << 20
    with pytest.raises(InputError, match="shorter contexts or fewer arms, or a coarser grid"):
        costs_of(budget=130, arms=40, d=30)
    with pytest.raises(InputError, match="MiB ahead of a round, and 62 MiB is the most"):
        costs_of(ROOT, budget=130, arms=200, d=5)


def test_servers_and_form_say_the_same() -> None:
    assert lotor.Helba(servers=2) == lotor.Helba(form="two-servers")
    assert lotor.Helba(servers=2).form == "two-servers"
    assert lotor.Helba(form="two-servers").servers == 2
    assert lotor.Helba.ordered(lotor.Helba(servers=2).order_options()).servers == 2


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"servers": 3}, "servers is 3: give 1 or 2"),
        ({"servers": True}, "servers is True"),
        ({"servers": 2, "form": "paper"}, "'paper' has one server: leave one of the two out"),
        ({"users": 3}, "only the form two-servers tells users apart"),
        ({"users": 0, "servers": 2}, "users is 0: give a whole number from 1 up"),
        ({"servers": 2, "stages": 3}, "stages is an option of the paper's form"),
    ],
    ids=str,
)
def test_options_that_do_not_fit_are_refused(options: dict[str, object], match: str) -> None:
    with pytest.raises(InputError, match=match):
        lotor.Helba(**options)  # type: ignore[arg-type]


def test_rounds_are_shared_out_in_turn() -> None:
    terms = FORM.costs(
        lotor.Helba(servers=2, users=3), lotor.LinearContexts.toy(8, seed=1), 8
    ).setting.terms
    assert [terms.user_of(t) for t in (1, 2, 3, 4)] == ["user-1", "user-2", "user-3", "user-1"]
    rounds = [t for user in terms.users for t in terms.rounds_of(user)]
    assert sorted(rounds) == list(range(1, 9))
    assert all(terms.user_of(t) == user for user in terms.users for t in terms.rounds_of(user))
