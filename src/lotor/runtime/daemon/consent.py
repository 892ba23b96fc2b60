"""Which runs a party starts by itself, and its objections to any other."""

from collections.abc import Iterator, Mapping
from math import inf, isfinite

import msgspec

from lotor.core.errors import InputError
from lotor.core.fingerprint import CodeFingerprint
from lotor.policies import canonical
from lotor.policies.registry import split_text
from lotor.runtime.daemon.config_tables import ANY, ConsentRules
from lotor.runtime.durable.ledger import BudgetSum, at_worst

_LONGEST = 200


class RunRequest(msgspec.Struct, frozen=True):
    """A run that its opener asks this party to take part in.

    `policy` is "" if the protocol has none, `owners` is None if it has only one, and `privacy` is
    None if the protocol does not account for what its arms tell; `delta` is the probability that
    they tell more. `code` are the packages, other than Lotor itself, whose code the run computes
    with. `better` are the protocol's forms on which no attack was measured to succeed, if one did
    on this `form`. `reveals` is what the opener learns beyond the result, in words, by name, and
    `keeps` what this party would keep after the run, in words, if anything.
    """

    run: str
    opener: str
    protocol: str
    policy: str
    budget: int
    owners: int | None = None
    privacy: float | None = None
    delta: float = 0.0
    code: tuple[CodeFingerprint, ...] = ()
    form: str = ""
    better: tuple[str, ...] = ()
    reveals: Mapping[str, str] = msgspec.field(default_factory=dict)
    keeps: str = ""


def objections(rules: ConsentRules | None, request: RunRequest, spent: BudgetSum) -> list[str]:
    """The objections to starting a run unasked, a sentence each; an empty list if it may start.

    They are for this party's operator: they tell its limits, and what earlier runs have `spent`.

    >>> rules = ConsentRules(
    ...     customers=("acme",), policies=("ucb",), least_budget=100, total_budget=1000
    ... )
    >>> objections(rules, RunRequest("run", "acme", "their-protocol", "ucb", 50), BudgetSum())
    ['its budget of 50 is below least_budget 100']
    """
    if rules is None:
        no_rules = "this party has set no rules: its party.toml has no [consent] table"
        return [no_rules, *_not_to_be_told((), request)]
    found = [*_not_listed(rules, request), *form_objections(rules.forms, request)]
    found += _not_to_be_told(rules.reveal, request)
    found += keep_objections(rules.keep, request)
    found += _out_of_bounds(rules, request, spent.pulls)
    if request.privacy is not None:
        found += _told_too_much(rules, request.privacy, request.delta, spent.epsilon)
    return found


def form_objections(forms: tuple[str, ...] | None, request: RunRequest) -> Iterator[str]:
    """The objection to the form of a run, if there is one; every party has it, with rules or not.

    Nobody can be talked into a form that leaks where there is a better one.

    >>> request = RunRequest("run", "acme", "p", "", 50, form="paper", better=("shared",))
    >>> len(list(form_objections(None, request))), list(form_objections(("paper",), request))
    (1, [])
    """
    if forms is not None and not _holds(forms, request.form):
        yield f"its form {_shown(request.form)} is not among forms ({_listed(forms)})"
    elif forms is None and request.better:
        yield (
            f"its form {_shown(request.form)} gives away what it should hide (`lotor runs show` "
            f"says what was measured), and {_shown(request.protocol)} has a form that was not "
            f"seen to: {', '.join(request.better)}"
        )


def keep_objections(keep: bool, request: RunRequest) -> Iterator[str]:
    """The objection to keeping something after the run, for a party that is to."""
    if request.keeps and not keep:
        yield f"this party keeps {request.keeps}, after the run, and keep is not true in [consent]"


def _not_listed(rules: ConsentRules, request: RunRequest) -> Iterator[str]:
    """The objections to who orders a run, to its policy and to its code."""
    if not _holds(rules.customers, request.opener):
        yield (
            f"{_shown(request.opener)}, which orders it, is not among customers "
            f"({_listed(rules.customers)})"
        )
    if request.policy and not any(_allows(rule, request.policy) for rule in rules.policies):
        yield (
            f"its policy {_shown(request.policy)} is not among policies ({_listed(rules.policies)})"
        )
    for package in request.code:
        if not _holds(rules.code, package.distribution):
            yield (
                f"it runs code of {_shown(str(package))}, which is not among code "
                f"({_listed(rules.code)})"
            )


def _not_to_be_told(allowed: tuple[str, ...], request: RunRequest) -> Iterator[str]:
    """The objections to what the opener learns beyond the result: to all that is not listed."""
    for name, told in request.reveals.items():
        if not _holds(allowed, name):
            yield (
                f"it tells {_shown(request.opener)} {told}, and {_shown(name)} is not among reveal "
                f"({_listed(allowed)})"
            )


def _out_of_bounds(rules: ConsentRules, request: RunRequest, earlier: int) -> Iterator[str]:
    """The objections to the size of a run, together with the pulls of earlier runs."""
    if request.owners is not None and request.owners < rules.least_owners:
        yield f"its {request.owners} owners are fewer than least_owners {rules.least_owners}"
    if request.budget < rules.least_budget:
        yield f"its budget of {request.budget} is below least_budget {rules.least_budget}"
    if earlier + max(request.budget, 0) > rules.total_budget:
        pulls = f"its budget of {request.budget}"
        pulls += f" and the {earlier} of earlier runs are" if earlier else " is"
        yield f"{pulls} above total_budget {rules.total_budget}"


def _told_too_much(
    rules: ConsentRules, privacy: float, delta: float, earlier: float
) -> Iterator[str]:
    """The objections to what the arms of a run may tell, with those of earlier runs."""
    # What is no amount at all is too much, too.
    told, fails, allowed = at_worst(privacy, inf), at_worst(delta, 1.0), rules.privacy_budget
    if allowed is not None and told + earlier > allowed:
        amounts = f"its arms may tell {_amount(told)}"
        if earlier:
            amounts += f" and those of earlier runs {_amount(earlier)}"
        yield f"{amounts}, which is above privacy_budget {allowed}"
    if fails > rules.largest_delta:
        yield (
            f"its arms may tell more than is stated with probability {fails}, which is above "
            f"largest_delta {rules.largest_delta}"
        )


def _amount(told: float) -> str:
    return f"up to {told}" if isfinite(told) else "everything (no bound, inf)"


def _holds(names: tuple[str, ...], name: str) -> bool:
    return ANY in names or name in names


def _allows(rule: str, policy: str) -> bool:
    """A rule without parameters allows all of them, one with parameters exactly these."""
    if rule == ANY:
        return True
    if rule == split_text(rule)[0]:
        return split_text(policy)[0] == rule
    return _canonical(policy) == _canonical(rule)


def _canonical(policy: str) -> str:
    """One text for each policy of the catalogue, so that 0.020 is 0.02 and defaults are there."""
    try:
        return canonical(policy)
    except InputError:
        return policy


def _shown(text: str) -> str:
    """Text from outside, in one short line."""
    return repr(text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…")


def _listed(allowed: tuple[str, ...]) -> str:
    return ", ".join(allowed) or "none are listed"
