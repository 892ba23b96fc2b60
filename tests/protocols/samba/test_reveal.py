"""What the customer is told beyond the total: that of plain, and told to nobody else."""

from collections import Counter

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lotor
from helpers import Outcome, run_openly
from lotor.core.errors import InputError, ProtocolError
from lotor.core.revealed import Revealed
from lotor.policies import Policy, to_text
from lotor.protocols.party import Party
from lotor.protocols.revealing import SENTENCES
from lotor.protocols.samba.dealt import leakage as dealt
from lotor.protocols.samba.dealt.messages import DealtBits
from lotor.protocols.samba.shared import leakage as shared
from lotor.protocols.samba.shared.messages import ResultShares
from protocols.samba.test_late_outcomes import ALL_POLICIES, DELAYS
from rebuilding import RestartingRun

FORMS = ["shared", "dealt"]
REVEALS = [*SENTENCES]
MESSAGES = {"shared": shared.MESSAGES, "dealt": dealt.MESSAGES}
ARMS = lotor.BernoulliArms([0.3, 0.8, 0.5, 0.5])


def assert_equals_plain(
    chosen: lotor.Samba, arms: lotor.environments.Environment, budget: int, seed: int
) -> Revealed:
    secure = lotor.run(chosen, arms, budget=budget, seed=seed)
    plain = lotor.run(chosen.plain(), arms, budget=budget, seed=seed)
    assert (secure.arms, secure.reward) == (plain.arms, plain.reward)
    assert secure.revealed == plain.revealed
    expected = chosen.in_form().complexity(chosen, arms, budget)["expected"]
    assert {name: secure.operations[name] for name in expected} == expected
    assert secure.revealed is not None
    return secure.revealed


@pytest.mark.parametrize("policy", ALL_POLICIES, ids=to_text)
@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=4)
@given(
    means=st.lists(st.sampled_from([0.0, 0.5, 0.6, 1.0]), min_size=1, max_size=5),
    extra=st.integers(0, 20),
    seed=st.integers(0, 2**48),
    delay=DELAYS,
    reveal=st.sampled_from(REVEALS),
    data=st.data(),
)
def test_secure_tells_what_plain_tells(
    form: str,
    policy: Policy,
    means: list[float],
    extra: int,
    seed: int,
    delay: str,
    reveal: str,
    data: st.DataObject,
) -> None:
    """With ties, and with outcomes that come late, or after the last round."""
    owners = data.draw(st.integers(1, len(means)), label="owners")
    chosen = lotor.Samba(policy, form=form, owners=owners, delay=delay, reveal=reveal)  # type: ignore[arg-type]
    assert_equals_plain(chosen, lotor.BernoulliArms(means), len(means) + extra, seed)


@pytest.mark.parametrize("form", FORMS)
def test_it_is_the_arm_or_the_counts_of_the_trajectory(form: str) -> None:
    arms = lotor.BernoulliArms({"A": 0.2, "B": 0.9, "C": 0.4})
    for reveal in REVEALS:
        chosen = lotor.Samba(form=form, owners=2, reveal=reveal)  # type: ignore[arg-type]
        result = lotor.run(chosen, arms, budget=60, seed=3)
        counts = Counter(result.arms or [])
        told = result.revealed
        assert told is not None
        assert told.names == ["A", "B", "C"]
        assert (told.arm, told.counts) == (
            (None, [counts[0], counts[1], counts[2]]) if reveal == "counts" else (1, None)
        )
        assert told.text in repr(result)
        assert lotor.Result.from_json(result.to_json()) == result


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("reveal", REVEALS)
def test_ties_all_the_way(form: str, reveal: str) -> None:
    """Equal means and equal counts: the servers' order of ties decides, as in plain."""
    found = set()
    for seed in range(3):
        chosen = lotor.Samba(owners=3, form=form, reveal=reveal)  # type: ignore[arg-type]
        arms = lotor.BernoulliArms([1.0] * 6)
        found.add(assert_equals_plain(chosen, arms, 12, seed).arm)
    assert len(found) > 1 or reveal == "counts"


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("reveal", ["best", "counts"])
def test_a_restart_at_every_effect_changes_nothing(form: str, reveal: str) -> None:
    chosen = lotor.Samba(owners=2, form=form, delay="uniform:0-9", outstanding=6, reveal=reveal)  # type: ignore[arg-type]
    plain = lotor.run(chosen.plain(), ARMS, budget=15, seed=3)
    broken = run_openly(RestartingRun(chosen, 2), ARMS, budget=15, seed=3)  # type: ignore[arg-type]
    told = told_to(broken.parties["customer"])
    assert (broken.arms, told.called(None)) == (plain.arms, plain.revealed)


