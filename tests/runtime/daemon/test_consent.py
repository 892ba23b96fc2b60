import math

import msgspec
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from lotor.core.fingerprint import CodeFingerprint
from lotor.core.fixed_point import MAXIMAL_BUDGET
from lotor.policies import Softmax, to_text
from lotor.runtime.daemon.config_tables import ConsentRules
from lotor.runtime.daemon.consent import RunRequest, keep_objections, objections
from lotor.runtime.durable.ledger import BudgetSum

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
spending = st.builds(BudgetSum, pulls=st.integers(0, 4000))
NOTHING = BudgetSum()


@given(rules=rules, request=requests, spent=spending)
def test_there_is_one_objection_for_each_rule_that_is_broken(
    rules: ConsentRules, request: RunRequest, spent: BudgetSum
) -> None:
    title = request.policy.partition(":")[0]
    broken = [
        not {"*", request.opener} & set(rules.customers),
        request.policy != "" and not {"*", request.policy, title} & set(rules.policies),
        request.budget < rules.least_budget,
        request.budget + spent.pulls > rules.total_budget,
    ]
    found = objections(rules, request, spent)
    assert len(found) == sum(broken)
    for word, is_broken in zip(
        ("customers", "policies", "least_budget", "total_budget"), broken, strict=True
    ):
        assert any(word in sentence for sentence in found) == is_broken


@given(request=requests, spent=spending)
def test_without_rules_nothing_starts_by_itself(request: RunRequest, spent: BudgetSum) -> None:
    (sentence,) = objections(None, request, spent)
    assert "set no rules" in sentence


@given(rules=rules, request=requests, spent=spending)
def test_spending_more_never_helps(
    rules: ConsentRules, request: RunRequest, spent: BudgetSum
) -> None:
    more = msgspec.structs.replace(spent, pulls=spent.pulls + 1)
    assert len(objections(rules, request, more)) >= len(objections(rules, request, spent))


@given(rules=rules, asked=st.lists(requests, max_size=12))
def test_what_starts_by_itself_never_exceeds_the_total(
    rules: ConsentRules, asked: list[RunRequest]
) -> None:
    spent = 0
    for request in asked:
        if not objections(rules, request, BudgetSum(pulls=spent)):
            spent += request.budget
    assert spent <= rules.total_budget


@given(tau=st.floats(0.01, 10.0), other=st.floats(0.01, 10.0))
def test_parameters_count_as_numbers(tau: float, other: float) -> None:
    assume(tau != other)
    rules = ConsentRules(
        customers=("*",), policies=(f"softmax:tau={tau:.20e}",), least_budget=1, total_budget=10
    )
    request = RunRequest("run", "acme", "samba", to_text(Softmax(tau=tau)), 10)
    assert objections(rules, request, NOTHING) == []
    assert objections(
        rules, msgspec.structs.replace(request, policy=f"softmax:tau={other!r}"), NOTHING
    )


def test_a_class_without_parameters_is_allowed_with_all_of_them() -> None:
    def allowed(rule: str, policy: str) -> bool:
        limits = ConsentRules(customers=("*",), policies=(rule,), least_budget=1, total_budget=10)
        return not objections(limits, RunRequest("run", "acme", "samba", policy, 5), NOTHING)

    bare, given = "mine:Tuned", "mine:Tuned:weight=2"
    assert allowed(bare, bare)
    assert allowed(bare, given)
    assert allowed(given, given)
    assert not allowed(given, bare)
    assert not allowed(given, "mine:Tuned:weight=3")
    assert not allowed(bare, "mine:Other:weight=2")
    assert not allowed("mine", given)


def test_earlier_runs_are_named_only_where_there_are_some() -> None:
    limits = ConsentRules(customers=("*",), policies=("*",), least_budget=1, total_budget=10)
    request = RunRequest("run", "acme", "samba", "ucb", 11)
    assert objections(limits, request, NOTHING) == ["its budget of 11 is above total_budget 10"]
    (text,) = objections(limits, request, BudgetSum(pulls=3))
    assert text == "its budget of 11 and the 3 of earlier runs are above total_budget 10"


def test_a_rule_allows_no_policy_whose_name_is_longer() -> None:
    rules = ConsentRules(customers=("*",), policies=("rsoful",), least_budget=1, total_budget=10)
    wish = RunRequest("run", "acme", "helba", "rsoful:C=2", 10)
    assert objections(rules, wish, NOTHING) == []
    assert objections(rules, msgspec.structs.replace(wish, policy="rsofultr:C=2"), NOTHING)


