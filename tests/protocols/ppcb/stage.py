"""Runs, and looks into them, that the tests of PPCB share."""

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from itertools import count
from math import inf

import numpy as np
import pytest

import lotor
from helpers import Outcome
from lotor.core.effects import Checkpoint, Decision, Effect, Message, Observe, Send, Steps
from lotor.core.fixed_point import REWARD_ONE, Floats, RewardScale
from lotor.crypto.sharing import to_floats
from lotor.protocols.contextual_draws import ContextualDraws
from lotor.protocols.earlier import EndedRun
from lotor.protocols.party import Party, Run
from lotor.protocols.ppcb import owner, receiver
from lotor.protocols.ppcb.computing import PPCBComputing
from lotor.protocols.ppcb.dealt import server, sizes
from lotor.protocols.ppcb.dealt.actor import PPCBActor
from lotor.protocols.ppcb.dealt.circuits import PPCBCircuits, cheapest_circuits
from lotor.protocols.ppcb.dealt.dealer import PPCBDealer
from lotor.protocols.ppcb.dealt.server import PPCBServer
from lotor.protocols.ppcb.owner import PPCBOwner
from lotor.protocols.ppcb.receiver import PPCBReceiver
from lotor.protocols.ppcb.shape import INNER_BITS
from lotor.protocols.ppcb.terms import FIRST, SECOND, PPCBTerms
from lotor.protocols.two_server import dealer as dealing
from lotor.protocols.two_server import server as computing
from lotor.protocols.two_server.dealer import Dealer
from lotor.runtime.drive import drive
from lotor.runtime.pulls import Puller, features
from lotor.runtime.recorder import Recorder
from lotor.transport import MemoryTransport, Transport

SERVERS = (FIRST, SECOND)
ONE_ARM_LEARNS = {"all arms": False, "chosen arm": True}
"""Which circuits a run of the dealt form may compute."""

Wrap = Callable[[str, Party], Party]
Contexts = Callable[[Observe], tuple[float, ...]]


def some_arms(seed: int, *, rounds: int, k: int, d: int) -> lotor.ContextualArms:
    return lotor.ContextualArms.lookalike(rounds=rounds, arms=k, d=d, seed=seed)


@contextmanager
def traced_once() -> Iterator[None]:
    """Circuits are traced once for all runs of one shape and length, to save time."""
    kept: dict[object, PPCBCircuits] = {}

    def traced(terms: PPCBTerms) -> PPCBCircuits:
        one_arm = sizes.one_arm_learns(terms.arms, terms.features)
        shape = terms.shape, terms.delay, terms.steps, terms.learnt, terms.predicts
        if (one_arm, shape) not in kept:
            kept[one_arm, shape] = cheapest_circuits(terms)
        return kept[one_arm, shape]

    with pytest.MonkeyPatch.context() as patch:
        for role in (PPCBDealer, PPCBServer):
            patch.setattr(role, "circuits", staticmethod(traced))
        yield


