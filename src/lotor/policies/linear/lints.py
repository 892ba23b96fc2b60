"""LinTS: linear Thompson sampling."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from math import log, sqrt
from typing import ClassVar

import numpy as np

from lotor.core.fixed_point import Floats
from lotor.core.vectors import to_vectors
from lotor.policies.linear.base import LinearModel, LinearPolicy, NormalDraws, check_pivot
from lotor.policies.linear.bounds import (
    NORM_SLACK,
    at_least,
    check_norm,
    confidence,
    positive,
)


@dataclass(frozen=True, slots=True)
class LinTS(LinearPolicy):
    """Thompson sampling of theta from its posterior (Agrawal and Goyal, 2013).

    With the ridge estimate and its design matrix A, each round draws theta from a normal law around
    the estimate with covariance v^2 A^-1, and takes the arm that is best for it. The width is
    v = scale R sqrt(9 d ln(t/delta)) in round t.

    - `scale`: 1 is the width of the theorem, which explores a lot; Abeille and Lazaric (2017) show
      why it must exceed that of a posterior, and experiments often take 0.1 to 0.5;
    - `gamma`: the regulariser, 1 in the paper; `delta`: how probably the regret's bound may fail;
    - `R`: the noise is R-sub-Gaussian; the default is the noise_sd that `LinearArms` has, and a run
      on simulated arms with more noise warns;
    - `S`: a bound on |theta|, which theta's owner must keep: the fixed point has room for it.

    The draw needs nothing of theta, so that LinUCB-DS runs this policy: whoever pulls draws it.

    >>> import lotor
    >>> arms = lotor.LinearArms([[1, 0], [0, 1], [0.7, 0.7]], theta=[0.8, 0.3])
    >>> lotor.run(lotor.LinTS(scale=0.3), arms, budget=300, seed=1).arms.count(1) < 60
    True
    """

    noise_parameter: ClassVar[str | None] = "R"

    scale: float = 1.0
    gamma: float = 1.0
    delta: float = 0.01
    R: float = 0.1
    S: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", positive("scale", self.scale, or_zero=True))
        object.__setattr__(self, "gamma", positive("gamma", self.gamma))
        object.__setattr__(self, "delta", confidence(self.delta))
        object.__setattr__(self, "R", positive("R", self.R, or_zero=True))
        object.__setattr__(self, "S", positive("S", self.S))

    @property
    def bound(self) -> float:
        return self.S

    def start(
        self,
        vectors: Floats,
        *,
        budget: int,
        eigenvalues: Floats | None = None,
    ) -> LinearModel:
        vectors = to_vectors("vectors", vectors)
        d = vectors.shape[1]

        def width(t: int) -> float:
            return self.scale * self.R * sqrt(9 * d * log((t + 1) / self.delta))

        return SampledLinearModel(vectors, np.full(d, self.gamma), width)

    def widened(
        self,
        theta: Floats,
        eigenvalues: Floats | None = None,
        *,
        keep: Collection[str] = (),
    ) -> "LinTS":
        if "S" in keep:
            return self
        longest = float(np.sqrt(np.square(theta).sum()))
        return replace(self, S=at_least(self.S, longest, NORM_SLACK))

    def check_theta(self, theta: Floats, eigenvalues: Floats | None = None) -> None:
        check_norm(theta, self.S, "S")


class SampledLinearModel(LinearModel):
    """A model whose exploration is a draw: <x, w> with w of the normal law of covariance A^-1."""

    def _exploration(self, xi: Floats, t: int, normals: NormalDraws) -> Floats:
        # An arm's score after t pulls is for round t + 1, and so is the draw.
        w = solve_factor(self._a, normals(t + 1, len(self._z)))
        sampled: Floats = (self._vectors * w).sum(axis=1)
        return sampled


def solve_factor(matrix: Floats, z: Floats) -> Floats:
    """The w with L^T w = z, where L L^T is the matrix (Cholesky): w w^T is its inverse on average.

    By elementwise operations alone, for the reason that `inverse` gives.

    >>> solve_factor(np.array([[4.0, 2.0], [2.0, 5.0]]), np.array([1.0, 2.0])).tolist()
    [0.0, 1.0]
    """
    a = matrix.copy()
    d = len(a)
    for i in range(d):
        check_pivot(a[i, i])
        a[i:, i] /= np.sqrt(a[i, i])
        a[i + 1 :, i + 1 :] -= np.outer(a[i + 1 :, i], a[i + 1 :, i])
    w = z.copy()
    for i in reversed(range(d)):
        w[i] = (w[i] - (a[i + 1 :, i] * w[i + 1 :]).sum()) / a[i, i]
    return w
