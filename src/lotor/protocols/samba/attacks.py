"""Attacks on SAMBA's views that any form can list.

A form that lets a server decrypt something overrides `ServerReading.lists`. Here, it reads the
bytes that it was sent in a round as they are, one part for each arm.
"""

from abc import abstractmethod
from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from math import comb, gcd
from typing import ClassVar

import numpy as np

from lotor.core.draws import Draws
from lotor.core.effects import Message
from lotor.core.errors import LotorError
from lotor.core.fixed_point import Floats
from lotor.core.views import Truth, View
from lotor.crypto.prf import Prf
from lotor.policies import EpsilonGreedy, Policy
from lotor.protocols.attack import NOT_TRIED, Attack, Distinguisher, Features, Score
from lotor.protocols.samba.terms import SambaTerms, terms_from
from lotor.protocols.samba.tracking import Lists, Noise, Track, Tracker

GUESSED_WITHIN = 0.01
_GUESS_SEED = 5


class Seen:
    """A view and its terms, with what a tracker finds in its lists."""

    def __init__(self, view: View, lists: Lists, zero_below: int) -> None:
        self.view = view
        self.lists = lists
        self.terms = terms_of(view)
        self._zero_below = zero_below

    @cached_property
    def track(self) -> Track | None:
        policy, k = policy_of(self.terms), self.terms.k
        if policy is None or any(len(self.lists.get(one, ())) != k for one in places(self.terms)):
            return None
        return Tracker(policy, k, self._zero_below).follow(self.lists, self.terms.rounds)


def terms_of(view: View) -> SambaTerms:
    return terms_from(SambaTerms, view.order)


def owner_in(view: View) -> str:
    """The owner whose view it is."""
    owners = terms_of(view).owners
    return next(seat for seat in view.seats if seat in owners)


def places(terms: SambaTerms) -> list[tuple[int, int]]:
    """All (t, l) in which arms are scored."""
    return [(t, l) for t in terms.rounds for l in range(1, terms.iterations + 1)]


def policy_of(terms: SambaTerms) -> Policy | None:
    """The policy of a run, if its text tells which one it is and how it learns."""
    try:
        policy = terms.ordered_policy()
    except LotorError:
        return None
    usual = type(policy).learn is Policy.learn and policy.selects_maximum
    return policy if usual else None


class ServerReading:
    """What a server reads; a form in which it can decrypt something says so by `lists`."""

    zero_below: ClassVar[int] = 0
    """A list of smaller numbers only is one of scores that are all 0."""

    def lists(self, view: View) -> Lists:
        """A number for each arm, in some order, for each iteration (t, l).

        Here, the server takes the first kind of message of which every iteration has one, or one
        from each owner, and cuts its bytes into a part for each arm. What is computed for the
        customer comes behind them.
        """
        terms = terms_of(view)
        kinds: dict[str, dict[str, list[bytes]]] = {}
        for one in view.exchanges:
            if one.to in view.seats:
                senders = kinds.setdefault(type(one.message).__name__, {})
                senders.setdefault(one.sender, []).append(content(one.message))
        for senders in kinds.values():
            if all(len(sent) in (terms.turns, terms.argmaxes) for sent in senders.values()):
                order = [senders[name] for name in terms.owners if name in senders]
                rows = [b"".join(row) for row in zip(*(order or senders.values()), strict=True)]
                return {
                    place: cut(row, terms.k)
                    for place, row in zip(places(terms), rows, strict=False)
                }
        return {}


class ServerAttack(ServerReading, Attack):
    """A server follows the states of the arms by what it reads."""

    # Several attacks use one track, which takes longest: the last one is kept.
    _kept: ClassVar[Seen | None] = None

    def score(self, view: View, truth: Truth) -> Score:
        if not set(truth.rewards) <= {0.0, 1.0}:
            return NOT_TRIED
        kept = ServerAttack._kept
        if kept is None or kept.view is not view:
            kept = ServerAttack._kept = Seen(view, self.lists(view), self.zero_below)
        return self.measured(kept, truth)

    @abstractmethod
    def measured(self, seen: Seen, truth: Truth) -> Score:
        """Guess, and count what is right."""


class TrackRewards(ServerAttack):
    """The reward of each round but the last, whose consequences nobody sees."""

    name: ClassVar[str] = "tracker: rewards"
    secret: ClassVar[str] = "rewards"

    def measured(self, seen: Seen, truth: Truth) -> Score:
        rounds, track = seen.terms.rounds[:-1], seen.track
        guesses = [0] * len(rounds) if track is None else [one.reward for one in track.steps[:-1]]
        return against([truth.rewards[t - 1] for t in rounds], guesses)


