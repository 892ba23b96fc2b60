"""A model that is kept goes on learning in a further run, or predicts and stays as it was."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import sqrt

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lotor
from helpers import Outcome
from lotor.core.effects import Checkpoint, Expect, Pull
from lotor.core.errors import FormatError, InputError, ProtocolError
from lotor.core.fixed_point import Floats
from lotor.crypto.sharing import to_floats
from lotor.crypto.signing import trusting_identities
from lotor.privacy import Accountant
from lotor.protocols.earlier import EndedRun
from lotor.protocols.form import Assignment, Member
from lotor.protocols.party import Party
from lotor.protocols.ppcb.dealt.circuits import cheapest_circuits
from lotor.protocols.ppcb.dealt.server_memory import PPCBServerMemory
from lotor.protocols.ppcb.kept_model import KeptModel
from lotor.protocols.ppcb.messages import AllPulled, Due, Reward
from lotor.protocols.ppcb.shape import INNER_BITS
from lotor.protocols.ppcb.terms import FIRST, SECOND
from protocols.ppcb.stage import (
    ONE_ARM_LEARNS,
    SERVERS,
    ended,
    fixed_keys,
    judged,
    learning,
    messages_of,
    play,
    rebuild,
    some_arms,
    terms_of,
    traced_once,
    watched,
    weights_of,
    wire,
)
from restarting import Restarting

ARMS, FIRST_STEPS, STEPS = some_arms(3, rounds=12, k=3, d=3), 5, 7
KEEPING = lotor.PPCB(epsilon=0.3, keep=True, form="dealt")
LATE = lotor.PPCB(epsilon=0.3, delay=2, keep=True, form="dealt")
PREDICTING = lotor.PPCB(epsilon=0.3, predict=True, form="dealt")


@pytest.fixture(scope="module", autouse=True, params=ONE_ARM_LEARNS)
def _traced(request: pytest.FixtureRequest) -> Iterator[None]:
    with traced_once(), learning(one_arm=ONE_ARM_LEARNS[request.param]):
        yield


@pytest.fixture(scope="module")
def earlier(_traced: None) -> EndedRun:
    return ended(play(KEEPING, ARMS, budget=FIRST_STEPS))


def kept_of(run: EndedRun) -> dict[str, KeptModel]:
    return {name: msgspec.msgpack.decode(one, type=KeptModel) for name, one in run.kept.items()}


def kept_weights(run: EndedRun) -> Floats:
    """Of every arm, what both servers' shares add up to."""
    found = kept_of(run)
    tables = [np.frombuffer(one.table, "<u8").reshape(one.arms, -1) for one in found.values()]
    one = found[FIRST]
    return to_floats(tables[0] + tables[1], one.bits + INNER_BITS)[:, -one.features :]


def check(
    protocol: lotor.PPCB,
    arms: lotor.ContextualArms,
    parts: list[int],
    seed: int,
    predicted: int = 0,
) -> list[Outcome]:
    """Runs of so many steps that continue each other, then a prediction: all as floats decide."""
    runs: list[Outcome] = []
    for number, budget in enumerate(parts):
        last = ended(runs[-1]) if runs else None
        runs.append(
            play(protocol, arms, budget=budget, seed=seed, run_id=f"{number}", earlier=last)
        )
    if predicted:
        asked = replace(protocol, keep=False, delay=0, predict=True)
        last = ended(runs[-1])
        runs.append(play(asked, arms, budget=predicted, seed=seed, run_id="p", earlier=last))
        assert runs[-1].seats["receiver"].output == predicted
    pulled = [arm for run in runs for arm in run.arms]
    ends, steps = np.cumsum(parts).tolist(), sum(parts)
    decisions, weights = judged(protocol, arms, pulled, seed, kept_after=ends, learning=steps)
    for decision in decisions:
        least = 8 * sqrt(decision.t) * 2.0**-protocol.bits
        if decision.explores or decision.gap > least:
            assert decision.arm == decision.expected
        else:
            assert decision.short <= least
    off = np.abs(kept_weights(ended(runs[len(parts) - 1])) - weights).max()
    assert off <= 8 * sqrt(steps) * 2.0**-protocol.bits
    return runs


