"""How Comp follows a run, if it knows the arms: the evidence for leakage.py.

Comp sees every round's scores, in another order and less a number that is common to all of them
(the largest c). After t pulls they are <x_i, A^-1 (b + r x)> + omega |x_i| for the arm x pulled
last and its reward r: from a guess of x, the spread of the scores gives r, and the sorted scores
say whether the guess was right. The largest score names the next arm. So it goes on to the end.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from lotor.core.fixed_point import Floats
from lotor.policies.linear import LinearModel


@dataclass(frozen=True, slots=True)
class LastPull:
    """How far the scores are from those seen, the last reward, all scores up to a constant."""

    error: float
    reward: float
    scores: Floats


class ScoreTracker:
    """Knows the catalogue of arms and the terms (`model`); has seen scores. Nothing else."""

    def __init__(self, model: LinearModel, seen: Sequence[Floats]) -> None:
        self._model = model
        self._seen = [np.sort(scores) for scores in seen]
        self.arms: list[int] = []
        self.rewards: list[float] = []

    def read(self) -> None:
        """Every arm, and every reward but the last, which no scores follow."""
        first = {arm: self.explain(arm) for arm in range(len(self._seen[0]))}
        self.arms.append(min(first, key=lambda arm: first[arm].error))
        for _ in self._seen:
            pull = self.explain(self.arms[-1])
            self._model.update(self.arms[-1], pull.reward)
            self.rewards.append(pull.reward)
            self.arms.append(int(pull.scores.argmax()))

    def explain(self, arm: int) -> LastPull:
        """If this arm was pulled next: the reward that explains the scores after it best."""
        base, one = self._scores(arm, 0.0), self._scores(arm, 1.0)
        seen = self._seen[len(self.rewards)]
        rewards = _candidates(base, one - base, seen)
        return min(
            (_judge(base, one - base, seen, reward) for reward in rewards),
            key=lambda pull: pull.error,
        )

    def _scores(self, arm: int, reward: float) -> Floats:
        """What all arms score after one more pull: a model's c, if all of a reward is noise."""
        before = self._model.snapshot()
        self._model.update(arm, reward)
        scores = self._model.coefficients(len(self.rewards) + 1)[1]
        self._model.restore(before)
        return scores


def _candidates(base: Floats, slope: Floats, seen: Floats) -> list[float]:
    """Rewards with which the scores are spread as those seen: at most two."""
    base, slope, seen = (values - values.mean() for values in (base, slope, seen))
    a, b = float(slope @ slope), 2 * float(slope @ base)
    if a == 0:  # an arm of length 0 pays nothing but noise, which changes no score
        return [0.0]
    c = float(base @ base) - float(seen @ seen)
    root = sqrt(max(0.0, b * b - 4 * a * c))
    return [(-b + sign * root) / (2 * a) for sign in (1, -1)]


def _judge(base: Floats, slope: Floats, seen: Floats, reward: float) -> LastPull:
    order = np.argsort(base + reward * slope)
    # With the order known, the reward follows from all scores at once.
    columns = np.stack([slope[order], np.ones(len(seen))], axis=1)
    fit = np.linalg.lstsq(columns, seen - base[order], rcond=None)[0]
    scores = base + fit[0] * slope
    error = np.abs(np.sort(scores) + fit[1] - seen).max()
    return LastPull(float(error), float(fit[0]), scores)