class TrackCounts(ServerAttack):
    """The pulls and the sum of the arm that is pulled, in each round."""

    name: ClassVar[str] = "tracker: counts and sums"
    secret: ClassVar[str] = "counts"

    def measured(self, seen: Seen, truth: Truth) -> Score:
        track = seen.track
        states = _states(truth)[seen.terms.rounds.start - 1 :]
        guesses = [(1, 0)] * len(states)
        return against(
            states, guesses if track is None else [(one.n, one.s) for one in track.steps]
        )


class NameArms(ServerAttack):
    """Whose each arm of the track is, for somebody with a public guess of all means.

    The guesses are the true means with normal errors, which stand for what is known anyway.
    """

    name: ClassVar[str] = "tracker: names, by guessed means"
    secret: ClassVar[str] = "names"

    def measured(self, seen: Seen, truth: Truth) -> Score:
        means, k = getattr(truth.environment, "means", None), seen.terms.k
        if means is None:
            return NOT_TRIED
        if seen.track is None:  # one of K names is right, whatever they are
            return Score(1, k, 1 / k)
        errors = np.random.default_rng(_GUESS_SEED).normal(0, GUESSED_WITHIN, k)
        names = _named(seen.track, np.asarray(means) + errors)
        # What the last pull paid shows nowhere.
        pulls = Counter(truth.arms)
        right = sum(pulls[name] == n for name, n in zip(names, seen.track.n, strict=True))
        return Score(right, k, 1 / k)


class ExploringRounds(ServerAttack):
    """Which rounds of epsilon-greedy explore: those whose scores fit no state of the arms."""

    name: ClassVar[str] = "tracker: exploring rounds"
    secret: ClassVar[str] = "exploring rounds"

    def measured(self, seen: Seen, truth: Truth) -> Score:
        policy = policy_of(seen.terms)
        if not isinstance(policy, EpsilonGreedy):
            return NOT_TRIED
        owner = truth.parties[seen.terms.first_owner]
        coin = Draws(Prf(bytes(32)), Prf(owner._memory.coin_key))  # type: ignore[attr-defined]
        explored = [coin.at(t, 1).coin() <= policy.probability(t) for t in seen.terms.rounds]
        track = seen.track
        guesses = [False] * len(explored) if track is None else [s.exploring for s in track.steps]
        return against(explored, guesses)


class ListGcd(ServerAttack):
    """The mask itself: whether the numbers of a list have a large factor in common."""

    name: ClassVar[str] = "greatest common divisor"
    secret: ClassVar[str] = "mask"
    large: ClassVar[int] = 1 << 40

    def measured(self, seen: Seen, truth: Truth) -> Score:  # noqa: ARG002
        lists = [values for values in seen.lists.values() if len(values) > 1]
        found = sum(gcd(*values) >= self.large for values in lists)
        return Score(found, len(lists), 0.0) if lists else NOT_TRIED


class ListProfile(ServerReading, Distinguisher):
    """How far the scores of a list lie apart, on average: that depends on the means."""

    name: ClassVar[str] = "distances of scores"
    secret: ClassVar[str] = "means"

    def features(self, view: View) -> Features:
        k, lists = terms_of(view).k, self.lists(view)
        found: dict[str, Floats] = {}
        for l in {l for _, l in lists}:
            rows = [sorted(values) for (_, at), values in lists.items() if at == l]
            table = np.array(
                [[one / max(row[-1], 1) for one in row] for row in rows if len(row) == k]
            )
            if len(table):
                found[f"iteration {l}"] = np.concatenate([table.mean(axis=0), table.std(axis=0)])
        return found


class ArgmaxOf(Attack):
    """The pulled arms, for a coalition that puts all scores together."""

    name: ClassVar[str] = "scores, put together"
    secret: ClassVar[str] = "arms"

    @abstractmethod
    def scores(self, view: View) -> Lists:
        """The scores of all arms, in their order, in each iteration."""

    def score(self, view: View, truth: Truth) -> Score:
        terms, lists = terms_of(view), self.scores(view)
        # Of equal scores the largest tie draw wins, which is not theirs to know in all forms.
        rounds = [lists[t, terms.iterations] for t in terms.rounds]
        return against(truth.arms[terms.k :], [one.index(max(one)) for one in rounds])


class OwnPulls(Attack):
    """In which rounds an owner's own arms are pulled: it is asked to pull them."""

    name: ClassVar[str] = "its own pulls"
    secret: ClassVar[str] = "own pulls"

    def score(self, view: View, truth: Truth) -> Score:
        terms = terms_of(view)
        own = terms.arms()[owner_in(view)]
        asked = {decision.round for decision, _ in view.pulls}
        if len(terms.owners) < 2:
            return NOT_TRIED
        pulled = [own.start <= truth.arms[t - 1] < own.stop for t in terms.rounds]
        return against(pulled, [t in asked for t in terms.rounds])