@st.composite
def instances(
    draw: st.DrawFn,
) -> tuple[lotor.PPCB, lotor.ContextualArms, list[int], int, int]:
    d, parts = draw(st.integers(1, 5)), draw(st.lists(st.integers(1, 9), min_size=2, max_size=3))
    policy = lotor.LinearEpsilonGreedy(
        draw(st.sampled_from([0.0, 0.1, 1.0])), ridge=draw(st.sampled_from([1.0, 1.7]))
    )
    protocol = lotor.PPCB(
        policy,
        form="dealt",
        bits=draw(st.sampled_from([16, 20, 24])),
        owners=draw(st.integers(1, d)),
        delay=draw(st.integers(0, min(3, *parts))),
        keep=True,
    )
    seed, predicted = draw(st.integers(0, 2**32)), draw(st.integers(0, 6))
    arms = some_arms(seed, rounds=sum(parts) + predicted, k=draw(st.integers(2, 5)), d=d)
    return protocol, arms, parts, seed, predicted


@settings(max_examples=8)
@given(instances())
def test_every_decision_is_that_of_floats(
    instance: tuple[lotor.PPCB, lotor.ContextualArms, list[int], int, int],
) -> None:
    check(*instance)


@pytest.mark.long
@settings(max_examples=60)
@given(instances())
def test_every_decision_of_many_more(
    instance: tuple[lotor.PPCB, lotor.ContextualArms, list[int], int, int],
) -> None:
    check(*instance)


@pytest.mark.parametrize("bits", [16, 20, 24])
@pytest.mark.parametrize("delay", [0, 3])
def test_secure_equals_plain(bits: int, delay: int) -> None:
    """On digits, under a seed with which no two scores come near each other."""
    arms = lotor.ContextualArms.digits()
    protocol = lotor.PPCB(bits=bits, delay=delay, keep=True, form="dealt")
    asked = lotor.PPCB(bits=bits, predict=True, epsilon=0.0, form="dealt")
    before = [lotor.run(one, arms, budget=30, seed=1) for one in (protocol, protocol.plain())]
    for one in (protocol, asked):
        pair = [one, one.plain()]
        secure, plain = (
            lotor.run(each, arms, budget=25, seed=1, continues=was)
            for each, was in zip(pair, before, strict=True)
        )
        assert secure.agrees_with(plain)
        assert secure.reward == plain.reward
        assert (secure.kept is None) == one.predict


def test_two_runs_are_one_that_is_as_long() -> None:
    arms = lotor.ContextualArms.digits()
    protocol = lotor.PPCB(keep=True, form="dealt")
    for one in (protocol, protocol.plain()):
        whole = lotor.run(one, arms, budget=60, seed=1)
        first = lotor.run(one, arms, budget=35, seed=1)
        second = lotor.run(one, arms, budget=25, seed=1, continues=first)
        assert (first.arms or []) + (second.arms or []) == whole.arms
        assert first.reward + second.reward == pytest.approx(whole.reward)
        assert second.rounds == 25


def test_a_kept_model_predicts_as_often_as_wanted_and_stays_as_it_was(earlier: EndedRun) -> None:
    before = dict(earlier.kept)
    runs = [play(PREDICTING, ARMS, budget=STEPS, run_id=one, earlier=earlier) for one in "bc"]
    assert runs[0].arms == runs[1].arms
    assert earlier.kept == before
    for run in runs:
        assert all(party.kept is None for party in run.parties.values())
        assert run.recorder.pulls == []
        assert not messages_of(run, Due) + messages_of(run, Reward)
        assert len(messages_of(run, AllPulled)) == 1
        assert run.seats["receiver"].output == STEPS
        kinds = {type(seen.message).__name__ for seen in run.recorder.received("receiver")}
        assert kinds == {"AllPulled"}


def test_nobody_is_asked_for_a_reward_of_a_prediction(earlier: EndedRun) -> None:
    _, watches = watched(PREDICTING, ARMS, budget=2, earlier=earlier)
    effects = [done.effect for watch in watches.values() for done in watch.done]
    assert not any(isinstance(effect, Pull | Expect) for effect in effects)


def table_at_first(outcome_of: dict[str, bytes]) -> list[np.ndarray]:
    memories = [msgspec.msgpack.decode(one, type=PPCBServerMemory) for one in outcome_of.values()]
    return [np.frombuffer(memory.table, np.uint64) for memory in memories]


