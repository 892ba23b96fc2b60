"""Outcomes that come later than their decisions: secure equals plain, and counts what has come."""

from dataclasses import dataclass
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lotor
from helpers import run_openly
from lotor.core.draws import Draws
from lotor.core.errors import InputError
from lotor.core.fixed_point import Floats, RewardScale
from lotor.policies import POLICIES, ArmStates, Policy, check_genericity, to_text
from lotor.policies.genericity import Genericity
from lotor.protocols.delays import checked_delay, delays
from lotor.protocols.party import Run
from lotor.protocols.plain import Plain
from lotor.protocols.pulls import outcome_rules
from rebuilding import RestartingRun

FORMS = ["shared", "dealt", "paper"]
pytestmark = pytest.mark.filterwarnings("ignore::lotor.crypto.paillier.InsecureKeyWarning")


PLAIN = [kind() for kind in POLICIES.values() if issubclass(kind, Policy)]
ALL_POLICIES = [one for one in PLAIN if check_genericity(one) == Genericity(None, None)]
# Outcomes that come out of order meet what has faded, or left the window, only with these.
FORGETTING = [lotor.SlidingWindowUCB(tau=4), lotor.DiscountedUCB(gamma=0.7)]
DELAYS = st.one_of(
    st.integers(0, 12).map(str),
    st.builds("uniform:{}-{}".format, st.integers(0, 3), st.integers(3, 15)),
    st.builds("geometric:{}".format, st.integers(1, 20)),
)


def samba(policy: Policy, form: str, **options: object) -> lotor.Samba:
    weak = {"insecure_key_bits": 128} if form == "paper" else {}
    return lotor.Samba(policy, form=form, **weak, **options)  # type: ignore[arg-type]


def assert_equals_plain(chosen: lotor.Samba, k: int, extra: int, seed: int) -> None:
    arms = lotor.BernoulliArms([(i + 1) / (k + 1) for i in range(k)])
    secure = lotor.run(chosen, arms, budget=k + extra, seed=seed)
    plain = lotor.run(chosen.plain(), arms, budget=k + extra, seed=seed)
    assert secure.arms == plain.arms
    assert secure.reward == plain.reward


@pytest.mark.parametrize("policy", [*ALL_POLICIES, *FORGETTING], ids=to_text)
@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=4)
@given(
    k=st.integers(1, 5),
    extra=st.integers(0, 40),
    seed=st.integers(0, 2**48),
    delay=DELAYS,
    batch=st.integers(1, 7),
    more=st.one_of(st.none(), st.integers(0, 12)),
    data=st.data(),
)
def test_secure_equals_plain_with_delays_and_batches(
    form: str,
    policy: Policy,
    k: int,
    extra: int,
    seed: int,
    delay: str,
    batch: int,
    more: int | None,
    data: st.DataObject,
) -> None:
    ways = st.sampled_from(["bits", "position"])
    paper = {"selection": data.draw(ways, label="selection")} if form == "paper" else {}
    chosen = samba(
        policy,
        form,
        **paper,
        owners=data.draw(st.integers(1, k), label="owners"),
        delay=delay,
        batch=batch,
        outstanding=None if more is None else batch + more,
    )
    assert_equals_plain(chosen, k, extra, seed)


@pytest.mark.parametrize("form", FORMS)
def test_a_restart_at_every_effect_changes_nothing(form: str) -> None:
    chosen = samba(lotor.UCB(), form, owners=2, delay="uniform:0-9", outstanding=6, batch=2)
    arms = lotor.BernoulliArms([0.3, 0.6, 0.5])
    plain = lotor.run(chosen.plain(), arms, budget=25, seed=3)
    for every in (1, 3):
        again = run_openly(RestartingRun(chosen, every), arms, budget=25, seed=3)  # type: ignore[arg-type]
        assert (again.arms, again.seats["customer"].output) == (plain.arms, plain.reward)


