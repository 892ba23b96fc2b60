"""How somebody who sees lists of masked scores follows the states of all arms, without names.

A hypothesis is a state (pulls and sum) of each arm, in any order. A list of scores fits it when
the two are proportional; the largest score is the arm that is pulled; its reward, 0 or 1, is not
seen, so that each hypothesis forks, and later lists tell which were right. Scores are those of the
policy itself. Where it adds noise, every arm may have been selected. Where it tosses a coin, a
list that fits no hypothesis is of an exploring round.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from lotor.core.draws import Draws, Words
from lotor.core.fixed_point import REWARD_ONE, Floats
from lotor.policies import ArmStates, Policy

Lists: TypeAlias = Mapping[tuple[int, int], Sequence[int]]
Integers: TypeAlias = NDArray[np.int64]

BEAM = 12_000
PRECISION = 1e-9
# So many lists in a row that fit nothing are no exploration, least of all at first.
_PATIENCE_AT_FIRST, _PATIENCE = 15, 60
_MIX = np.uint64(0x9E3779B97F4A7C15)


class Noise(Exception):  # noqa: N818 (nothing has failed)
    """The policy asked for a draw that is its owner's alone."""


class _OwnersDraws:
    def words(self, *_: int, **__: int) -> Words:
        raise Noise

    def integers(self, *_: int, **__: int) -> tuple[int, ...]:
        raise Noise


class _Coin:
    """A coin that always says not to explore."""

    tossed = False

    def words(self, *_: int, **__: int) -> Words:
        raise Noise

    def integers(self, *_: int, **__: int) -> tuple[int, ...]:
        self.tossed = True
        return (2**64 - 1,)


@dataclass(frozen=True, slots=True)
class Step:
    """What is believed of one round: which arm was pulled, its state before, and its reward."""

    arm: int
    n: int
    s: int
    reward: int
    exploring: bool


@dataclass(frozen=True, slots=True)
class Track:
    """The likeliest history of rounds K + 1 to N; arms have arbitrary but fixed numbers."""

    steps: Sequence[Step]
    n: Sequence[int]
    s: Sequence[int]


@dataclass(slots=True)
class _Hypotheses:
    """One row for each hypothesis, and one column for each arm."""

    n: Integers
    s: Integers
    own: dict[str, Floats]
    weight: Floats

    def take(self, rows: Integers) -> "_Hypotheses":
        own = {name: values[rows] for name, values in self.own.items()}
        return _Hypotheses(self.n[rows], self.s[rows], own, self.weight[rows])

    def arms(self) -> ArmStates:
        """All arms of all hypotheses side by side."""
        rows, k = self.n.shape
        arms = ArmStates(rows * k, k)
        arms.n[:] = self.n.ravel()
        arms.s[:] = self.s.ravel() * REWARD_ONE
        arms.mean[:] = self.s.ravel() / self.n.ravel()
        arms.own = {name: values.ravel().copy() for name, values in self.own.items()}
        return arms

    def codes(self, *, own: bool) -> NDArray[np.uint64]:
        """A number for each arm that equal states have in common, with the policy's `own` or not.

        Where noise hides the policy's own variables, states that differ in them alone are one.
        """
        mixed = _mixed(self.n.astype(np.uint64) << np.uint64(32) | self.s.astype(np.uint64))
        for values in self.own.values() if own else ():
            mixed = _mixed(mixed ^ np.rint(values * 2.0**40).astype(np.int64).astype(np.uint64))
        return mixed


def has_exact_scores(policy: Policy) -> bool:
    """Whether the first list of a round shows states as they are, without noise of the owners."""
    try:
        Tracker(policy, 2).score_of(1, 1, 3)
    except Noise:
        return False
    return True