def first_written(earlier: EndedRun, protocol: lotor.PPCB = KEEPING) -> dict[str, bytes]:
    """What each server writes down before the first step of a run that goes on."""
    _, watches = watched(protocol, ARMS, budget=1, earlier=earlier)
    return {
        name: next(
            done.snapshot
            for done in watches[name].done
            if isinstance(done.effect, Checkpoint) and done.effect.round == FIRST_STEPS + 1
        )
        for name in SERVERS
    }


@pytest.mark.parametrize("protocol", [KEEPING, PREDICTING])
def test_shares_of_one_run_do_not_fit_those_of_another(
    earlier: EndedRun, protocol: lotor.PPCB
) -> None:
    """Each run begins with the same model in shares of its own."""
    kept = [np.frombuffer(one.table, "<u8") for one in kept_of(earlier).values()]
    one, other = (table_at_first(first_written(earlier, protocol)) for _ in range(2))
    model = kept[0] + kept[1]
    for shares in (one, other):
        assert np.array_equal(shares[0] + shares[1], model)
    for first, second in ((kept[0], one[1]), (one[0], kept[1]), (one[0], other[1])):
        assert not (first + second == model).any()


def test_a_kept_share_tells_nothing_alone() -> None:
    """Runs whose inputs differ in everything: bits of either share are 0 and 1 alike."""
    shares: list[np.ndarray] = []
    with fixed_keys(b"kept"):
        for value in (0.0, 1.0):
            contexts = np.tile([0.6, value * 0.8], (40, 1))
            arms = lotor.ContextualArms(contexts, np.full((40, 8), value))
            run = ended(play(lotor.PPCB(epsilon=0.2, keep=True, form="dealt"), arms, budget=40))
            shares += [np.frombuffer(one.table, np.uint8) for one in kept_of(run).values()]
    for share in shares:
        ones = float(np.unpackbits(share).mean())
        assert abs(ones - 0.5) < 5 * 0.5 / sqrt(8 * len(share))
    assert len({share.tobytes() for share in shares}) == len(shares)


@pytest.mark.parametrize("every", [1, 3])
@pytest.mark.parametrize("protocol", [KEEPING, LATE, PREDICTING], ids=["keep", "late", "predict"])
def test_restarted_equals_uninterrupted(
    earlier: EndedRun, protocol: lotor.PPCB, every: int
) -> None:
    """From the very first effect on; what is sent and what is kept are the same."""

    def wrap(_: str, party: Party) -> Party:
        return Restarting(party, lambda snapshot: rebuild(party, snapshot), every)

    runs = []
    for one in (None, wrap):
        wrapped = {} if one is None else {"wrap": one}
        with fixed_keys():
            runs.append(
                play(protocol, ARMS, budget=STEPS, run_id="bb", earlier=earlier, **wrapped)  # type: ignore[arg-type]
            )
    smooth, broken = runs
    assert broken.arms == smooth.arms
    assert broken.seats["receiver"].output == smooth.seats["receiver"].output
    assert wire(broken) == wire(smooth)
    assert {name: party.kept for name, party in broken.parties.items()} == {
        name: party.kept for name, party in smooth.parties.items()
    }


@pytest.mark.parametrize("protocol", [KEEPING, LATE, PREDICTING], ids=["keep", "late", "predict"])
def test_the_forecast_counts_what_happens(earlier: EndedRun, protocol: lotor.PPCB) -> None:
    run = play(protocol, ARMS, budget=STEPS, run_id="bb", earlier=earlier)
    counted = Counter[str]()
    for party in run.parties.values():
        counted.update(party.operations())
    expected = protocol.in_form().complexity(protocol, ARMS, STEPS)["expected"]
    assert {name: counted[name] for name in expected} == expected
    begun = cheapest_circuits(terms_of(run)).begin is not None
    assert (expected["rounds"] == 5 * STEPS + begun) == protocol.predict


def test_only_servers_keep_anything_and_only_at_the_end() -> None:
    outcome, watches = watched(KEEPING, ARMS, budget=2)
    assert {name for name, party in outcome.parties.items() if party.kept} == set(SERVERS)
    unkept = play(replace(KEEPING, keep=False), ARMS, budget=2)
    assert all(party.kept is None for party in unkept.parties.values())
    party = rebuild(outcome.parties[SECOND], watches[SECOND].done[0].snapshot)
    next(party.steps())
    assert party.kept is None