@dataclass(frozen=True)
class Counting(lotor.UCB):
    """Notes how many outcomes each round was scored on."""

    seen: dict[int, int] = None  # type: ignore[assignment]

    def score(self, arms: ArmStates, t: int, l: int, draw: Draws) -> Floats:
        self.seen[t] = int(arms.n.sum())
        return super().score(arms, t, l, draw)


@given(
    k=st.integers(1, 4),
    extra=st.integers(1, 40),
    delay=st.integers(0, 9),
    batch=st.integers(1, 6),
    more=st.integers(0, 9),
)
def test_a_round_is_scored_on_what_has_come(
    k: int, extra: int, delay: int, batch: int, more: int
) -> None:
    """By the definition, told otherwise: an outcome is late, and not more than so many may be."""
    seen: dict[int, int] = {}
    outstanding, budget = batch + more, k + extra
    chosen = lotor.Samba(lotor.UCB(), delay=delay, batch=batch, outstanding=outstanding)  # type: ignore[arg-type]
    plain = Plain(Counting(seen=seen), chosen.plain().settings)
    lotor.run(plain, lotor.BernoulliArms([0.5] * k), budget=budget, seed=1)
    for t in range(k + 1, budget + 1):
        begun = t - (t - k - 1) % batch
        come = max(begun - 1 - delay, begun - 1 + batch - outstanding, 0)
        unknown = sum(arm + 1 > min(come, begun - 1) for arm in range(k))
        if outstanding > 1:  # an arm of which nothing is known counts as pulled once
            assert seen[t] == min(come, begun - 1) + unknown
        else:
            assert seen[t] == t - 1


@given(delay=DELAYS, seed=st.integers(0, 2**48))
def test_delays_are_whole_and_drawn_from_the_seed(delay: str, seed: int) -> None:
    run = partial(Run, "aa", 3, 50, RewardScale())
    first = [delays(delay, run(seed))(t) for t in range(1, 51)]
    assert first == [delays(delay, run(seed))(t) for t in range(1, 51)]
    assert all(type(one) is int and one >= 0 for one in first)
    assert checked_delay(delay) == delay


def test_geometric_delays_have_the_mean_that_they_say() -> None:
    run = Run("aa", 3, 50, RewardScale(), 5)
    drawn = [delays("geometric:20", run)(t) for t in range(20_000)]
    assert abs(sum(drawn) / len(drawn) - 20) < 1
    uniform = [delays("uniform:2-4", run)(t) for t in range(3_000)]
    assert set(uniform) == {2, 3, 4}


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"delay": "often"}, "delay is 'often': give how many rounds later"),
        ({"delay": -1}, "delay is '-1'"),
        ({"delay": "uniform:5-3"}, "delay is 'uniform:5-3'"),
        ({"delay": "geometric:0"}, "delay is 'geometric:0'"),
        ({"delay": True}, "delay is 'True'"),
        ({"batch": 0}, "batch is a whole number of at least 1"),
        ({"outstanding": 1.5}, "outstanding is a whole number"),
        ({"outstanding": 3, "batch": 4}, "but 4 decisions are made together"),
        ({"settle": "soon"}, "settle is 'soon': give a length of time such as 30s"),
        ({"settle": "0s"}, "settle is '0s'"),
        ({"settle": "90d"}, "but this run waits for each"),
    ],
    ids=str,
)
def test_what_no_run_can_keep_is_refused(options: dict[str, object], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        lotor.Samba(**options)  # type: ignore[arg-type]


@given(st.integers(1, 6), st.integers(1, 30), st.integers(0, 8), st.integers(1, 60))
def test_no_more_than_so_many_are_without_an_outcome(k: int, m: int, more: int, t: int) -> None:
    rules = outcome_rules(k + 1, 100, m + more, m, "0")
    if t > k and rules.counts_before(t):
        unknown = t + m - 1 - max(0, rules.due(t))
        assert unknown <= m + more
