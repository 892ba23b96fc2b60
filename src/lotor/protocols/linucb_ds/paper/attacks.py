"""Attacks on LinUCB-DS and SpectralUCB-DS: what Comp and P find in their views."""

from collections import Counter
from collections.abc import Mapping
from typing import ClassVar, TypeVar

import numpy as np

from lotor.core.effects import Message
from lotor.core.errors import InputError
from lotor.core.fixed_point import Floats
from lotor.core.vectors import largest_norm
from lotor.core.views import Truth, View
from lotor.crypto.paillier import Ciphertext, PackedLayout
from lotor.environments import LinearArms
from lotor.policies.linear import LinearPolicy
from lotor.protocols.attack import Attack, Score
from lotor.protocols.chance import blind, random_direction
from lotor.protocols.linear_draws import LinearDraws
from lotor.protocols.linucb_ds.paper.comp import LinUCBComp
from lotor.protocols.linucb_ds.paper.messages import LinUCBShape, Model, PackedScores, Winner
from lotor.protocols.linucb_ds.paper.principal import LinUCBPrincipal
from lotor.protocols.linucb_ds.paper.score_tracker import ScoreTracker
from lotor.protocols.linucb_ds.paper.terms import terms_from
from lotor.protocols.linucb_ds.paper.wire import position_from
from lotor.protocols.plain.linear import linear_layout

ALIKE = 0.9
"""Directions with a larger cosine count as found."""

REWARD_ERROR = 1e-6
"""A reward counts as found within this part of the length of the longest arm."""

M = TypeVar("M", bound=Message)


class ScoresDecrypted(Attack):
    """Comp decrypts all scores, as the protocol has it do: whose they are it does not know."""

    name: ClassVar[str] = "scores, decrypted"
    secret: ClassVar[str] = "scores"

    def score(self, view: View, truth: Truth) -> Score:
        seen, real = scores_in(view), _real_scores(view, truth)
        found = zip(seen, real, strict=True)
        right = sum((Counter(one) & Counter(other)).total() for one, other in found)
        return Score(right, sum(map(len, real)), 0.0)


class ArmsFromScores(Attack):
    """Comp, if it knows the catalogue of arms and nothing else, follows the run.

    A catalogue is often public. Here it is that of the environment, and all that is taken from the
    truth before arms are counted.
    """

    name: ClassVar[str] = "arms, from scores and the catalogue"
    secret: ClassVar[str] = "arms"

    def score(self, view: View, truth: Truth) -> Score:
        guesses = _tracked(view, _world(truth)).arms
        right = sum(guess == arm for guess, arm in zip(guesses, truth.arms, strict=True))
        return Score(right, len(truth.arms), blind(truth.arms))


class RewardsFromScores(Attack):
    """The same for rewards: all but the last, which no scores follow."""

    name: ClassVar[str] = "rewards, from scores and the catalogue"
    secret: ClassVar[str] = "rewards"

    def score(self, view: View, truth: Truth) -> Score:
        arms = _world(truth)
        guesses = np.array(_tracked(view, arms).rewards)
        real, error = real_rewards(truth), REWARD_ERROR * largest_norm(arms.vectors)
        right = int((np.abs(guesses - real[:-1]) < error).sum())
        return Score(right, len(real), blind(real.tolist(), error))


class DirectionFromPulls(Attack):
    """P knows every u and c, and that the pulled arm had the largest <u, theta> + c."""

    name: ClassVar[str] = "direction of theta, from the pulled arms"
    secret: ClassVar[str] = "direction of theta"

    def score(self, view: View, truth: Truth) -> Score:
        guess, theta = self.guess(view), _world(truth).theta
        right = guess is not None and cosine(guess, theta) > ALIKE
        return Score(int(right), 1, random_direction(len(theta), ALIKE))

    @staticmethod
    def guess(view: View) -> Floats | None:
        """A theta with which P would have pulled what it pulled, if there is one."""
        principal, terms = _party(view.parties, LinUCBPrincipal), terms_from(view.order)
        model, draws = _model(principal), _draws(principal)
        answers = enumerate(_messages(view, Winner), start=1)
        pulled = [draws.first()] + [
            int(draws.order(t + 1)[position_from(answer.position, model.k, t)])
            for t, answer in answers
        ]
        noise = [draws.noise(t) for t in range(1, len(pulled) + 1)]
        vectors, eigenvalues = _catalogue(model)
        policy = terms.check(terms.run)
        return theta_from_pulls(policy, vectors, pulled, noise, eigenvalues)


class ThetaDecrypted(Attack):
    """Whoever has theta* and Comp's key reads theta: P and Comp have one each."""

    name: ClassVar[str] = "theta, decrypted"
    secret: ClassVar[str] = "theta"

    def score(self, view: View, truth: Truth) -> Score:
        arms, terms = _world(truth), terms_from(view.order)
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
        models, comp = _messages(view, Model), view.parties.get("comp")
        if not models or not isinstance(comp, LinUCBComp):
            return None
        key = comp._key
        return [key.decrypt(Ciphertext.from_bytes(data, key.public)) for data in models[0].theta]


def scores_in(view: View) -> list[list[int]]:
    """The scores of each round as Comp decrypts them, permuted."""
    key = _party(view.parties, LinUCBComp)._key
    (shape,) = _messages(view, LinUCBShape)
    layout = PackedLayout(key.public.bits, shape.k, terms_from(view.order).slot_bits)
    return [
        layout.unpack(key.decrypt_batch(layout.read(message.packed, key.public)))
        for message in _messages(view, PackedScores)
    ]


