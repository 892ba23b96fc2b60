"""Attacks on LinUCB-DS with live rewards: what each party finds in its view, and Comp with P."""

from typing import ClassVar

import numpy as np

from lotor.core.errors import InputError
from lotor.core.fixed_point import Floats
from lotor.core.views import Truth, View
from lotor.crypto.paillier import Ciphertext
from lotor.environments import LinearArms, VectorArms
from lotor.policies.linear import LinearModel, LiveLayout
from lotor.protocols.attack import NOT_TRIED, Attack, Score
from lotor.protocols.chance import blind, random_direction
from lotor.protocols.linucb_ds.attacks import (
    ALIKE,
    cosine,
    messages_in,
    nearest_theta,
    played_by,
)
from lotor.protocols.linucb_ds.live.messages import ChosenArm, EncryptedReward
from lotor.protocols.linucb_ds.live.terms import LiveTerms
from lotor.protocols.linucb_ds.paper.attacks import (
    REWARD_ERROR,
    ArmsFromScores,
    RewardsFromScores,
    ScoresDecrypted,
    scores_in,
)
from lotor.protocols.linucb_ds.paper.comp import LinUCBComp
from lotor.protocols.linucb_ds.paper.score_tracker import ScoreTracker
from lotor.protocols.linucb_ds.paper.wire import arm_from, place_of
from lotor.protocols.linucb_ds.terms import terms_from


class LiveScoresDecrypted(ScoresDecrypted):
    """The same with live rewards."""

    def real(self, truth: Truth) -> list[list[int]]:
        """As plain computes them."""
        game = played_by(truth.parties)
        terms, arms = game.terms, _world(truth)
        if not isinstance(terms, LiveTerms):
            raise InputError("this attack needs a run with live rewards")
        model, layout = _made(terms, arms)
        sums, scores = layout.sums(), []
        pulls = zip(truth.arms, truth.rewards, strict=True)
        for t, (arm, reward) in enumerate(pulls, start=1):
            model.update(arm, layout.middle)
            sums.add(arm, layout.excess(reward))
            u, c = model.live_coefficients(t, game.draws.normals)
            scores.append(layout.scores(layout.u(u), sums.learnt, layout.addends(c)))
        return scores[:-1]


class LiveArmsFromScores(ArmsFromScores):
    """The same with live rewards."""

    def tracked(self, view: View, truth: Truth) -> ScoreTracker:
        return live_tracker(view, _world(truth))


class LiveRewardsFromScores(RewardsFromScores):
    """The same with live rewards."""

    def tracked(self, view: View, truth: Truth) -> ScoreTracker:
        return live_tracker(view, _world(truth))

    def real(self, truth: Truth) -> tuple[Floats, float]:
        low, high = _world(truth).reward_range
        return np.array(truth.rewards), REWARD_ERROR * (high - low)


class RewardsDecrypted(Attack):
    """Whoever has rewards under Comp's key, and that key: P and Comp have one each."""

    name: ClassVar[str] = "rewards, decrypted"
    secret: ClassVar[str] = "rewards"

    def score(self, view: View, truth: Truth) -> Score:
        scale = terms_from(LiveTerms, view.order).scale
        real = [scale.to_fixed(reward) for reward in truth.rewards]
        sent, comp = messages_in(view, EncryptedReward), view.parties.get("comp")
        if not sent or not isinstance(comp, LinUCBComp):
            # One number in place of all is as good a guess as any.
            usual = max(real, key=real.count)
            return Score(real.count(usual), len(real), blind(real))
        key, middle = comp._key, scale.to_fixed(scale.low + (scale.high - scale.low) / 2)
        found = [
            key.decrypt(Ciphertext.from_bytes(one.reward, key.public)) + middle for one in sent
        ]
        right = sum(one == other for one, other in zip(found, real, strict=True))
        return Score(right, len(real), blind(real))


class ArmsHandedOn(Attack):
    """P tells the owner which arm to pull, and both know it."""

    name: ClassVar[str] = "arms, handed on"
    secret: ClassVar[str] = "arms"

    def score(self, view: View, truth: Truth) -> Score:
        sent = messages_in(view, ChosenArm)
        k = _world(truth).k
        found = [arm_from(place_of(t), one.arm, k, t) for t, one in enumerate(sent, start=1)]
        right = sum(one == other for one, other in zip(found, truth.arms, strict=True))
        return Score(right, len(truth.arms), blind(truth.arms))


class LiveRewardsPulled(Attack):
    """The owner is who knows what an arm pays."""

    name: ClassVar[str] = "rewards, pulled"
    secret: ClassVar[str] = "rewards"

    def score(self, view: View, truth: Truth) -> Score:
        found = [reward for _, reward in view.pulls]
        right = sum(one == other for one, other in zip(found, truth.rewards, strict=True))
        return Score(right, len(truth.rewards), blind(truth.rewards))


class LiveDirectionFromPulls(Attack):
    """P knows every u and c but for the noise, and that the pulled arm had the largest score."""

    name: ClassVar[str] = "direction of theta, from the pulled arms"
    secret: ClassVar[str] = "direction of theta"

    def score(self, view: View, truth: Truth) -> Score:
        world = truth.environment
        if not isinstance(world, LinearArms):
            return NOT_TRIED  # nobody knows of a theta
        game = played_by(view.parties)
        policy = game.terms.check(game.terms.run)
        guess = nearest_theta(
            policy, world.vectors, game.pulled, world.eigenvalues, game.draws.normals
        )
        right = cosine(guess, world.theta) > ALIKE
        return Score(int(right), 1, random_direction(len(world.theta), ALIKE))


def live_tracker(view: View, arms: LinearArms | VectorArms) -> ScoreTracker:
    """Comp with the scores of its view and this catalogue of arms, at the end of the run."""
    model, layout = _made(terms_from(LiveTerms, view.order), arms)
    # In units of the policy, and less what is common to a round.
    seen = [
        np.array([float(score - max(one)) for score in one]) * layout.unit
        for one in scores_in(view)
    ]
    tracker = ScoreTracker(model, seen)
    tracker.read()
    return tracker


def _made(terms: LiveTerms, arms: LinearArms | VectorArms) -> tuple[LinearModel, LiveLayout]:
    policy = terms.check(terms.run)
    model = policy.start(arms.vectors, budget=terms.budget, eigenvalues=arms.eigenvalues)
    return model, LiveLayout(arms.vectors, model.least_penalty, terms.scale, terms.budget)


def _world(truth: Truth) -> LinearArms | VectorArms:
    if not isinstance(truth.environment, LinearArms | VectorArms):
        raise InputError(
            f"this attack needs VectorArms, LinearArms or GraphArms, not {truth.environment!r}"
        )
    return truth.environment