def test_linear_policies_are_compared_by_their_numbers_too() -> None:
    rules = ConsentRules(
        customers=("*",), policies=("linucb:R=0.20",), least_budget=1, total_budget=10
    )
    request = RunRequest("run", "acme", "linucb-ds", "linucb:gamma=1.0,delta=0.01,R=0.2,S=1.0", 10)
    assert objections(rules, request, NOTHING) == []
    assert objections(rules, msgspec.structs.replace(request, policy="linucb:R=0.3"), NOTHING)


@given(text=st.text(max_size=400), budget=st.integers())
def test_a_sentence_is_one_line_whatever_comes_from_outside(text: str, budget: int) -> None:
    rules = ConsentRules(customers=(), policies=(), least_budget=5, total_budget=10)
    found = objections(rules, RunRequest(text, text, text, text, budget), NOTHING)
    assert found
    assert all(sentence.isprintable() for sentence in found)


@pytest.mark.parametrize(
    ("forms", "better", "allowed"),
    [
        (None, (), True),
        (None, ("shared",), False),
        (("paper",), ("shared",), True),
        (("*",), ("shared",), True),
        (("shared",), (), False),
        ((), (), False),
    ],
)
def test_a_form_waits_that_is_not_allowed(
    forms: tuple[str, ...] | None, better: tuple[str, ...], allowed: bool
) -> None:
    """Without a list, a form that leaks waits where there is a better one."""
    rules = msgspec.structs.replace(limited(None), forms=forms)
    request = RunRequest("run", "acme", "samba", "", 50, form="paper", better=better)
    found = objections(rules, request, NOTHING)
    assert (found == []) == allowed
    assert all(sentence.startswith("its form 'paper' ") for sentence in found)


@pytest.mark.parametrize("keep", [False, True])
def test_who_is_to_keep_something_is_asked_unless_its_rules_say_so(*, keep: bool) -> None:
    limits = ConsentRules(("acme",), ("ucb",), 1, 99, least_owners=1, keep=keep)
    asked = RunRequest("run", "acme", "samba", "ucb", 9, keeps="its sums")
    found = objections(limits, asked, NOTHING)
    assert found == list(keep_objections(keep, asked))
    assert [one[:24] for one in found] == ([] if keep else ["this party keeps its sum"])
    assert not objections(limits, msgspec.structs.replace(asked, keeps=""), NOTHING)


def test_a_negative_budget_buys_nothing() -> None:
    rules = ConsentRules(customers=("*",), policies=("*",), least_budget=1, total_budget=10)
    assert (
        len(
            objections(
                rules, RunRequest("run", "acme", "samba", "", -MAXIMAL_BUDGET), BudgetSum(pulls=11)
            )
        )
        == 2
    )


def test_too_few_owners_wait_for_approval() -> None:
    rules = ConsentRules(customers=("*",), policies=("*",), least_budget=1, total_budget=100)
    for owners, accepted in ((1, False), (2, False), (3, True), (None, True)):
        request = RunRequest("run", "acme", "samba", "ucb", 50, owners)
        assert (objections(rules, request, NOTHING) == []) == accepted


@given(allowed=st.floats(0.0, 1e9), told=st.floats(0.0, 1e9))
def test_a_run_whose_arms_may_tell_more_than_is_allowed_waits(allowed: float, told: float) -> None:
    request = RunRequest("run", "acme", "ppcb", "", 50, privacy=told)
    found = objections(limited(allowed), request, NOTHING)
    if told <= allowed:
        assert found == []
    else:
        (sentence,) = found
        assert f"up to {told}, which is above privacy_budget {allowed}" in sentence


@pytest.mark.parametrize("told", [math.inf, math.nan, -math.inf, -1.0, -0.0])
def test_arms_that_may_tell_everything_are_above_any_limit(told: float) -> None:
    request = RunRequest("run", "acme", "ppcb", "", 50, privacy=told)
    (sentence,) = objections(limited(1e308), request, NOTHING)
    assert "everything (no bound, inf), which is above privacy_budget 1e+308" in sentence
    assert objections(limited(None), request, NOTHING) == []


def test_what_is_not_accounted_is_not_limited() -> None:
    assert objections(limited(0.0), RunRequest("run", "acme", "samba", "ucb", 50), NOTHING) == []


