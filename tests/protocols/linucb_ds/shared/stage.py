"""Runs of the shared form that its tests look into."""

import numpy as np

import lotor
from helpers import Outcome, run_openly
from lotor.core.effects import Message
from lotor.protocols.linucb_ds.shared.comp import LinUCBSharedComp
from lotor.protocols.linucb_ds.shared.principal import LinUCBSharedPrincipal
from lotor.transport import Transport

K, D, BUDGET = 5, 3, 40


def some_arms(seed: int = 4, *, k: int = K, d: int = D) -> lotor.LinearArms:
    """Arms in all directions; theta is just shorter than 1."""
    generator = np.random.default_rng(seed)
    theta = generator.normal(size=d)
    theta *= 0.99 / np.sqrt(np.square(theta).sum())
    return lotor.LinearArms(generator.normal(size=(k, d)), theta)


def shared_run(
    arms: lotor.LinearArms | None = None,
    *,
    budget: int = BUDGET,
    seed: int = 1,
    transport: Transport | None = None,
) -> Outcome:
    protocol = lotor.LinUCBDS(form="shared")
    return run_openly(protocol, arms or some_arms(), budget=budget, seed=seed, transport=transport)


def comp_of(outcome: Outcome) -> LinUCBSharedComp:
    party = outcome.parties["comp"]
    assert isinstance(party, LinUCBSharedComp)
    return party


def principal_of(outcome: Outcome) -> LinUCBSharedPrincipal:
    party = outcome.parties["principal"]
    assert isinstance(party, LinUCBSharedPrincipal)
    return party


def contents(outcome: Outcome, kind: type[Message], field: str) -> list[bytes]:
    """One field of all messages of a kind, in their order."""
    return [
        getattr(one.message, field)
        for one in outcome.recorder.exchanges
        if isinstance(one.message, kind)
    ]