def tracker_of(view: View, vectors: Floats, eigenvalues: Floats | None) -> ScoreTracker:
    """Comp with the scores of its view and this catalogue of arms."""
    terms = terms_from(view.order)
    policy = terms.check(terms.run)
    layout = linear_layout(vectors, policy, terms.slot_bits)
    # In units of the policy, and less what is common to a round.
    seen = [
        np.ldexp(np.array([float(score - max(one)) for score in one]), -layout.fraction)
        for one in scores_in(view)
    ]
    return ScoreTracker(policy.start(vectors, budget=terms.budget, eigenvalues=eigenvalues), seen)


def theta_from_pulls(
    policy: LinearPolicy,
    vectors: Floats,
    pulled: list[int],
    noise: list[float],
    eigenvalues: Floats | None = None,
) -> Floats | None:
    """The centre of the largest ball of thetas with which these arms would have been pulled.

    Each choice says that <u_m - u_i, theta> >= c_i - c_m for the chosen m and every other i.
    """
    from scipy.optimize import linprog  # noqa: PLC0415

    k, d = vectors.shape
    model = policy.start(vectors, budget=len(pulled), eigenvalues=eigenvalues)
    model.update(pulled[0], noise[0])
    normals: list[Floats] = []
    bounds: list[Floats] = []
    for t, arm in enumerate(pulled[1:], start=1):
        u, c = model.coefficients(t)
        others = np.arange(k) != arm
        normals.append((u - u[arm])[others])
        bounds.append((c[arm] - c)[others])
        model.update(arm, noise[t])
    a = np.vstack(normals)
    lengths = np.sqrt(np.square(a).sum(axis=1))
    found = linprog(
        [0.0] * d + [-1.0],
        A_ub=np.column_stack([a, lengths]),
        b_ub=np.concatenate(bounds),
        bounds=[(-policy.bound, policy.bound)] * d + [(0, None)],
    )
    return np.array(found.x[:d], dtype=np.float64) if found.status == 0 else None


def cosine(one: Floats, other: Floats) -> float:
    """Of the angle between two vectors; 0 if one of them has no length."""
    lengths = np.sqrt((one @ one) * (other @ other))
    return float(one @ other / lengths) if lengths > 0 else 0.0


def real_rewards(truth: Truth) -> Floats:
    """What the pulled arms paid: theta is the owner's and the noise P's, so that nobody knows."""
    arms, draws = _world(truth), _draws(_party(truth.parties, LinUCBPrincipal))
    noise = np.array([draws.noise(t) for t in range(1, len(truth.arms) + 1)])
    rewards: Floats = arms.means[np.array(truth.arms)] + noise
    return rewards


def _real_scores(view: View, truth: Truth) -> list[list[int]]:
    """The scores of each round as plain computes them."""
    arms, terms = _world(truth), terms_from(view.order)
    policy = terms.check(terms.run)
    layout = linear_layout(arms.vectors, policy, terms.slot_bits)
    theta, draws = layout.theta(arms.theta), _draws(_party(truth.parties, LinUCBPrincipal))
    model = policy.start(arms.vectors, budget=terms.budget, eigenvalues=arms.eigenvalues)
    scores = []
    for t, arm in enumerate(truth.arms[:-1], start=1):
        model.update(arm, draws.noise(t))
        u, c = model.coefficients(t)
        scores.append(layout.scores(layout.u(u), theta, layout.addends(c)))
    return scores


def _tracked(view: View, arms: LinearArms) -> ScoreTracker:
    tracker = tracker_of(view, arms.vectors, arms.eigenvalues)
    tracker.read()
    return tracker


def _world(truth: Truth) -> LinearArms:
    if not isinstance(truth.environment, LinearArms):
        raise InputError(f"this attack needs LinearArms or GraphArms, not {truth.environment!r}")
    return truth.environment


def _model(principal: LinUCBPrincipal) -> Model:
    model = principal._memory.model
    if model is None:
        raise InputError("P has no model yet: attack the view of a run that has begun")
    return model


def _catalogue(model: Model) -> tuple[Floats, Floats | None]:
    """The arms as P was sent them, and their graph's eigenvalues if there are some."""
    vectors = np.frombuffer(model.vectors, "<f8").reshape(model.k, model.d).astype(np.float64)
    eigenvalues = np.frombuffer(model.eigenvalues, "<f8").astype(np.float64)
    return vectors, eigenvalues if len(eigenvalues) else None


def _draws(principal: LinUCBPrincipal) -> LinearDraws:
    """All that P draws."""
    model = _model(principal)
    return LinearDraws(
        principal._memory.keys,
        model.k,
        noise_sd=model.noise_sd,
        noise=principal._noise,
        first=principal._first,
    )


def _messages(view: View, kind: type[M]) -> list[M]:
    return [seen.message for seen in view.exchanges if isinstance(seen.message, kind)]


P = TypeVar("P")


def _party(parties: Mapping[str, object], kind: type[P]) -> P:
    found = next((party for party in parties.values() if isinstance(party, kind)), None)
    if found is None:
        raise InputError(f"this attack needs a party of the type {kind.__name__} in the view")
    return found