@contextmanager
def learning(*, one_arm: bool) -> Iterator[None]:
    """Only the chosen arm learns, or every arm's update is computed, whatever the sizes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sizes, "one_arm_learns", lambda _arms, _features: one_arm)
        yield


@contextmanager
def fixed_keys(salt: bytes = b"") -> Iterator[None]:
    """The keys that parties make are the same in each run, so that runs can be compared."""
    with pytest.MonkeyPatch.context() as patch:
        numbers = count()
        for module in (dealing, computing, owner, receiver, server):
            patch.setattr(module, "new_key", lambda: sha256(salt + b"%d" % next(numbers)).digest())
        yield


def play(
    protocol: lotor.PPCB,
    arms: lotor.ContextualArms,
    *,
    budget: int,
    seed: int = 1,
    run_id: str = "aa",
    transport: Transport | None = None,
    wrap: Wrap = lambda _, party: party,
    contexts: Contexts | None = None,
    earlier: EndedRun | None = None,
) -> Outcome:
    """Like `lotor.run`, but keeps parties and views, and lets a test replace some of it."""
    scale = RewardScale(*arms.reward_range)
    run = Run(run_id, arms.k, budget, scale, seed, arms, protocol.least_budget, earlier)
    parties = {name: wrap(name, party) for name, party in protocol.parties(run).items()}
    recorder = Recorder()
    seats = drive(
        parties,
        transport or MemoryTransport(),
        Puller(arms.start(seed), scale),
        recorder,
        observe=contexts or partial(features, arms),
    )
    return Outcome(run, parties, seats, recorder, [seen.arm for _, seen in recorder.acts])


def ended(outcome: Outcome) -> EndedRun:
    """A run as it can be continued."""
    kept = {name: party.kept for name, party in outcome.parties.items() if party.kept is not None}
    return EndedRun(outcome.run.id, "ppcb", terms_of(outcome).to_bytes(), kept, "dealt")


def terms_of(outcome: Outcome) -> PPCBTerms:
    party = outcome.parties["receiver"]
    assert isinstance(party, PPCBReceiver)
    return party._terms


def messages_of(outcome: Outcome, kind: type[Message]) -> list[Message]:
    return [seen.message for seen in outcome.recorder.exchanges if type(seen.message) is kind]


def wire(outcome: Outcome) -> dict[tuple[str, str], list[bytes]]:
    """All that passed between any two parties, in its order."""
    passed: dict[tuple[str, str], list[bytes]] = {}
    for seen in outcome.recorder.exchanges:
        passed.setdefault((seen.sender, seen.to), []).append(seen.payload)
    return passed


def weights_of(parties: Mapping[str, Party]) -> Floats:
    """What both servers have learnt: only both together can say."""
    bits, total = 0, np.zeros(1, np.uint64)
    for name in SERVERS:
        party = parties[name]
        assert isinstance(party, PPCBComputing)
        shape = party._shape
        bits = shape.bits + INNER_BITS
        total = total + party._model.table.share[:, shape.entries :]
    return to_floats(total, bits)


@dataclass(frozen=True)
class Judged:
    """One decision beside that of floats that learnt from the same arms and rewards.

    `gap` is between the two largest scores, not counting those that are exactly 0 like the largest
    here and there; `short` is how far the taken arm's is below the largest.
    """

    t: int
    arm: int
    expected: int
    explores: bool
    gap: float
    short: float


def judged(
    protocol: lotor.PPCB,
    arms: lotor.ContextualArms,
    pulled: list[int],
    seed: int,
    *,
    kept_after: Collection[int] = (),
    learning: int | None = None,
) -> tuple[list[Judged], Floats]:
    """Every decision of a run, and the weights of floats after all of its updates.

    A run that ends where the model is kept learns the rewards that are late. Only those of
    `learning` steps are learnt, if that is given.
    """
    scale = RewardScale(*arms.reward_range)
    run = Run("aa", arms.k, len(pulled), scale, seed, arms, 1)
    draws = ContextualDraws.simulated(run, protocol.policy.epsilon)
    model, pull = protocol.policy.start(arms.k, arms.d), arms.start(seed)
    # Where a weight may be off: floats may come back to 0 exactly, and truncated numbers near it.
    inexact = np.zeros((arms.k, arms.d), dtype=bool)
    seen, earned = np.zeros_like(inexact), np.zeros((arms.k, 1), dtype=bool)
    found: list[Judged] = []
    done = 0
    for t, arm in enumerate(pulled, start=1):
        x = arms.context(t)
        scores = model.scores(x)
        best = np.flatnonzero(scores == scores.max())
        # Arms that never earned anything tie in both; others may, and are truncated differently.
        together = best if not (inexact[best] & (x != 0)).any() else best[:1]
        others = np.delete(scores, together)
        explores = draws.explores(t)
        expected = draws.arm(t) if explores else int(best[draws.ranks(t)[best].argmax()])
        gap = float(scores.max() - others.max(initial=-inf))
        found.append(Judged(t, arm, expected, explores, gap, float(scores.max() - scores[arm])))
        upto = t if t in kept_after else t - protocol.delay
        if learning is not None:
            upto = min(upto, learning)
        begin, done = done, max(done, upto)
        for learnt in range(begin + 1, upto + 1):
            took = pulled[learnt - 1]
            reward = scale.to_fixed(pull(Decision.of_step("aa", learnt, took))) / REWARD_ONE
            model.update(took, arms.context(learnt), reward)
            seen[took] |= arms.context(learnt) != 0
            earned[took] |= reward != 0
            inexact = seen & earned
            assert not model.weights[~inexact].any()
    return found, model.weights


def rebuild(party: Party, snapshot: bytes) -> Party:
    """The same party after a crash, from what it is started with and its snapshot."""
    if isinstance(party, PPCBServer):
        return type(party)(SERVERS.index(party._memory.party), party._terms, snapshot=snapshot)
    if isinstance(party, PPCBOwner):
        return PPCBOwner(party._name, party._terms, snapshot=snapshot)
    if isinstance(party, PPCBReceiver):
        return PPCBReceiver.restored(party._terms.run, snapshot)
    if isinstance(party, Dealer):
        started = party._run, party._digest, party._seats, party._schedule
        return Dealer(*started, snapshot=snapshot)
    assert isinstance(party, PPCBActor)
    return PPCBActor(party._terms, snapshot=snapshot)


@dataclass(frozen=True)
class Done:
    """One effect of a party with what it was handed for it; of a checkpoint, its snapshot."""

    effect: Effect
    handed: object
    snapshot: bytes = b""


class Watched(Party):
    """Keeps every effect of a party."""

    def __init__(self, party: Party) -> None:
        self.party = party
        self.done: list[Done] = []
        self.operations = party.operations  # type: ignore[method-assign]

    def steps(self) -> Steps[object]:
        steps = self.party.steps()
        value: object = None
        while True:
            try:
                effect = steps.send(value)
            except StopIteration as end:
                return end.value
            snapshot = effect.snapshot() if isinstance(effect, Checkpoint) else b""
            value = yield effect
            self.done.append(Done(effect, value, snapshot))

    def sent(self, kind: type[Message]) -> list[Message]:
        sends = [done.effect for done in self.done if isinstance(done.effect, Send)]
        return [send.message for send in sends if type(send.message) is kind]


def watched(
    protocol: lotor.PPCB,
    arms: lotor.ContextualArms,
    *,
    budget: int,
    seed: int = 1,
    replace: Wrap = lambda _, party: party,
    contexts: Contexts | None = None,
    earlier: EndedRun | None = None,
) -> tuple[Outcome, dict[str, Watched]]:
    """A run, and with it all that its parties did."""
    watches: dict[str, Watched] = {}

    def wrap(name: str, party: Party) -> Party:
        return watches.setdefault(name, Watched(replace(name, party)))

    outcome = play(
        protocol,
        arms,
        budget=budget,
        seed=seed,
        run_id="aa" if earlier is None else "bb",
        wrap=wrap,
        contexts=contexts,
        earlier=earlier,
    )
    outcome.parties = {name: watch.party for name, watch in watches.items()}
    return outcome, watches
