"""Attacks on LinUCB-DS and SpectralUCB-DS: what Comp finds in its view, and with P."""

from collections import Counter
from typing import ClassVar

import numpy as np

from lotor.core.fixed_point import Floats
from lotor.core.vectors import largest_norm
from lotor.core.views import Truth, View
from lotor.crypto.paillier import Ciphertext, PackedLayout
from lotor.environments import LinearArms
from lotor.protocols.attack import Attack, Score
from lotor.protocols.chance import blind
from lotor.protocols.linucb_ds.attacks import (
    messages_in,
    party_of,
    real_rewards,
    real_scores,
    world_of,
)
from lotor.protocols.linucb_ds.paper.comp import LinUCBComp
from lotor.protocols.linucb_ds.paper.messages import LinUCBShape, Model, PackedScores
from lotor.protocols.linucb_ds.paper.score_tracker import ScoreTracker
from lotor.protocols.linucb_ds.paper.terms import LinUCBPaperTerms
from lotor.protocols.linucb_ds.terms import terms_from
from lotor.protocols.plain.linear import linear_layout

REWARD_ERROR = 1e-6
"""A reward counts as found within this part of the length of the longest arm."""


class ScoresDecrypted(Attack):
    """Comp decrypts all scores, as the protocol has it do: whose they are it does not know."""

    name: ClassVar[str] = "scores, decrypted"
    secret: ClassVar[str] = "scores"

    def score(self, view: View, truth: Truth) -> Score:
        seen, real = scores_in(view), self.real(truth)
        found = zip(seen, real, strict=True)
        right = sum((Counter(one) & Counter(other)).total() for one, other in found)
        return Score(right, sum(map(len, real)), 0.0)

    def real(self, truth: Truth) -> list[list[int]]:
        return real_scores(truth)


class ArmsFromScores(Attack):
    """Comp, if it knows the catalogue of arms and nothing else, follows the run.

    A catalogue is often public. Here it is that of the environment, and all that is taken from the
    truth before arms are counted.
    """

    name: ClassVar[str] = "arms, from scores and the catalogue"
    secret: ClassVar[str] = "arms"

    def score(self, view: View, truth: Truth) -> Score:
        guesses = self.tracked(view, truth).arms
        right = sum(guess == arm for guess, arm in zip(guesses, truth.arms, strict=True))
        return Score(right, len(truth.arms), blind(truth.arms))

    def tracked(self, view: View, truth: Truth) -> ScoreTracker:
        return _tracked(view, world_of(truth))


class RewardsFromScores(ArmsFromScores):
    """The same for rewards: all but the last, which no scores follow."""

    name: ClassVar[str] = "rewards, from scores and the catalogue"
    secret: ClassVar[str] = "rewards"

    def score(self, view: View, truth: Truth) -> Score:
        guesses = np.array(self.tracked(view, truth).rewards)
        real, error = self.real(truth)
        right = int((np.abs(guesses - real[:-1]) < error).sum())
        return Score(right, len(real), blind(real.tolist(), error))

    def real(self, truth: Truth) -> tuple[Floats, float]:
        """The rewards, and how far a guess may be off."""
        return real_rewards(truth), REWARD_ERROR * largest_norm(world_of(truth).vectors)


class ThetaDecrypted(Attack):
    """Whoever has theta* and Comp's key reads theta: P and Comp have one each."""

    name: ClassVar[str] = "theta, decrypted"
    secret: ClassVar[str] = "theta"

    def score(self, view: View, truth: Truth) -> Score:
        arms, terms = world_of(truth), terms_from(LinUCBPaperTerms, view.order)
        policy = terms.check(terms.run)
        theta = linear_layout(arms.vectors, policy, terms.slot_bits).theta(arms.theta)
        guess, chance = self._guess(view), blind(theta)
        if guess is None:
            # 0 in its place is as good a guess as any.
            return Score(theta.count(0), len(theta), chance)
        right = sum(one == other for one, other in zip(guess, theta, strict=True))
        return Score(right, len(theta), chance)

    @staticmethod
    def _guess(view: View) -> list[int] | None:
        models, comp = messages_in(view, Model), view.parties.get("comp")
        if not models or not isinstance(comp, LinUCBComp):
            return None
        key = comp._key
        return [key.decrypt(Ciphertext.from_bytes(data, key.public)) for data in models[0].theta]


def scores_in(view: View) -> list[list[int]]:
    """The scores of each round as Comp decrypts them, permuted."""
    key = party_of(view.parties, LinUCBComp)._key
    (shape,) = messages_in(view, LinUCBShape)
    layout = PackedLayout(
        key.public.bits, shape.k, terms_from(LinUCBPaperTerms, view.order).slot_bits
    )
    return [
        layout.unpack(key.decrypt_batch(layout.read(message.packed, key.public)))
        for message in messages_in(view, PackedScores)
    ]


def tracker_of(view: View, vectors: Floats, eigenvalues: Floats | None) -> ScoreTracker:
    """Comp with the scores of its view and this catalogue of arms."""
    terms = terms_from(LinUCBPaperTerms, view.order)
    policy = terms.check(terms.run)
    layout = linear_layout(vectors, policy, terms.slot_bits)
    # In units of the policy, and less what is common to a round.
    seen = [
        np.ldexp(np.array([float(score - max(one)) for score in one]), -layout.fraction)
        for one in scores_in(view)
    ]
    return ScoreTracker(policy.start(vectors, budget=terms.budget, eigenvalues=eigenvalues), seen)


def _tracked(view: View, arms: LinearArms) -> ScoreTracker:
    tracker = tracker_of(view, arms.vectors, arms.eigenvalues)
    tracker.read()
    return tracker
