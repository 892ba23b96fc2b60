"""Which runs a party starts by itself, and what it has against any other."""

from math import isfinite

import msgspec

from lotor.core.errors import InputError
from lotor.policies.texts import canonical
from lotor.runtime.daemon.tables import ANY, ConsentRules

_LONGEST = 200


class Wish(msgspec.Struct, frozen=True):
    """A run that a customer asks for.

    `policy` is "" where the protocol has none, `owners` None where it has but one, and `privacy`
    None where it does not account what its arms tell.
    """

    run: str
    customer: str
    protocol: str
    policy: str
    budget: int
    owners: int | None = None
    privacy: float | None = None


def objections(rules: ConsentRules | None, wish: Wish, spent: int) -> list[str]:
    """What speaks against starting a run unasked, one sentence each; nothing if it may start.

    `spent` is the sum of the budgets of the runs that were accepted so far.

    >>> rules = ConsentRules(
    ...     customers=("acme",), policies=("ucb",), least_budget=100, total_budget=1000
    ... )
    >>> objections(rules, Wish("run", "acme", "samba", "ucb", 50), spent=0)
    ['its budget of 50 is below least_budget 100']
    """
    if rules is None:
        return ["this party has set no rules: its party.toml has no [consent] table"]
    found = []
    if not _holds(rules.customers, wish.customer):
        found.append(
            f"its customer {_shown(wish.customer)} is not among customers "
            f"({_listed(rules.customers)})"
        )
    if wish.policy and not any(_allows(rule, wish.policy) for rule in rules.policies):
        found.append(
            f"its policy {_shown(wish.policy)} is not among policies ({_listed(rules.policies)})"
        )
    if wish.owners is not None and wish.owners < rules.least_owners:
        found.append(f"its {wish.owners} owners are fewer than least_owners {rules.least_owners}")
    if wish.budget < rules.least_budget:
        found.append(f"its budget of {wish.budget} is below least_budget {rules.least_budget}")
    if spent + max(wish.budget, 0) > rules.total_budget:
        found.append(
            f"its budget of {wish.budget} and the {spent} of earlier runs are above total_budget "
            f"{rules.total_budget}"
        )
    allowed, told = rules.privacy_budget, wish.privacy
    # In this form what is not a number is too much, too.
    if allowed is not None and told is not None and not told <= allowed:
        amount = f"up to {told}" if isfinite(told) else "everything (no bound, inf)"
        found.append(f"its arms may tell {amount}, which is above privacy_budget {allowed}")
    return found


def _holds(names: tuple[str, ...], name: str) -> bool:
    return ANY in names or name in names


def _allows(rule: str, policy: str) -> bool:
    """A rule without parameters allows all of them, one with parameters exactly these."""
    if rule == ANY:
        return True
    if ":" not in rule:
        return policy.partition(":")[0] == rule
    return _canonical(policy) == _canonical(rule)


def _canonical(policy: str) -> str:
    """One text for each policy of the catalogue, so that 0.020 is 0.02 and defaults are there."""
    try:
        return canonical(policy)
    except InputError:
        return policy


def _shown(text: str) -> str:
    """What came from outside, in one short line."""
    return repr(text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…")


def _listed(allowed: tuple[str, ...]) -> str:
    return ", ".join(allowed) or "none are listed"