@given(
    allowed=st.floats(0.0, 1e9),
    told=st.lists(st.floats(0.0, 1e9) | st.sampled_from([math.inf, 1e-300, 5e-324]), max_size=12),
)
def test_what_starts_by_itself_never_tells_more_than_the_privacy_budget(
    allowed: float, told: list[float]
) -> None:
    rules = limited(allowed)
    started: list[float] = []
    for amount in told:
        request = RunRequest("run", "acme", "ppcb", "", 1, privacy=amount)
        if not objections(rules, request, BudgetSum(epsilon=math.fsum(started))):
            started.append(amount)
    assert math.fsum(started) <= allowed * (1 + 2**-52)
    assert math.inf not in started


def test_earlier_runs_count_as_what_they_may_have_told() -> None:
    request = RunRequest("run", "acme", "ppcb", "", 50, privacy=7.0)
    assert objections(limited(12.0), request, BudgetSum(epsilon=5.0)) == []
    (sentence,) = objections(limited(12.0), request, BudgetSum(epsilon=6.5))
    assert sentence == (
        "its arms may tell up to 7.0 and those of earlier runs up to 6.5, which is above "
        "privacy_budget 12.0"
    )
    (sentence,) = objections(limited(1e308), request, BudgetSum(epsilon=math.inf))
    assert "those of earlier runs everything (no bound, inf), which is above" in sentence
    huge = msgspec.structs.replace(request, privacy=1e308)
    assert objections(limited(1.5e308), huge, BudgetSum(epsilon=1e308))


@pytest.mark.parametrize("delta", [1.1e-6, 0.9999999999999999, 1e300, math.inf, math.nan, -0.0])
def test_a_run_whose_account_may_fail_more_often_than_is_allowed_waits(delta: float) -> None:
    """The orderer chooses delta: with a large one, an account reads as little as it likes."""
    request = RunRequest("run", "acme", "ppcb", "", 50, privacy=0.0, delta=delta)
    for rules in (limited(0.0), limited(None)):
        (sentence,) = objections(rules, request, NOTHING)
        assert sentence.startswith("its arms may tell more than is stated with probability ")
        assert sentence.endswith(", which is above largest_delta 1e-06")
    assert objections(limited(0.0), msgspec.structs.replace(request, delta=1e-6), NOTHING) == []
    unaccounted = msgspec.structs.replace(request, privacy=None)
    assert objections(limited(0.0), unaccounted, NOTHING) == []


def test_an_owner_chooses_its_largest_delta() -> None:
    request = RunRequest("run", "acme", "ppcb", "", 50, privacy=1.0, delta=1e-6)
    strict = msgspec.structs.replace(limited(9.0), largest_delta=0.0)
    assert len(objections(strict, request, NOTHING)) == 1
    assert objections(strict, msgspec.structs.replace(request, delta=0.0), NOTHING) == []
    loose = msgspec.structs.replace(limited(9.0), largest_delta=1e-3)
    assert objections(loose, msgspec.structs.replace(request, delta=1e-3), NOTHING) == []


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
    found = objections(rules, RunRequest("run", "acme", "toy", "ucb", 5, code=(theirs,)), NOTHING)
    expected = (
        "it runs code of 'lotor-toy 1.0 (abababababab)', which is not among code (none are listed)"
    )
    assert found == ([] if allowed else [expected])


@given(
    allowed=st.sets(st.sampled_from(["*", "best", "counts"])).map(tuple),
    told=st.sets(st.sampled_from(["best", "counts", "more"])),
)
def test_what_the_opener_is_told_must_be_listed(allowed: tuple[str, ...], told: set[str]) -> None:
    """Whatever other rules say, and also where there are no rules."""
    reveals = {name: f"which arm is the {name} one" for name in sorted(told)}
    request = RunRequest("run", "acme", "samba", "ucb", 50, reveals=reveals)
    rules = ConsentRules(
        customers=("*",), policies=("*",), least_budget=1, total_budget=99, reveal=allowed
    )
    refused = set() if "*" in allowed else told - set(allowed)
    found = objections(rules, request, NOTHING)
    assert len(found) == len(refused)
    for name, sentence in zip(sorted(refused), found, strict=True):
        assert sentence.startswith(f"it tells 'acme' which arm is the {name} one, and {name!r} is")
    assert len(objections(None, request, NOTHING)) == 1 + len(told)