def test_late_rewards_are_learnt_before_the_model_is_kept() -> None:
    late = play(LATE, ARMS, budget=FIRST_STEPS)
    assert late.parties["receiver"].operations()["values_shared"] == FIRST_STEPS
    kept = ended(late)
    _, weights = judged(LATE, ARMS, late.arms, 1, kept_after=[FIRST_STEPS])
    assert np.abs(kept_weights(kept) - weights).max() <= 2.0**-16
    assert np.array_equal(kept_weights(kept), weights_of(late.parties))


def test_no_secret_shows(earlier: EndedRun) -> None:
    for kept in kept_of(earlier).values():
        assert repr(kept) == f"<KeptModel of {kept.party} after run aa>"
    assert "kept" not in repr(earlier)


def altered(earlier: EndedRun, name: str, **changes: object) -> EndedRun:
    changed = msgspec.structs.replace(kept_of(earlier)[name], **changes)
    return replace(earlier, kept={**earlier.kept, name: changed.to_bytes()})


def go_on(earlier: EndedRun, protocol: lotor.PPCB = KEEPING, **given: object) -> Outcome:
    arms = given.pop("arms", ARMS)
    assert isinstance(arms, lotor.ContextualArms)
    return play(protocol, arms, budget=1, run_id="bb", earlier=earlier, **given)  # type: ignore[arg-type]


def test_a_state_of_another_run_or_shape_is_refused(earlier: EndedRun) -> None:
    swapped = replace(earlier, kept={FIRST: earlier.kept[SECOND], SECOND: earlier.kept[FIRST]})
    table = kept_of(earlier)[SECOND].table
    others = [
        swapped,
        altered(earlier, SECOND, run="cc"),
        altered(earlier, SECOND, steps=4),
        altered(earlier, SECOND, arms=4),
        altered(earlier, SECOND, features=2),
        altered(earlier, FIRST, bits=16),
        altered(earlier, SECOND, table=table[:-8]),
    ]
    for other in others:
        with pytest.raises(InputError, match="not the model of run aa that the order names"):
            go_on(other)
    with pytest.raises(InputError, match="has no share of the model that run aa has learnt"):
        go_on(replace(earlier, kept={FIRST: earlier.kept[FIRST]}))


def test_a_state_of_another_version_is_refused(earlier: EndedRun) -> None:
    data = earlier.kept[FIRST]
    for junk in (b"", data[:-1], data.replace(b"ppcb-model/1", b"ppcb-model/2")):
        with pytest.raises(FormatError, match="cannot be read by this version"):
            go_on(replace(earlier, kept={**earlier.kept, FIRST: junk}))


@pytest.mark.parametrize(
    ("protocol", "arms", "said"),
    [
        (replace(KEEPING, bits=16), ARMS, "learnt with 20 bits, and cannot be continued with 16"),
        (replace(KEEPING, owners=3), ARMS, r"owner-1 \(1\), owner-2 \(2\), and cannot .* owner-3"),
        (KEEPING, some_arms(3, rounds=9, k=4, d=3), "with 3 arms, .* with 4 arms"),
        (KEEPING, some_arms(3, rounds=9, k=3, d=2), "features of owner-1"),
        (
            lotor.PPCB(lotor.LinearEpsilonGreedy(0.3, ridge=2.0), form="dealt"),
            ARMS,
            "ridge=1.0, and cannot be continued with the policy .*ridge=2.0",
        ),
        (
            KEEPING,
            lotor.ContextualArms(ARMS.contexts, ARMS.rewards, reward_range=(0, 2)),
            "rewards from 0 to 1, and cannot be continued with rewards from 0 to 2",
        ),
        (KEEPING, some_arms(3, rounds=5, k=3, d=3), "contexts for 5 rounds, fewer than the budget"),
    ],
)
def test_another_shape_is_refused(
    earlier: EndedRun, protocol: lotor.PPCB, arms: lotor.ContextualArms, said: str
) -> None:
    with pytest.raises(InputError, match=said):
        go_on(earlier, protocol, arms=arms)


