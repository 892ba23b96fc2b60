"""Runs of the dealt form."""

from functools import cache

import lotor
from helpers import Outcome, run_openly, view_of
from lotor.core.views import View
from lotor.policies.linear import LinearPolicy
from lotor.protocols.linucb_ds.dealt.customer import LinUCBDealtCustomer
from lotor.protocols.linucb_ds.dealt.form import LinUCBDSDealt, SpectralUCBDSDealt
from lotor.protocols.linucb_ds.dealt.terms import LinUCBDealtTerms
from protocols.linucb_ds.stage import some_arms, some_graph

FORM, SPECTRAL = LinUCBDSDealt(), SpectralUCBDSDealt()
ARMS, BUDGET = some_arms(1, k=9, d=2), 6


def dealt(policy: LinearPolicy | None = None) -> lotor.LinUCBDS:
    if isinstance(policy, lotor.SpectralUCB):
        return lotor.SpectralUCBDS(policy, form="dealt")
    return lotor.LinUCBDS(policy or lotor.LinUCB(), form="dealt")


@cache
def recorded(kind: str = "linucb", budget: int = 40) -> Outcome:
    """A run that several tests look into."""
    if kind == "linucb":
        return run_openly(dealt(), some_arms(3, k=12, d=4), budget=budget, run_id="aa")
    arms = some_graph(3, k=8)
    return run_openly(dealt(lotor.SpectralUCB(C=20.0)), arms, budget=budget, run_id="aa")


def terms_of(outcome: Outcome) -> LinUCBDealtTerms:
    customer = outcome.parties["customer"]
    assert isinstance(customer, LinUCBDealtCustomer)
    return customer._terms


def view(outcome: Outcome, *seats: str) -> View:
    return view_of(outcome, terms_of(outcome).to_bytes(), *seats)
