"""SpectralUCB."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from math import log, sqrt
from typing import ClassVar

import numpy as np

from lotor.core.errors import InputError, PolicyError
from lotor.core.fixed_point import Floats
from lotor.core.vectors import to_vector, to_vectors
from lotor.policies.linear.base import LinearModel, LinearPolicy
from lotor.policies.linear.bounds import (
    NORM_SLACK,
    THETA_BOUND,
    LogT,
    at_least,
    bound_at,
    bound_or_log,
    check_norm,
    confidence,
    positive,
)


@dataclass(frozen=True, slots=True)
class SpectralUCB(LinearPolicy):
    """LinUCB for smooth functions on a graph (Valko, Munos, Kveton and Kocák, 2014).

    The arms are the rows of the eigenbasis of the graph's Laplacian, a coordinate of theta is
    penalised by its eigenvalue, and omega = 2R sqrt(d' log(1 + t/gamma) + 2 log(1/delta)) + C
    with the effective dimension d' (Section 6 of Ciucanu et al., 2020).

    - `gamma`: the regulariser; `delta`: how probably a confidence bound may fail;
    - `R`: the noise is R-sub-Gaussian; the default is the noise_sd that `GraphArms` has, and a run
      on simulated arms with more noise warns;
    - `C`: a bound on how rough the arms' values are, the square root of the sum over all edges of
      weight·(difference)^2, which theta's owner must keep; "log t", as in the papers'
      experiments, bounds nothing;
    - `theta_bound`: a bound on |theta|, which is that of the vector of all arms' values.

    The paper's experiments have gamma=0.01, delta=0.001, R=0.01 and C="log t".

    >>> import lotor
    >>> ring = [[0, 1, 0, 1], [1, 0, 1, 0], [0, 1, 0, 1], [1, 0, 1, 0]]
    >>> arms = lotor.GraphArms(ring, values=[0.2, 0.5, 0.8, 0.5])
    >>> lotor.run(lotor.SpectralUCB(), arms, budget=200, seed=1).arms.count(2) > 100
    True
    """

    noise_parameter: ClassVar[str | None] = "R"

    gamma: float = 0.01
    delta: float = 0.01
    R: float = 0.1
    C: float | LogT = 1.0
    theta_bound: float = THETA_BOUND

    def __post_init__(self) -> None:
        object.__setattr__(self, "gamma", positive("gamma", self.gamma))
        object.__setattr__(self, "delta", confidence(self.delta))
        object.__setattr__(self, "R", positive("R", self.R, or_zero=True))
        object.__setattr__(self, "C", bound_or_log("C", self.C))
        object.__setattr__(self, "theta_bound", positive("theta_bound", self.theta_bound))

    @property
    def bound(self) -> float:
        return self.theta_bound

    def start(
        self, vectors: Floats, *, budget: int, eigenvalues: Floats | None = None
    ) -> LinearModel:
        vectors = to_vectors("vectors", vectors)
        penalty = _checked(eigenvalues, vectors.shape[1]) + self.gamma
        dimension = effective_dimension(penalty, budget, self.gamma)

        def omega(t: int) -> float:
            width = dimension * log(1 + t / self.gamma) + 2 * log(1 / self.delta)
            return 2 * self.R * sqrt(width) + bound_at(self.C, t)

        # No u is longer than an arm, which is 1. In the basis of the arms, with their pulls as the
        # diagonal N, u_i is the column i of N W with W = (Laplacian + gamma I + N)^-1. W has no
        # entry below 0 (its inverse is an M-matrix), and as the Laplacian's columns add up to 0,
        # those of (gamma I + N) W add up to 1. So u_i has no entry below 0 and a sum of at most 1.
        return LinearModel(vectors, penalty, omega)

    def widened(
        self, theta: Floats, eigenvalues: Floats | None = None, *, keep: Collection[str] = ()
    ) -> "SpectralUCB":
        policy = self
        if "theta_bound" not in keep:
            longest = float(np.sqrt(np.square(theta).sum()))
            policy = replace(policy, theta_bound=at_least(self.theta_bound, longest, NORM_SLACK))
        if isinstance(self.C, str) or "C" in keep:
            return policy
        return replace(policy, C=at_least(self.C, _roughness(theta, eigenvalues)))

    def check_theta(self, theta: Floats, eigenvalues: Floats | None = None) -> None:
        check_norm(theta, self.theta_bound, "theta_bound")
        rough = _roughness(theta, eigenvalues)
        if not isinstance(self.C, str) and rough > self.C:
            raise InputError(
                f"the arms' values change more along the graph than C = {self.C:g} allows: "
                "state a larger C, or 'log t' for no bound"
            )


def effective_dimension(penalties: Floats, budget: int, gamma: float) -> int:
    """The largest d' with (d' - 1) lambda_d' <= T / log(1 + T/gamma) (Valko et al., Definition 1).

    `penalties` are the eigenvalues of the Laplacian plus gamma, T is the budget.

    >>> effective_dimension(np.array([0.01, 0.5, 0.9, 40.0]), budget=20, gamma=0.01)
    3
    """
    room = budget / log(1 + budget / gamma)
    ranks = np.arange(len(penalties))
    return int(np.flatnonzero(ranks * np.sort(penalties) <= room)[-1]) + 1


def _roughness(theta: Floats, eigenvalues: Floats | None) -> float:
    """How much a function changes along the graph: its theta's norm under the eigenvalues."""
    return float(np.sqrt(_checked(eigenvalues, len(theta)) @ np.square(theta)))


def _checked(eigenvalues: Floats | None, d: int) -> Floats:
    if eigenvalues is None:
        raise PolicyError("SpectralUCB needs arms that form a graph: give it GraphArms")
    checked = to_vector("eigenvalues", eigenvalues, d)
    if np.any(checked < 0):
        raise InputError(
            "an eigenvalue is below 0, which no graph's Laplacian has: compute them again"
        )
    return checked
