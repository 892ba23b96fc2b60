"""Keys, instances and small looks into a run that the tests of LinUCB-DS share."""

from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest

import lotor
from helpers import Outcome, run_openly, view_of
from lotor.core.effects import Checkpoint, Message, Steps
from lotor.core.views import View
from lotor.crypto.paillier import Ciphertext, PrivateKey, generate_keypair
from lotor.policies.linear import Layout, LinearPolicy
from lotor.protocols.linear_draws import LinearDraws
from lotor.protocols.linucb_ds.paper import comp, form
from lotor.protocols.linucb_ds.paper.attacks import scores_in
from lotor.protocols.linucb_ds.paper.customer import KeyedCustomer
from lotor.protocols.linucb_ds.paper.messages import LinUCBTotal
from lotor.protocols.linucb_ds.protocol import PaperSlotBits
from lotor.protocols.party import Party
from lotor.protocols.plain.linear import linear_layout

BITS = 512


@cache
def small_key(whose: str) -> PrivateKey:
    """One key for each holder, so that a key used in another's place shows."""
    return generate_keypair(BITS, insecure_bits=BITS)


@contextmanager
def known_keys(of_comp: PrivateKey, of_customer: PrivateKey) -> Iterator[None]:
    """Every run has these keys: tests do not spend their time on making some."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(comp, "generate_keypair", lambda *_, **__: of_comp)
        patch.setattr(form, "generate_keypair", lambda *_, **__: of_customer)
        yield


def small(policy: LinearPolicy | None = None, slot_bits: PaperSlotBits = 64) -> lotor.LinUCBDS:
    """The protocol for a policy, with keys that protect nothing."""
    if isinstance(policy, lotor.SpectralUCB):
        return lotor.SpectralUCBDS(
            policy, insecure_key_bits=BITS, slot_bits=slot_bits, form="paper"
        )
    return lotor.LinUCBDS(
        policy or lotor.LinUCB(), insecure_key_bits=BITS, slot_bits=slot_bits, form="paper"
    )


def some_arms(seed: int, *, k: int, d: int, noise_sd: float = 0.1) -> lotor.LinearArms:
    """Arms in all directions; theta is just shorter than 1."""
    generator = np.random.default_rng(seed)
    theta = generator.normal(size=d)
    theta *= 0.99 / np.sqrt(np.square(theta).sum())
    return lotor.LinearArms(generator.normal(size=(k, d)), theta, noise_sd=noise_sd)


def some_graph(seed: int, *, k: int) -> lotor.GraphArms:
    """Nodes at random places; the nearer, the heavier their edge."""
    generator = np.random.default_rng(seed)
    places = generator.normal(size=(k, 2))
    distances = np.square(places[:, np.newaxis] - places).sum(axis=2)
    weights = np.exp(-distances) * (1 - np.eye(k))
    return lotor.GraphArms(weights, places @ generator.normal(size=2), noise_sd=0.1)


def customer_of(outcome: Outcome) -> KeyedCustomer[Any]:
    party = outcome.parties["customer"]
    assert isinstance(party, KeyedCustomer)
    return party


def messages_of(outcome: Outcome, kind: type[Message]) -> list[Message]:
    return [seen.message for seen in outcome.recorder.exchanges if type(seen.message) is kind]


def layout_of(outcome: Outcome) -> Layout:
    arms, order = outcome.run.environment, customer_of(outcome)._order
    assert isinstance(arms, lotor.LinearArms)
    return linear_layout(arms.vectors, order.check(outcome.run.id), order.slot_bits)


def exact_sum(outcome: Outcome) -> int:
    """The sum of rewards in integers, from the arms that were pulled, by the book."""
    arms, layout = outcome.run.environment, layout_of(outcome)
    assert isinstance(arms, lotor.LinearArms)
    draws, theta = LinearDraws.simulated(outcome.run, arms), layout.theta(arms.theta)
    return sum(
        sum(
            round(Fraction(x) * Fraction(2) ** layout.arm_fraction) * y
            for x, y in zip(arms.vectors[arm].tolist(), theta, strict=True)
        )
        + round(Fraction(draws.noise(t)) * Fraction(2) ** layout.reward_fraction)
        for t, arm in enumerate(outcome.arms, start=1)
    )


def decrypted_sum(outcome: Outcome) -> int:
    """What the customer reads."""
    (message,) = messages_of(outcome, LinUCBTotal)
    assert isinstance(message, LinUCBTotal)
    key = customer_of(outcome)._key
    return key.decrypt(Ciphertext.from_bytes(message.total, key.public))


def view(outcome: Outcome, *seats: str) -> View:
    return view_of(outcome, customer_of(outcome)._order.to_bytes(), *seats)


def scores_seen_by_comp(outcome: Outcome) -> list[list[int]]:
    """The slots that Comp reads in each round."""
    return scores_in(view(outcome, "comp"))


class Keeping(Party):
    """Keeps each snapshot of a party."""

    def __init__(self, party: Party) -> None:
        self._party = party
        self.snapshots: list[bytes] = []
        self.operations = party.operations  # type: ignore[method-assign]

    def steps(self) -> Steps[object]:
        steps = self._party.steps()
        value: object = None
        while True:
            try:
                effect = steps.send(value)
            except StopIteration as end:
                return end.value
            if isinstance(effect, Checkpoint):
                self.snapshots.append(effect.snapshot())
            value = yield effect


def kept(
    protocol: lotor.LinUCBDS, arms: lotor.LinearArms, *, budget: int
) -> tuple[Outcome, dict[str, Keeping]]:
    """A run, and with it all that its parties wrote down."""
    parties: dict[str, Keeping] = {}
    plain: dict[str, Party] = {}

    def wrap(name: str, party: Party) -> Party:
        plain[name] = party
        return parties.setdefault(name, Keeping(party))

    outcome = run_openly(protocol, arms, budget=budget, run_id="aa", wrap=wrap)
    outcome.parties = plain
    return outcome, parties
