"""A run that continues another one: secure equals plain, and two runs in a row equal one."""

from collections.abc import Callable
from dataclasses import dataclass

import msgspec
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import lotor
from helpers import run_openly
from lotor.core.effects import Decision
from lotor.core.errors import FormatError, InputError, ProtocolError
from lotor.policies import POLICIES, Policy, check_genericity, to_text
from lotor.policies.genericity import Genericity
from lotor.protocols.earlier import EndedRun
from lotor.protocols.kept_arms import KeptArms
from lotor.protocols.samba import form as form_module
from lotor.protocols.samba.continued import ContinuedRun
from lotor.protocols.samba.form import _spread
from lotor.protocols.samba.terms import SambaTerms, terms_from
from rebuilding import RestartingRun

FORMS = ["shared", "dealt", "paper"]
pytestmark = pytest.mark.filterwarnings("ignore::lotor.crypto.paillier.InsecureKeyWarning")

PLAIN = [kind() for kind in POLICIES.values() if issubclass(kind, Policy)]
ALL_POLICIES = [one for one in PLAIN if check_genericity(one) == Genericity(None, None)]
REVEALS = ["nothing", "best", "most-pulled", "counts"]
DELAYS = st.one_of(
    st.integers(0, 9).map(str),
    st.builds("uniform:{}-{}".format, st.integers(0, 3), st.integers(3, 12)),
    st.builds("geometric:{}".format, st.integers(1, 12)),
)


def samba(policy: Policy, form: str, **options: object) -> lotor.Samba:
    weak = {"insecure_key_bits": 128} if form == "paper" else {}
    return lotor.Samba(policy, form=form, keep=True, **weak, **options)  # type: ignore[arg-type]


def bernoulli(k: int) -> lotor.BernoulliArms:
    return lotor.BernoulliArms([(i + 1) / (k + 1) for i in range(k)])


@dataclass(frozen=True)
class ByRound:
    """What a pull pays depends on its arm and its round alone, not on pulls before it."""

    k: int
    reward_range: tuple[float, float] = (-1.0, 3.0)

    def start(self, seed: int) -> Callable[[Decision], float]:
        low, high = self.reward_range

        def pull(decision: Decision) -> float:
            place = np.random.SeedSequence([seed, decision.arm, decision.round])
            drawn = float(place.generate_state(1)[0]) / 2.0**32
            return low + (high - low) * drawn * (decision.arm + 1) / self.k

        return pull


def assert_continued_equals_plain(
    form: str, policy: Policy, delay: str, batch: int, data: st.DataObject
) -> None:
    """Three runs in a row, with arms that join, and what secure does in each, plain does."""
    k, seed = data.draw(st.integers(1, 4), label="k"), data.draw(st.integers(0, 2**48))
    owners = data.draw(st.integers(1, k), label="owners")
    more = data.draw(st.one_of(st.none(), st.integers(0, 9)), label="outstanding")
    secure = plain = None
    for _ in range(3):
        chosen = samba(
            policy,
            form,
            owners=owners,
            delay=delay,
            batch=batch,
            outstanding=None if more is None else batch + more,
            reveal=data.draw(st.sampled_from(REVEALS[: 1 if form == "paper" else None])),
        )
        budget = k + data.draw(st.integers(0, 25), label="extra")
        arms = bernoulli(k)
        secure = lotor.run(chosen, arms, budget=budget, seed=seed, continues=secure)
        plain = lotor.run(chosen.plain(), arms, budget=budget, seed=seed, continues=plain)
        assert secure.arms == plain.arms
        assert secure.reward == plain.reward
        assert secure.rewards == plain.rewards
        assert secure.revealed == plain.revealed
        new = data.draw(st.integers(0, 2), label="new arms")
        joining = data.draw(st.integers(0, new), label="joining owners")
        k, owners = k + new, owners + joining


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=12)
@given(policy=st.sampled_from(ALL_POLICIES), delay=DELAYS, batch=st.integers(1, 5), data=st.data())
def test_a_continued_run_equals_plain(
    form: str, policy: Policy, delay: str, batch: int, data: st.DataObject
) -> None:
    assert_continued_equals_plain(form, policy, delay, batch, data)


