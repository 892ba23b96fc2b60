"""What attacks on every form of LinUCB-DS and SpectralUCB-DS share, and what P alone can do."""

from collections.abc import Mapping
from typing import ClassVar, TypeVar

import numpy as np

from lotor.core.effects import Message
from lotor.core.errors import InputError
from lotor.core.fixed_point import Floats
from lotor.core.views import Truth, View
from lotor.environments import LinearArms
from lotor.policies.linear import LinearPolicy, NormalDraws, no_draws
from lotor.protocols.attack import Attack, Score
from lotor.protocols.chance import random_direction
from lotor.protocols.linucb_ds.game import LinearGame, PrincipalGame
from lotor.protocols.linucb_ds.principal import LinearPrincipal

ALIKE = 0.9
"""Directions with a larger cosine count as found."""

SLACK_COST = 100.0
"""What it costs to break an inequality, against leaving room in all others."""

M = TypeVar("M", bound=Message)
P = TypeVar("P")


class DirectionFromPulls(Attack):
    """P knows every u and c, and that the pulled arm had the largest <u, theta> + c."""

    name: ClassVar[str] = "direction of theta, from the pulled arms"
    secret: ClassVar[str] = "direction of theta"

    def score(self, view: View, truth: Truth) -> Score:
        guess, theta = self.guess(view), world_of(truth).theta
        right = guess is not None and cosine(guess, theta) > ALIKE
        return Score(int(right), 1, random_direction(len(theta), ALIKE))

    @staticmethod
    def guess(view: View) -> Floats | None:
        """A theta with which P would have pulled what it pulled, if there is one."""
        game = game_of(view.parties)
        noise = [game.draws.noise(t) for t in range(1, len(game.pulled) + 1)]
        vectors, eigenvalues = game.catalogue.arms()
        policy = game.terms.check(game.terms.run)
        return theta_from_pulls(
            policy, vectors, game.pulled, noise, eigenvalues, game.draws.normals
        )


def theta_from_pulls(
    policy: LinearPolicy,
    vectors: Floats,
    pulled: list[int],
    noise: list[float],
    eigenvalues: Floats | None = None,
    draws: NormalDraws = no_draws,
) -> Floats | None:
    """The centre of the largest ball of thetas with which these arms would have been pulled.

    Each choice says that <u_m - u_i, theta> >= c_i - c_m for the chosen m and every other i.
    """
    from scipy.optimize import linprog  # noqa: PLC0415

    d = vectors.shape[1]
    a, b = _choices(policy, vectors, pulled, noise, eigenvalues, draws)
    lengths = np.sqrt(np.square(a).sum(axis=1))
    found = linprog(
        [0.0] * d + [-1.0],
        A_ub=np.column_stack([a, lengths]),
        b_ub=b,
        bounds=[(-policy.bound, policy.bound)] * d + [(0, None)],
    )
    return np.array(found.x[:d], dtype=np.float64) if found.status == 0 else None


def nearest_theta(
    policy: LinearPolicy,
    vectors: Floats,
    pulled: list[int],
    eigenvalues: Floats | None = None,
    draws: NormalDraws = no_draws,
) -> Floats:
    """For those who do not know the noise: a theta that breaks these inequalities least."""
    from scipy.optimize import linprog  # noqa: PLC0415
    from scipy.sparse import hstack, identity  # noqa: PLC0415

    d, noise = vectors.shape[1], [0.0] * len(pulled)
    a, b = _choices(policy, vectors, pulled, noise, eigenvalues, draws)
    rows = len(b)
    lengths = np.sqrt(np.square(a).sum(axis=1))
    found = linprog(
        [0.0] * d + [-1.0] + [SLACK_COST / rows] * rows,
        A_ub=hstack([a, lengths[:, np.newaxis], -identity(rows)]),
        b_ub=b,
        bounds=[(-policy.bound, policy.bound)] * d + [(0, policy.bound)] + [(0, None)] * rows,
    )
    return np.array(found.x[:d], dtype=np.float64)


def _choices(
    policy: LinearPolicy,
    vectors: Floats,
    pulled: list[int],
    noise: list[float],
    eigenvalues: Floats | None,
    draws: NormalDraws,
) -> tuple[Floats, Floats]:
    """What every choice says: a <= b, with a row of `a` times theta for each arm not chosen."""
    model = policy.start(vectors, budget=len(pulled), eigenvalues=eigenvalues)
    model.update(pulled[0], noise[0])
    normals: list[Floats] = []
    bounds: list[Floats] = []
    for t, arm in enumerate(pulled[1:], start=1):
        u, c = model.coefficients(t, draws)
        others = np.arange(len(vectors)) != arm
        normals.append((u - u[arm])[others])
        bounds.append((c[arm] - c)[others])
        model.update(arm, noise[t])
    return np.vstack(normals), np.concatenate(bounds)


def cosine(one: Floats, other: Floats) -> float:
    """Of the angle between two vectors; 0 if one of them has no length."""
    lengths = np.sqrt((one @ one) * (other @ other))
    return float(one @ other / lengths) if lengths > 0 else 0.0


def real_rewards(truth: Truth) -> Floats:
    """What the pulled arms paid: theta is the owner's and the noise P's, so that nobody knows."""
    arms, draws = world_of(truth), game_of(truth.parties).draws
    noise = np.array([draws.noise(t) for t in range(1, len(truth.arms) + 1)])
    rewards: Floats = arms.means[np.array(truth.arms)] + noise
    return rewards


def world_of(truth: Truth) -> LinearArms:
    if not isinstance(truth.environment, LinearArms):
        raise InputError(f"this attack needs LinearArms or GraphArms, not {truth.environment!r}")
    return truth.environment


def game_of(parties: Mapping[str, object]) -> LinearGame:
    """What P knows where rewards follow from theta: all but theta."""
    game = played_by(parties)
    if not isinstance(game, LinearGame):
        raise InputError("this attack needs a run whose rewards follow from theta")
    return game


def played_by(parties: Mapping[str, object]) -> PrincipalGame:
    """What P knows."""
    principal = parties.get("principal")
    if not isinstance(principal, LinearPrincipal) or principal.game is None:
        raise InputError("this attack needs a P that has its model: let the run begin first")
    return principal.game


def real_scores(truth: Truth) -> list[list[int]]:
    """The scores of each round as plain computes them."""
    arms, game = world_of(truth), game_of(truth.parties)
    policy, layout = game.terms.check(game.terms.run), game.layout
    theta = layout.theta(arms.theta)
    model = policy.start(arms.vectors, budget=game.terms.budget, eigenvalues=arms.eigenvalues)
    scores = []
    for t, arm in enumerate(truth.arms[:-1], start=1):
        model.update(arm, game.draws.noise(t))
        u, c = model.coefficients(t, game.draws.normals)
        scores.append(layout.scores(layout.u(u), theta, layout.addends(c)))
    return scores


def messages_in(view: View, kind: type[M]) -> list[M]:
    return [seen.message for seen in view.exchanges if isinstance(seen.message, kind)]


def party_of(parties: Mapping[str, object], kind: type[P]) -> P:
    found = next((party for party in parties.values() if isinstance(party, kind)), None)
    if found is None:
        raise InputError(f"this attack needs a party of the type {kind.__name__} in the view")
    return found
