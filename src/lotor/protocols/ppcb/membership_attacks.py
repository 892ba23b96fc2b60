"""Was this context there? p' guesses it from the arms of a whole run.

One step's arm tells little. But all later arms depend on what was learnt from a context, so that
the likelihood of the whole sequence tells which of two contexts was there.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from lotor.core.errors import InputError
from lotor.core.fixed_point import Floats, RewardScale
from lotor.core.views import Truth, View
from lotor.environments import ContextualArms
from lotor.policies.contextual import LinearEpsilonGreedy
from lotor.protocols.attack import Attack, Score
from lotor.protocols.ppcb.attacks import arms_from_shares
from lotor.protocols.ppcb.terms import terms_from

PROBED = 16
"""Of so many steps, the first ones, the context is guessed."""

# What the policy would never do happens where shares were rounded.
_LEAST = 1e-9


class ContextsFromArms(Attack):
    """Which of two contexts was that of a step, if all others and their rewards are known.

    So much must be assumed to measure differential privacy. One of the two is true; the other one,
    with its rewards, is that of a round which was not played, or else of one much later or earlier.
    """

    name: ClassVar[str] = "membership of a context, from all arms"
    secret: ClassVar[str] = "membership"

    def score(self, view: View, truth: Truth) -> Score:
        world, terms = truth.environment, terms_from(view.order)
        if not isinstance(world, ContextualArms):
            raise InputError(f"this attack needs ContextualArms, not {world!r}")
        scale, arms = terms.scale, arms_from_shares(view)
        width = scale.high - scale.low
        played = PlayedRun(
            terms.learner,
            terms.arms,
            world.contexts[: len(arms)],
            arms,
            (np.array(truth.rewards) - scale.low) / width,
            terms.delay,
        )
        return Score(sum(self._right(played, world, scale)), min(PROBED, len(arms)), 0.5)

    @staticmethod
    def _right(played: "PlayedRun", world: ContextualArms, scale: RewardScale) -> Iterator[bool]:
        """Of each step that is probed, whether the guess is right."""
        likely = played.log_likelihoods().sum()
        for step, arm in enumerate(played.arms[:PROBED]):
            row = decoy_of(step, len(played.arms), world.rounds)
            real, decoy = played.contexts[step], world.contexts[row]
            paid = (world.rewards[row, arm] - scale.low) / (scale.high - scale.low)
            ratio = likely - played.but_for(step, decoy, paid).log_likelihoods().sum()
            # Where the arms do not tell, the guess is as good as a coin.
            yield bool(ratio > 0 or (ratio == 0 and real.tolist() < decoy.tolist()))


def decoy_of(step: int, played: int, rounds: int) -> int:
    """The row of a context that was not that of this step (both from 0)."""
    return played + step if played + step < rounds else (step + played // 2) % played


@dataclass(frozen=True, slots=True)
class PlayedRun:
    """A run as whoever knows everything sees it; rewards are from 0 to 1."""

    policy: LinearEpsilonGreedy
    k: int
    contexts: Floats
    arms: Sequence[int]
    rewards: Floats
    delay: int = 0

    def but_for(self, step: int, context: Floats, reward: float) -> "PlayedRun":
        """The same run with another context in one step (from 0), which pays this much."""
        contexts, rewards = self.contexts.copy(), self.rewards.copy()
        contexts[step], rewards[step] = context, reward
        return replace(self, contexts=contexts, rewards=rewards)

    def log_likelihoods(self) -> Floats:
        """How likely each arm was, given all that was learnt before it."""
        model, delay = self.policy.start(self.k, self.contexts.shape[1]), self.delay
        likely = np.empty(len(self.arms))
        for t, arm in enumerate(self.arms):
            likely[t] = chances(model.scores(self.contexts[t]), self.policy.epsilon)[arm]
            learnt = t - delay
            if learnt >= 0:
                reward = float(self.rewards[learnt])
                model.update(self.arms[learnt], self.contexts[learnt], reward)
        return np.log(np.maximum(likely, _LEAST))


def chances(scores: Floats, epsilon: float) -> Floats:
    """How likely each arm is, by its score; equally good ones share what is not explored."""
    best = scores == scores.max(axis=-1, keepdims=True)
    share = best / best.sum(axis=-1, keepdims=True)
    likely: Floats = (1 - epsilon) * share + epsilon / scores.shape[-1]
    return likely
