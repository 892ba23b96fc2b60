"""LinUCB."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from math import log, sqrt
from typing import ClassVar

import numpy as np

from lotor.core.errors import InputError
from lotor.core.fixed_point import Floats
from lotor.core.vectors import largest_norm, to_vectors
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
class LinUCB(LinearPolicy):
    """Upper confidence bounds on a ridge estimate (Abbasi-Yadkori, Pál and Szepesvári, 2011).

    As in Figure 2 of Ciucanu et al. (2020): omega = R sqrt(d log((1 + t L^2/gamma)/delta)) +
    sqrt(gamma) S.

    - `gamma`: the regulariser; `delta`: how probably a confidence bound may fail;
    - `R`: the noise is R-sub-Gaussian; the default is the noise_sd that `LinearArms` has, and a run
      on simulated arms with more noise warns;
    - `S`: a bound on |theta|, which theta's owner must keep; the default is the literature's 1.
      The paper's experiments have "log t", which bounds nothing and is 0 in the first round;
    - `L`: a bound on the arms' lengths; None means the length of the longest;
    - `theta_bound`: what the fixed point has room for, if that is not S (64 with S="log t").

    The paper's experiments have gamma=0.01, delta=0.001, R=0.01 and S="log t".

    >>> import lotor
    >>> arms = lotor.LinearArms([[1, 0], [0, 1], [0.7, 0.7]], theta=[0.8, 0.3])
    >>> lotor.run(lotor.LinUCB(), arms, budget=300, seed=1).arms.count(1) < 60
    True
    """

    noise_parameter: ClassVar[str | None] = "R"

    gamma: float = 1.0
    delta: float = 0.01
    R: float = 0.1
    S: float | LogT = 1.0
    L: float | None = None
    theta_bound: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "gamma", positive("gamma", self.gamma))
        object.__setattr__(self, "delta", confidence(self.delta))
        object.__setattr__(self, "R", positive("R", self.R, or_zero=True))
        object.__setattr__(self, "S", bound_or_log("S", self.S))
        if self.L is not None:
            object.__setattr__(self, "L", positive("L", self.L))
        if self.theta_bound is not None:
            object.__setattr__(self, "theta_bound", positive("theta_bound", self.theta_bound))

    @property
    def bound(self) -> float:
        if self.theta_bound is not None:
            return self.theta_bound
        return THETA_BOUND if isinstance(self.S, str) else self.S

    def start(
        self, vectors: Floats, *, budget: int, eigenvalues: Floats | None = None
    ) -> LinearModel:
        vectors = to_vectors("vectors", vectors)
        d = vectors.shape[1]
        longest = largest_norm(vectors)
        if self.L is not None and longest > self.L * (1 + NORM_SLACK):
            raise InputError(f"an arm is longer than L = {self.L:g}: give L at least {longest:g}")
        squared = (longest if self.L is None else self.L) ** 2

        def omega(t: int) -> float:
            width = self.R * sqrt(d * log((1 + t * squared / self.gamma) / self.delta))
            return width + sqrt(self.gamma) * bound_at(self.S, t)

        # No u = (I - gamma A^-1) x is longer than its x: A is gamma I plus a positive
        # semidefinite matrix, so all eigenvalues of I - gamma A^-1 lie between 0 and 1.
        return LinearModel(vectors, np.full(d, self.gamma), omega)

    def widened(
        self, theta: Floats, eigenvalues: Floats | None = None, *, keep: Collection[str] = ()
    ) -> "LinUCB":
        if isinstance(self.S, str) or "S" in keep:
            return self
        longest = float(np.sqrt(np.square(theta).sum()))
        return replace(self, S=at_least(self.S, longest, NORM_SLACK))

    def check_theta(self, theta: Floats, eigenvalues: Floats | None = None) -> None:
        if not isinstance(self.S, str):
            check_norm(theta, self.S, "S")
        check_norm(theta, self.bound, "theta_bound")