class OtherArm(Attack):
    """With two arms, the sum of the other one in each round in which this owner is pulled.

    A bit says which score is the larger one, so that it bounds the other arm's sum from above in
    this owner's rounds, and from below in the others.
    """

    name: ClassVar[str] = "the other of two arms"
    secret: ClassVar[str] = "other arm"

    def score(self, view: View, truth: Truth) -> Score:
        terms = terms_of(view)
        policy = policy_of(terms)
        alone = list(terms.owners.values()) == [1, 1]
        if policy is None or not alone or not set(truth.rewards) <= {0.0, 1.0}:
            return NOT_TRIED
        own = {decision.round: int(reward) for decision, reward in view.pulls}
        try:
            guesses = _others_sums(policy, terms.budget, own)
        except Noise:
            return NOT_TRIED
        arm = terms.arms()[owner_in(view)].start
        paid = [r * (one != arm) for one, r in zip(truth.arms, truth.rewards, strict=True)]
        sums = np.cumsum(paid)
        pulls = np.cumsum([one != arm for one in truth.arms])
        share = sums[-1] / max(int(pulls[-1]), 1)
        right = sum(guess == int(sums[t - 2]) for t, guess in guesses.items())
        chances = [_likeliest_sum(int(pulls[t - 2]), float(share)) for t in guesses]
        return Score(right, len(guesses), float(np.mean(chances))) if guesses else NOT_TRIED


def _others_sums(policy: Policy, budget: int, own: dict[int, int]) -> dict[int, int]:
    """The likeliest sum of the other arm before each round of one's own."""
    tracker = Tracker(policy, 1)
    n, s, weights = 1, own[min(own)], {0: 0.5, 1: 0.5}
    guesses = {}
    for t in range(3, budget + 1):
        others = t - 1 - n
        bounds = {one: tracker.score_of(others, one, t) for one in weights}
        mine = tracker.score_of(n, s, t)
        if t in own:
            kept = {one: w for one, w in weights.items() if bounds[one] <= mine}
            weights = kept or weights
            guesses[t] = max(weights, key=lambda one: weights[one])
            n, s = n + 1, s + own[t]
        else:
            kept = {one: w for one, w in weights.items() if bounds[one] >= mine}
            weights = {}
            for one, weight in (kept or dict.fromkeys(bounds, 1.0)).items():
                share = (one + 1) / (others + 2)
                weights[one] = weights.get(one, 0.0) + weight * (1 - share)
                weights[one + 1] = weights.get(one + 1, 0.0) + weight * share
        total = sum(weights.values())
        weights = {one: weight / total for one, weight in weights.items()}
    return guesses


def _likeliest_sum(n: int, share: float) -> float:
    """How often somebody is right who knows the number of pulls and the mean, but no outcome."""
    mode = min(int((n + 1) * share), n)
    return comb(n, mode) * share**mode * (1 - share) ** (n - mode)


def against(secrets: Sequence[object], guesses: Sequence[object]) -> Score:
    """Guesses beside the best single answer for all rounds, which is chance."""
    if not secrets:
        return NOT_TRIED
    right = sum(a == b for a, b in zip(secrets, guesses, strict=True))
    usual = max(Counter(secrets).values())
    return Score(right, len(secrets), usual / len(secrets))


def _states(truth: Truth) -> list[tuple[int, int]]:
    """The pulls and the sum of the arm that is pulled, before each round."""
    pulls: Counter[int] = Counter()
    sums: Counter[int] = Counter()
    found = []
    for arm, reward in zip(truth.arms, truth.rewards, strict=True):
        found.append((pulls[arm], sums[arm]))
        pulls[arm] += 1
        sums[arm] += int(reward)
    return found


def _named(track: Track, guessed: Floats) -> list[int]:
    """The name of each arm of a track: the assignment whose means fit the guesses best."""
    from scipy.optimize import linear_sum_assignment  # noqa: PLC0415

    n, s = np.array(track.n), np.array(track.s)
    means = s / n
    variance = np.maximum(means * (1 - means), 0.02) / n + GUESSED_WITHIN**2
    costs = (means[:, np.newaxis] - guessed) ** 2 / variance[:, np.newaxis]
    names: list[int] = linear_sum_assignment(costs)[1].tolist()
    return names


def content(message: Message) -> bytes:
    """All bytes of a message but its place."""
    fields = (getattr(message, name) for name in message.__struct_fields__ if name != "place")
    return b"".join(value for value in fields if isinstance(value, bytes))


def cut(data: bytes, k: int) -> list[int]:
    width = len(data) // k
    return [int.from_bytes(data[i * width : (i + 1) * width], "big") for i in range(k)]