def test_what_makes_no_sense_is_refused() -> None:
    with pytest.raises(InputError, match="only predicts needs a model"):
        play(PREDICTING, ARMS, budget=1)
    with pytest.raises(InputError, match="only predicts needs a model"):
        lotor.run(PREDICTING.plain(), ARMS, budget=1)
    unkept = ended(play(lotor.PPCB(form="dealt"), ARMS, budget=1))
    with pytest.raises(InputError, match="run aa was started without keep"):
        go_on(unkept)
    kept = ended(play(KEEPING, ARMS, budget=1))
    for protocol in (replace(PREDICTING, keep=True), replace(PREDICTING, delay=1)):
        with pytest.raises(InputError, match="leave keep and delay out"):
            go_on(kept, protocol)
    with pytest.raises(InputError, match="keep is True or False"):
        lotor.PPCB(keep=1, form="dealt")  # type: ignore[arg-type]


def test_an_order_that_says_less_than_was_told_is_refused(earlier: EndedRun) -> None:
    """Every party that was there knows what the earlier run was."""
    form = KEEPING.in_form()
    terms = terms_of(go_on(earlier))
    assert terms.continued is not None
    plan = form.plan(terms.to_bytes())
    assert (plan.keeps, plan.continues, plan.before) == (True, "aa", FIRST_STEPS)
    # What a ledger is charged is what this run adds; what was told before is there already.
    assert plan.privacy == Accountant(ARMS.k, 0.3).total(1)
    assert terms.whole == Accountant(ARMS.k, 0.3).total(FIRST_STEPS) + plan.privacy
    seats = form.seats(form.simulated(KEEPING, go_on(earlier).run))
    for changed in (
        msgspec.structs.replace(terms.continued, told=0.0),
        msgspec.structs.replace(terms.continued, delta=0.0),
    ):
        order = msgspec.structs.replace(terms, continued=changed).to_bytes()
        for seat in ("actor", "owner-1", FIRST, "dealer"):
            assignment = assigned(seat, seats, order, earlier)
            with pytest.raises(InputError, match="does not say of run aa what it was"):
                form.party(assignment)


def assigned(seat: str, seats: Mapping[str, Member], order: bytes, earlier: EndedRun) -> Assignment:
    member = seats[seat]
    return Assignment(
        run="bb",
        seat=seat,
        order=order,
        identity=trusting_identities([seat])[seat],
        contribution=member.contribution,
        brings=frozenset(KEEPING.in_form().role(seat).brings),
        earlier=earlier.at(seat),
    )


@pytest.mark.parametrize(
    "changes",
    [{"run": ""}, {"run": "bb"}, {"steps": 0}, {"told": -1.0}, {"told": float("nan")}],
)
def test_impossible_terms_are_refused(earlier: EndedRun, changes: dict[str, object]) -> None:
    terms = terms_of(go_on(earlier))
    assert terms.continued is not None
    continued = msgspec.structs.replace(terms.continued, **changes)
    order = msgspec.structs.replace(terms, continued=continued).to_bytes()
    with pytest.raises(ProtocolError, match="ordered a run that cannot be"):
        KEEPING.in_form().plan(order)


def test_runs_that_continue_each_other_share_a_privacy_budget() -> None:
    limited = lotor.PPCB(epsilon=0.5, keep=True, privacy_budget=12.0, form="dealt")
    found = []
    for one in (limited, limited.plain()):
        first = lotor.run(one, ARMS, budget=2, seed=1)
        second = lotor.run(one, ARMS, budget=10, seed=1, continues=first)
        assert 1 <= second.rounds < 10
        with pytest.raises(InputError, match="one step tells"):
            lotor.run(one, ARMS, budget=1, seed=1, continues=second)
        found.append((second.arms, second.reward))
    assert found[0] == found[1]
    first = lotor.run(limited, ARMS, budget=2, seed=1)
    second = lotor.run(limited, ARMS, budget=10, seed=1, continues=first)
    assert first.privacy is not None
    assert second.privacy is not None
    assert float(second.privacy["whole"] or 0) == pytest.approx(
        float(first.privacy["total"] or 0) + float(second.privacy["total"] or 0)
    )
    assert float(second.privacy["whole"] or 0) <= 12.0
    assert second.privacy["steps_before"] == 2
    assert second.privacy["whole_delta"] == pytest.approx(2e-6)
