import math

import msgspec
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from lotor.core.fingerprint import CodeFingerprint
from lotor.core.fixed_point import MAXIMAL_BUDGET
from lotor.policies import Softmax, to_text
from lotor.runtime.daemon.config_tables import ConsentRules
from lotor.runtime.daemon.consent import RunRequest, objections

names = st.sampled_from(["acme", "globex", "initech"])
texts = st.sampled_from(["ucb", "softmax:tau=0.02", "softmax:tau=0.5", "pursuit:beta=0.1", "my:x"])
budgets = st.integers(1, 1000)
customers = st.sets(names | st.just("*")).map(lambda found: tuple(sorted(found)))
policies = st.sets(texts | st.sampled_from(["*", "softmax"])).map(
    lambda found: tuple(sorted(found))
)
rules = st.builds(
    ConsentRules,
    customers=customers,
    policies=policies,
    least_budget=budgets,
    total_budget=st.integers(1000, 3000),
)
requests = st.builds(
    RunRequest, st.just("run"), names, st.just("samba"), texts | st.just(""), budgets
)
spending = st.integers(0, 4000)


@given(rules=rules, request=requests, spent=spending)
def test_there_is_one_objection_for_each_rule_that_is_broken(
    rules: ConsentRules, request: RunRequest, spent: int
) -> None:
    title = request.policy.partition(":")[0]
    broken = [
        not {"*", request.opener} & set(rules.customers),
        request.policy != "" and not {"*", request.policy, title} & set(rules.policies),
        request.budget < rules.least_budget,
        request.budget + spent > rules.total_budget,
    ]
    found = objections(rules, request, spent)
    assert len(found) == sum(broken)
    for word, is_broken in zip(
        ("customers", "policies", "least_budget", "total_budget"), broken, strict=True
    ):
        assert any(word in sentence for sentence in found) == is_broken


@given(request=requests, spent=spending)
def test_without_rules_nothing_starts_by_itself(request: RunRequest, spent: int) -> None:
    (sentence,) = objections(None, request, spent)
    assert "set no rules" in sentence


@given(rules=rules, request=requests, spent=spending)
def test_spending_more_never_helps(rules: ConsentRules, request: RunRequest, spent: int) -> None:
    assert len(objections(rules, request, spent + 1)) >= len(objections(rules, request, spent))


@given(rules=rules, asked=st.lists(requests, max_size=12))
def test_what_starts_by_itself_never_exceeds_the_total(
    rules: ConsentRules, asked: list[RunRequest]
) -> None:
    spent = 0
    for request in asked:
        if not objections(rules, request, spent):
            spent += request.budget
    assert spent <= rules.total_budget


@given(tau=st.floats(0.01, 10.0), other=st.floats(0.01, 10.0))
def test_parameters_count_as_numbers(tau: float, other: float) -> None:
    assume(tau != other)
    rules = ConsentRules(
        customers=("*",), policies=(f"softmax:tau={tau:.20e}",), least_budget=1, total_budget=10
    )
    request = RunRequest("run", "acme", "samba", to_text(Softmax(tau=tau)), 10)
    assert objections(rules, request, 0) == []
    assert objections(rules, msgspec.structs.replace(request, policy=f"softmax:tau={other!r}"), 0)


def test_a_rule_allows_no_policy_whose_name_is_longer() -> None:
    rules = ConsentRules(customers=("*",), policies=("rsoful",), least_budget=1, total_budget=10)
    wish = RunRequest("run", "acme", "helba", "rsoful:C=2", 10)
    assert objections(rules, wish, 0) == []
    assert objections(rules, msgspec.structs.replace(wish, policy="rsofultr:C=2"), 0)


def test_linear_policies_are_compared_by_their_numbers_too() -> None:
    rules = ConsentRules(
        customers=("*",), policies=("linucb:R=0.20",), least_budget=1, total_budget=10
    )
    request = RunRequest("run", "acme", "linucb-ds", "linucb:gamma=1.0,delta=0.01,R=0.2,S=1.0", 10)
    assert objections(rules, request, 0) == []
    assert objections(rules, msgspec.structs.replace(request, policy="linucb:R=0.3"), 0)


@given(text=st.text(max_size=400), budget=st.integers())
def test_a_sentence_is_one_line_whatever_comes_from_outside(text: str, budget: int) -> None:
    rules = ConsentRules(customers=(), policies=(), least_budget=5, total_budget=10)
    found = objections(rules, RunRequest(text, text, text, text, budget), 0)
    assert found
    assert all(sentence.isprintable() for sentence in found)


def test_a_negative_budget_buys_nothing() -> None:
    rules = ConsentRules(customers=("*",), policies=("*",), least_budget=1, total_budget=10)
    assert len(objections(rules, RunRequest("run", "acme", "samba", "", -MAXIMAL_BUDGET), 11)) == 2


def test_too_few_owners_wait_for_approval() -> None:
    rules = ConsentRules(customers=("*",), policies=("*",), least_budget=1, total_budget=100)
    for owners, accepted in ((1, False), (2, False), (3, True), (None, True)):
        request = RunRequest("run", "acme", "samba", "ucb", 50, owners)
        assert (objections(rules, request, spent=0) == []) == accepted


@given(allowed=st.floats(0.0, 1e9), told=st.floats(0.0, 1e9))
def test_a_run_whose_arms_may_tell_more_than_is_allowed_waits(allowed: float, told: float) -> None:
    request = RunRequest("run", "acme", "ppcb", "", 50, privacy=told)
    found = objections(limited(allowed), request, spent=0)
    if told <= allowed:
        assert found == []
    else:
        (sentence,) = found
        assert f"up to {told}, which is above privacy_budget {allowed}" in sentence


@pytest.mark.parametrize("told", [math.inf, math.nan])
def test_arms_that_may_tell_everything_are_above_any_limit(told: float) -> None:
    request = RunRequest("run", "acme", "ppcb", "", 50, privacy=told)
    (sentence,) = objections(limited(1e308), request, spent=0)
    assert "everything (no bound, inf), which is above privacy_budget 1e+308" in sentence
    assert objections(limited(None), request, spent=0) == []


def test_what_is_not_accounted_is_not_limited() -> None:
    assert objections(limited(0.0), RunRequest("run", "acme", "samba", "ucb", 50), spent=0) == []


def limited(allowed: float | None) -> ConsentRules:
    return ConsentRules(
        customers=("*",),
        policies=("*",),
        least_budget=1,
        total_budget=100,
        privacy_budget=allowed,
    )


@pytest.mark.parametrize(("code", "allowed"), [((), False), (("lotor-toy",), True), (("*",), True)])
def test_code_of_another_package_needs_consent_of_its_own(
    code: tuple[str, ...], allowed: bool
) -> None:
    rules = ConsentRules(
        customers=("*",), policies=("*",), least_budget=1, total_budget=10, code=code
    )
    theirs = CodeFingerprint("lotor-toy", "1.0", "ab" * 32)
    found = objections(rules, RunRequest("run", "acme", "toy", "ucb", 5, code=(theirs,)), 0)
    expected = (
        "it runs code of 'lotor-toy 1.0 (abababababab)', which is not among code (none are listed)"
    )
    assert found == ([] if allowed else [expected])