def told_to(party: Party) -> Revealed:
    assert party.revealed is not None
    return party.revealed


def recorded(form: str, reveal: str) -> Outcome:
    chosen = lotor.Samba(owners=2, form=form, reveal=reveal)  # type: ignore[arg-type]
    return run_openly(chosen, ARMS, budget=20, seed=2)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("reveal", REVEALS)
def test_only_the_customer_is_told(form: str, reveal: str) -> None:
    """Owners hear of nothing behind the last round, and messages have the widths of other runs."""
    outcome, again = recorded(form, reveal), recorded(form, reveal)
    told = told_to(outcome.parties["customer"])
    assert told.names == [f"owner-{1 + (arm > 1)} (arm {arm})" for arm in range(4)]
    others = [one for name, one in outcome.parties.items() if name != "customer"]
    assert all(one.revealed is None for one in others)
    results = DealtBits if form == "dealt" else ResultShares
    to_owners = [
        one
        for one in outcome.recorder.exchanges
        if one.to.startswith("owner") and type(one.message) is results
    ]
    assert len(to_owners) == 16 * 2 * (2 if form == "dealt" else 1)
    for exchange in outcome.recorder.exchanges:
        fields = MESSAGES[form][type(exchange.message)]
        assert set(fields) == set(exchange.message.__struct_fields__)
    sizes = [[len(one.payload) for one in run.recorder.exchanges] for run in (outcome, again)]
    assert sizes[0] == sizes[1]


def test_the_paper_form_refuses_with_the_reason() -> None:
    with pytest.raises(InputError, match=r"reveal is 'best', and the paper's form .* Comp would"):
        lotor.Samba(form="paper", reveal="best")
    with pytest.raises(InputError, match="reveal is 'all': choose nothing, best"):
        lotor.Samba(reveal="all")  # type: ignore[arg-type]


@pytest.mark.filterwarnings("ignore::lotor.crypto.paillier.InsecureKeyWarning")
@pytest.mark.parametrize("form", [*FORMS, "paper"])
def test_terms_that_tell_what_nobody_knows_are_refused(form: str) -> None:
    weak = {"insecure_key_bits": 128} if form == "paper" else {}
    chosen = lotor.Samba(form=form, **weak)  # type: ignore[arg-type]
    order = run_openly(chosen, ARMS, budget=5).recorder.exchanges[0].message
    terms = msgspec.msgpack.decode(order.terms)  # type: ignore[attr-defined]
    plan = chosen.in_form().plan
    assert plan(msgspec.msgpack.encode(terms)).reveals == {}
    with pytest.raises(ProtocolError, match="to be told 'all', which this version does not know"):
        plan(msgspec.msgpack.encode({**terms, "reveal": "all"}))
    best = msgspec.msgpack.encode({**terms, "reveal": "best"})
    if form == "paper":
        with pytest.raises(ProtocolError, match="customer ordered reveal 'best': the paper's form"):
            plan(best)
    else:
        assert plan(best).reveals == {"best": "which arm has the best mean in the end"}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("reveal", REVEALS)
def test_the_table_says_what_the_customer_is_told(form: str, reveal: str) -> None:
    made = lotor.Samba.form_called(form)
    usual, told = made.findings(()), made.findings((reveal,))
    assert usual == made.leakage
    assert SENTENCES[reveal] in told["customer"].measured
    assert told["customer"].measured.startswith(usual["customer"].measured)
    assert {**told, "customer": usual["customer"]} == usual
    assert made.tells(lotor.Samba(form=form), "customer") == frozenset()
    with_it = lotor.Samba(form=form, reveal=reveal)  # type: ignore[arg-type]
    assert "best arm" in made.tells(with_it, "customer")