@pytest.mark.long
@pytest.mark.parametrize("policy", ALL_POLICIES, ids=to_text)
@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=10)
@given(delay=DELAYS, batch=st.integers(1, 5), data=st.data())
def test_a_continued_run_equals_plain_with_every_policy(
    form: str, policy: Policy, delay: str, batch: int, data: st.DataObject
) -> None:
    assert_continued_equals_plain(form, policy, delay, batch, data)


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    policy=st.sampled_from(ALL_POLICIES),
    k=st.integers(2, 4),
    new=st.integers(1, 2),
    late=st.booleans(),
    seed=st.integers(0, 2**48),
)
def test_an_owner_between_others_gets_further_arms(
    form: str,
    policy: Policy,
    k: int,
    new: int,
    late: bool,
    seed: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its arms then have numbers with a gap, and places among all arms that are others."""

    def spread(owners: int, k: int, before: dict[str, int]) -> dict[str, int]:
        if not before:
            return _spread(owners, k, before)
        first = next(iter(before))
        return {**before, first: before[first] + k - sum(before.values())}

    monkeypatch.setattr(form_module, "_spread", spread)
    chosen = samba(policy, form, owners=2, delay="uniform:0-5" if late else "0")
    # Equal arms, so that ties are frequent.
    arms, more = lotor.BernoulliArms([0.5] * k), lotor.BernoulliArms([0.5] * (k + new))
    secure = lotor.run(chosen, arms, budget=k + 6, seed=seed)
    plain = lotor.run(chosen.plain(), arms, budget=k + 6, seed=seed)
    again = lotor.run(chosen, more, budget=20, seed=seed, continues=secure)
    assert again.agrees_with(lotor.run(chosen.plain(), more, budget=20, seed=seed, continues=plain))


@pytest.mark.parametrize("form", ["plain", *FORMS])
@settings(max_examples=15)
@given(
    policy=st.sampled_from(ALL_POLICIES),
    k=st.integers(1, 4),
    batch=st.integers(1, 3),
    more=st.integers(0, 4),
    turns=st.integers(0, 8),
    rest=st.integers(1, 20),
    seed=st.integers(0, 2**48),
)
def test_two_runs_in_a_row_are_one(
    form: str, policy: Policy, k: int, batch: int, more: int, turns: int, rest: int, seed: int
) -> None:
    """Where all outcomes of the first are known at its end, and rewards depend on no earlier pull.

    The first must end with a batch: the second one begins with one.
    """
    chosen = samba(
        policy, "shared" if form == "plain" else form, batch=batch, outstanding=batch + more
    )
    protocol = chosen.plain() if form == "plain" else chosen
    first, arms = k + turns * batch, ByRound(k)
    whole = lotor.run(protocol, arms, budget=first + rest, seed=seed)
    one = lotor.run(protocol, arms, budget=first, seed=seed)
    other = lotor.run(protocol, arms, budget=rest, seed=seed, continues=one)
    assert [*(one.arms or []), *(other.arms or [])] == whole.arms
    assert one.reward + other.reward == pytest.approx(whole.reward)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "late", [False, pytest.param(True, marks=pytest.mark.long)], ids=["at-once", "late"]
)
def test_a_restart_at_every_effect_changes_nothing(form: str, *, late: bool) -> None:
    options = {"delay": "uniform:0-9", "outstanding": 6, "batch": 2} if late else {}
    chosen = samba(lotor.Pursuit(0.2), form, owners=2, **options)
    arms, more = bernoulli(3), bernoulli(4)
    first = lotor.run(chosen, arms, budget=12, seed=3)
    plain = lotor.run(
        chosen.plain(),
        more,
        budget=12,
        seed=3,
        continues=lotor.run(chosen.plain(), arms, budget=12, seed=3),
    )
    assert isinstance(first.kept, EndedRun)
    for every in (1, 3) if late else (2,):
        again = run_openly(
            RestartingRun(chosen, every),  # type: ignore[arg-type]
            more,
            budget=12,
            seed=3,
            earlier=first.kept,
            before=12,
        )
        assert (again.arms, again.seats["customer"].output) == (plain.arms, plain.reward)
        kept = again.parties["owner-1"]._party.kept  # type: ignore[attr-defined]
        assert KeptArms.from_bytes(kept).rounds == 24


def test_only_owners_keep_anything_and_only_if_they_are_to() -> None:
    for form in FORMS:
        chosen = samba(lotor.UCB(), form, owners=2)
        result = lotor.run(chosen, bernoulli(3), budget=12, seed=3)
        assert isinstance(result.kept, EndedRun)
        assert sorted(result.kept.kept) == ["owner-1", "owner-2"]
        assert "kept" not in repr(result)
        assert lotor.Result.from_json(result.to_json()).kept is None
        assert repr(KeptArms.from_bytes(result.kept.kept["owner-1"])).startswith("<KeptArms of own")
    without = lotor.run(lotor.Samba(lotor.UCB()), bernoulli(3), budget=12, seed=3)
    assert without.kept is None
    with pytest.raises(InputError, match="kept nothing that a further run could begin with"):
        lotor.run(lotor.Samba(lotor.UCB()), bernoulli(3), budget=12, continues=without)


def test_arms_that_stay_keep_their_numbers_and_new_ones_follow() -> None:
    def ordered(run: str, owners: dict[str, int], continued: ContinuedRun | None) -> SambaTerms:
        return SambaTerms(
            run=run,
            budget=9,
            owners=owners,
            policy="ucb",
            iterations=1,
            low=0.0,
            high=1.0,
            continued=continued,
        )

    first = ordered("aa", {"lyon": 2, "porto": 1, "turin": 2}, None)
    assert first.numbers() == {"lyon": [0, 1], "porto": [2], "turin": [3, 4]}
    assert [first.first_rounds(one) for one in first.owners] == [[1, 2], [3], [4, 5]]
    now = {"lyon": 3, "turin": 2, "oslo": 1}
    continued = ContinuedRun.of(first, now)
    second = ordered("bb", now, continued)
    second.check("bb", lotor.UCB())
    assert second.numbers() == {"lyon": [0, 1, 5], "turin": [3, 4], "oslo": [6]}
    assert [second.first_rounds(one) for one in now] == [[9, 9, 10], [9, 9], [11]]
    assert second.all_numbers == [0, 1, 5, 3, 4, 6]
    assert (second.first, second.last, second.new) == (12, 18, 2)
    assert terms_from(SambaTerms, second.to_bytes()) == second
    with pytest.raises(InputError, match="it cannot leave some of its arms out"):
        ContinuedRun.of(first, {"lyon": 1})
    with pytest.raises(InputError, match="no owner of run aa takes part"):
        ContinuedRun.of(first, {"oslo": 1})


@pytest.mark.parametrize(
    "continued",
    [
        ContinuedRun("", 9, {"lyon": [0]}),
        ContinuedRun("bb", 9, {"lyon": [0]}),
        ContinuedRun("aa", 0, {"lyon": [0]}),
        ContinuedRun("aa", 9, {}),
        ContinuedRun("aa", 9, {"lyon": []}),
        ContinuedRun("aa", 9, {"lyon": [0, 0]}),
        ContinuedRun("aa", 9, {"lyon": [0], "porto": [0]}),
        ContinuedRun("aa", 9, {"lyon": [-1]}),
        ContinuedRun("aa", 9, {"lyon": [9]}),
        ContinuedRun("aa", 9, {"lyon": [0, 1, 2]}),
        ContinuedRun("aa", 9, {"oslo": [0]}),
        ContinuedRun("aa", (1 << 31) - 5, {"lyon": [0]}),
    ],
)
def test_an_order_that_continues_nothing_is_refused(continued: ContinuedRun) -> None:
    terms = SambaTerms(
        run="bb",
        budget=9,
        owners={"lyon": 2, "porto": 1},
        policy="ucb",
        iterations=1,
        low=0.0,
        high=1.0,
        continued=continued,
    )
    with pytest.raises(ProtocolError, match="which no run can do"):
        terms.check("bb", lotor.UCB())


def test_what_does_not_fit_is_refused_with_the_reason() -> None:
    chosen, arms = samba(lotor.UCB(), "shared", owners=2), bernoulli(4)
    first = lotor.run(chosen, arms, budget=9, seed=1)
    plain = lotor.run(chosen.plain(), arms, budget=9, seed=1)

    def refused(protocol: object, result: lotor.Result, match: str, **options: object) -> None:
        environment = options.pop("environment", arms)
        given = {"budget": 9, "seed": 1, **options}
        with pytest.raises(InputError, match=match):
            lotor.run(protocol, environment, continues=result, **given)  # type: ignore[arg-type]

    other = samba(lotor.Softmax(), "shared", owners=2)
    refused(other, first, "was one of ucb, and what its owners have kept")
    refused(other.plain(), plain, "was one of ucb, and what is known of its arms")
    refused(samba(lotor.UCB(), "dealt"), first, "in the form shared, and a run in the form dealt")
    refused(chosen, plain, "is one of plain, and samba cannot continue it")
    refused(lotor.PPCB(), first, "is one of samba, and ppcb cannot continue it")
    refused(chosen, first, "an owner goes with all its arms", environment=bernoulli(3))
    refused(chosen, first, "from 1 to 2147483647 further rounds", budget=0)
    refused(chosen, first, "start a new run", budget=(1 << 31) - 5)
    refused(chosen, first, "which no run can do", budget=1, environment=bernoulli(6))
    refused(
        chosen.plain(),
        plain,
        "does not pull each of 2 new arms",
        budget=1,
        environment=bernoulli(6),
    )
    refused(chosen, first, "reward_range", environment=ByRound(4))
    refused(chosen.plain(), plain, "reward_range", environment=ByRound(4))


def test_an_owner_goes_on_only_from_what_it_kept_itself() -> None:
    chosen, arms = samba(lotor.UCB(), "shared", owners=2), bernoulli(4)
    first = lotor.run(chosen, arms, budget=9, seed=1)
    other = lotor.run(chosen, arms, budget=9, seed=1)
    assert isinstance(first.kept, EndedRun)
    assert isinstance(other.kept, EndedRun)
    kept = dict(first.kept.kept)

    def refused(kept: dict[str, bytes], match: str, kind: type[Exception] = InputError) -> None:
        ended = EndedRun(first.run, "samba", first.kept.order, kept, "shared")  # type: ignore[attr-defined]
        result = msgspec.structs.replace(first, kept=ended)
        with pytest.raises(kind, match=match):
            lotor.run(chosen, arms, budget=9, seed=1, continues=result)

    refused({"owner-1": kept["owner-1"]}, "owner-2 has kept nothing of run")
    refused({**kept, "owner-2": kept["owner-1"]}, "what owner-2 has kept of run")
    refused({**kept, "owner-2": other.kept.kept["owner-2"]}, "what owner-2 has kept of run")
    refused({**kept, "owner-2": kept["owner-2"][:-3]}, "in a format", FormatError)
    refused({**kept, "owner-2": b"\x93"}, "in a format", FormatError)