class Tracker:
    """Follows one run of a policy with `k` arms.

    A list of numbers below `zero_below` is one of scores that are all 0: there is nothing in it but
    what decides between equals.
    """

    def __init__(self, policy: Policy, k: int, zero_below: int = 0) -> None:
        self._policy = policy
        self._zero_below = zero_below
        self._coin = _Coin()
        self._draws = Draws(_OwnersDraws(), self._coin)
        ones = np.tri(k + 1, k, -1, dtype=np.int64)
        start = _Hypotheses(np.ones_like(ones), ones, {}, np.zeros(k + 1))
        arms = start.arms()
        policy.start(arms)
        start.own = {name: values.reshape(ones.shape) for name, values in arms.own.items()}
        self._now = start
        self._unexplained, self._patience = 0, _PATIENCE_AT_FIRST
        self._noisy = False
        self._history: list[tuple[Integers, Integers, Integers, Integers, Integers, bool]] = []

    def follow(self, lists: Lists, rounds: range) -> Track | None:
        """What most probably happened; None if no hypothesis fits the lists, or all are noisy."""
        if not has_exact_scores(self._policy):
            return None
        for t in rounds:
            if not self._round(t, [lists[t, l] for l in range(1, self._policy.iterations + 1)]):
                return None
        return self._likeliest()

    def score_of(self, n: int, s: int, t: int) -> float:
        """The score of an arm with this state, if it has no noise."""
        arms = _Hypotheses(np.array([[n]]), np.array([[s]]), {}, np.zeros(1)).arms()
        self._policy.start(arms)
        return float(self._policy.score(arms, t, 1, self._draws.at(t, 1))[0])

    def _round(self, t: int, lists: Sequence[Sequence[int]]) -> bool:
        exploring = False
        parents = np.arange(len(self._now.weight))
        for l, values in enumerate(lists, 1):
            selected = self._selectable(t, l, values)
            if selected is None:
                return False
            rows, chances, fitted = selected
            exploring |= not fitted
            self._now, parents = self._now.take(rows), parents[rows]
            parts, columns = self._select(chances)
            parents = parents[parts]
            if self._policy.observes:
                self._observe(t, l, columns)
        self._pull(parents, columns, exploring)
        if exploring:
            self._unexplained += 1
        else:
            self._unexplained, self._patience = 0, _PATIENCE
        return self._unexplained < self._patience

    def _selectable(
        self, t: int, l: int, values: Sequence[int]
    ) -> tuple[Integers, Floats, bool] | None:
        """The hypotheses that a list leaves, how likely each selects each arm, and if it fitted."""
        self._coin.tossed = False
        everything = np.arange(len(self._now.weight))
        anything = self._now.own.get("p", np.ones(self._now.n.shape))
        try:
            scores = self._policy.score(self._now.arms(), t, l, self._draws.at(t, l))
        except Noise:
            self._noisy = True
            return everything, anything, True
        table = scores.reshape(self._now.n.shape)
        rows = np.flatnonzero(_fits(table, values, self._zero_below))
        if len(rows):
            table = table[rows]
            largest = table >= table.max(axis=1, keepdims=True) * (1 - 1e-11)
            return rows, largest.astype(np.float64), True
        if self._coin.tossed:
            return everything, np.ones(self._now.n.shape), False
        return None

    def _select(self, chances: Floats) -> tuple[Integers, Integers]:
        """Fork each hypothesis by the state of the arm that was selected: from which, and where."""
        codes = np.where(chances > 0, self._now.codes(own=not self._noisy), np.uint64(0))
        order = np.argsort(codes, axis=1, kind="stable")
        ordered = np.take_along_axis(codes, order, axis=1)
        first = np.ones(ordered.shape, dtype=bool)
        first[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
        groups = np.cumsum(first.ravel()) - 1
        shares = chances / chances.sum(axis=1, keepdims=True)
        sums = np.bincount(groups, np.take_along_axis(shares, order, axis=1).ravel())
        rows, places = np.nonzero(first)
        kept = ordered[rows, places] != 0
        rows, columns = rows[kept], order[rows, places][kept]
        self._now = self._now.take(rows)
        self._now.weight = self._now.weight + np.log(np.maximum(sums[kept], 1e-300))
        return rows, columns

    def _observe(self, t: int, l: int, columns: Integers) -> None:
        arms, bits = self._now.arms(), np.zeros(self._now.n.shape, dtype=bool)
        bits[np.arange(len(columns)), columns] = True
        self._policy.observe(arms, t, l, bits.ravel())
        self._now.own = {name: values.reshape(bits.shape) for name, values in arms.own.items()}

    def _pull(self, parents: Integers, columns: Integers, exploring: bool) -> None:
        """Fork by the reward, merge hypotheses that have become equal, and keep the likeliest."""
        count = len(columns)
        here = np.arange(count)
        n, s = self._now.n[here, columns], self._now.s[here, columns]
        share = (s + 1) / (n + 2)
        both = self._now.take(np.concatenate([here, here]))
        rewards = np.repeat([0, 1], count)
        columns, n, s, parents = (np.tile(one, 2) for one in (columns, n, s, parents))
        both.weight = both.weight + np.log(np.concatenate([1 - share, share]))
        both.n[np.arange(2 * count), columns] += 1
        both.s[np.arange(2 * count), columns] += rewards
        kept, weights = _merged(both, own=not self._noisy)
        self._now = both.take(kept)
        self._now.weight = weights - weights.max()
        self._history.append(
            (parents[kept], columns[kept], n[kept], s[kept], rewards[kept], exploring)
        )

    def _likeliest(self) -> Track:
        best = int(np.argmax(self._now.weight))
        n, s = self._now.n[best].tolist(), self._now.s[best].tolist()
        steps = []
        for parents, columns, ns, sums, rewards, exploring in reversed(self._history):
            arm, pulls, total, reward = (int(one[best]) for one in (columns, ns, sums, rewards))
            steps.append(Step(arm, pulls, total, reward, exploring))
            best = int(parents[best])
        return Track(steps[::-1], n, s)


def _fits(table: Floats, values: Sequence[int], zero_below: int) -> NDArray[np.bool_]:
    """Which rows of scores are proportional to the values, in any order."""
    largest, top = table.max(axis=1), max(values)
    if top < zero_below:
        nothing: NDArray[np.bool_] = largest == 0
        return nothing
    seen = np.sort(np.array([value / max(top, 1) for value in values]))
    ordered = np.sort(table, axis=1) / np.where(largest > 0, largest, np.inf)[:, np.newaxis]
    fits: NDArray[np.bool_] = (np.abs(ordered - seen) <= PRECISION).all(axis=1)
    return fits


def _merged(both: _Hypotheses, *, own: bool) -> tuple[Integers, Floats]:
    """Of hypotheses with the same multiset of states one each, with their weights added."""
    keys = both.codes(own=own).sum(axis=1, dtype=np.uint64)
    order = np.lexsort((-both.weight, keys))
    first = np.ones(len(order), dtype=bool)
    first[1:] = keys[order][1:] != keys[order][:-1]
    groups = np.cumsum(first) - 1
    weights = np.full(groups[-1] + 1, -np.inf)
    np.logaddexp.at(weights, groups, both.weight[order])
    kept = order[first]
    if len(kept) > BEAM:
        best = np.argpartition(-weights, BEAM)[:BEAM]
        kept, weights = kept[best], weights[best]
    return kept, weights


def _mixed(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """splitmix64: equal words stay equal, and sums of others collide by chance only."""
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9) + _MIX
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))
