"""The forms in which no server learns anything: the same attacks find nothing at one of them."""

from functools import cache

import pytest

import lotor
from lotor.auditing.report import AuditReport, Verdict
from lotor.core.registry import load
from lotor.protocols.attack import Attack, Distinguisher
from lotor.protocols.samba.attack_lists import ON_OWNERS, ON_SERVERS

FORMS = ("shared", "dealt")
SERVERS = ("controller", "comp")
# Attacks that might fail by chance say nothing for so few runs; a long test has more.
REPEAT = 4


@cache
def report(form: str, policy: str = "ucb", arms: int = 3, budget: int = 40) -> AuditReport:
    samba = lotor.Samba.configured(policy, {"form": form})
    means = [0.8, 0.5, 0.2][:arms]
    return lotor.audit(samba, lotor.BernoulliArms(means), budget=budget, repeat=REPEAT, seed=7)


@pytest.mark.parametrize("form", FORMS)
def test_what_it_states_holds(form: str) -> None:
    found = report(form, "ucb")
    assert found.holds
    stated = {(row.party, row.secret) for row in found.rows if row.stated and row.shown}
    assert stated == {("owner", "own pulls"), ("controller+comp", "arms")}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("policy", ["ucb", "epsilon-greedy"])
def test_a_server_alone_follows_nothing(form: str, policy: str) -> None:
    found = report(form, policy)
    for server in SERVERS:
        for attack in ("tracker: rewards", "tracker: counts and sums"):
            row = found.row(server, attack)
            assert row.verdict is Verdict.AT_CHANCE
            assert row.of >= 4 * 36
            assert row.right <= row.of * row.chance + 1e-9


@pytest.mark.parametrize("form", FORMS)
def test_both_servers_together_read_all_scores(form: str) -> None:
    """But for ties, whose order they also know."""
    row = report(form, "ucb").row("controller+comp", "scores, put together")
    assert row.right > 0.9 * row.of


@pytest.mark.parametrize("form", [pytest.param("shared", marks=pytest.mark.long), "dealt"])
@pytest.mark.parametrize("reveal", ["nothing", "best", "counts"])
def test_the_customer_alone_learns_what_it_is_told(form: str, reveal: str) -> None:
    """Over so few runs an attack at chance is never taken for one that works."""
    samba = lotor.Samba(form=form, reveal=reveal)  # type: ignore[arg-type]
    arms = lotor.BernoulliArms([0.2, 0.9, 0.5])
    found = lotor.audit(samba, arms, budget=20, repeat=12, seed=7)
    rows = [row for row in found.rows if row.secret in ("best arm", "counts of arms")]
    assert {row.party for row in rows} == {"customer", *SERVERS}
    for row in rows:
        told = {"nothing": (), "best": ("best arm",)}.get(reveal, ("best arm", "counts of arms"))
        assert row.stated == (row.party == "customer" and row.secret in told)
        if row.stated:
            assert (row.right, row.verdict) == (row.of, Verdict.AS_STATED)


@pytest.mark.parametrize("form", FORMS)
def test_with_two_arms_an_owner_finds_the_other_one(form: str) -> None:
    """Inherent in knowing one's own pulls, whatever the form."""
    row = report(form, arms=2, budget=60).row("owner", "the other of two arms")
    assert row.verdict is Verdict.AS_STATED
    assert row.right > 0.8 * row.of


def test_every_attack_that_forms_list_exists() -> None:
    for name in lotor.Samba.forms:
        form = lotor.Samba.form_called(name)
        assert set(ON_OWNERS) <= set(form.attacks["owner"])
        assert set(ON_SERVERS) <= set(form.attacks["controller"])
        coalitions = {"+".join(roles) for roles in form.coalitions}
        roles = {role.name for role in form.roles}
        assert set(form.attacks) <= coalitions | roles
        for attack in (one for listed in form.attacks.values() for one in listed):
            kind = load(attack, "attack")
            assert isinstance(kind, type)
            assert issubclass(kind, Attack | Distinguisher)
