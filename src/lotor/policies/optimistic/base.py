"""What an optimistic policy is: an upper confidence bound on each arm of the round, by its context.

Equation, lemma and algorithm numbers are those of Garcelon, Perchet and Pirotta (2022), if no
others are named.
"""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from math import log, pi, sqrt
from typing import ClassVar, Literal, TypeAlias, get_args

import numpy as np

from lotor.core.errors import InputError
from lotor.core.fixed_point import Floats
from lotor.policies.linear.bounds import NORM_SLACK, check_norm, confidence, positive
from lotor.policies.optimistic.model import Batch, OptimisticModel

Width: TypeAlias = Literal["determinant", "public", "union"]


@dataclass(frozen=True, slots=True, kw_only=True)
class OptimisticPolicy:
    """Base of the policies that take the arm which may pay most: a frozen dataclass of parameters.

    - `ridge`: the regulariser lambda; `delta`: how probably a confidence bound may fail;
    - `sigma`: the noise is sigma-sub-Gaussian; a run on simulated contexts with more noise warns;
    - `S`: a bound on |theta|; `L`: a bound on the length of every context. The defaults of sigma
      and L are those of the paper's toy problem;
    - `width`: how the radius beta of the confidence ellipsoid is computed, for a batch that starts
      with round t_j and so knows n = t_j - 1 rounds:
      "determinant": sigma sqrt(ln(det V/det(ridge·I)) + 2 ln(1/delta)) + S sqrt(ridge), Theorem 2
      of Abbasi-Yadkori et al. (2011), which holds in all rounds at once;
      "public": the same with the determinant replaced by its bound d ln(1 + n L^2/(d ridge))
      (their Lemma 10), so that it depends on nothing but the round;
      "union": sigma sqrt(d ln((1 + L^2 t_j/ridge) pi^2 t^2/(6 delta))) + t_j^-1/2 + S sqrt(ridge),
      Algorithm 4. Its union bound over the rounds is not needed, since Theorem 2 has none to take,
      and t_j^-1/2 is for an inexact inverse (Corollary 3). (Proposition 9 has L^2 t/(ridge d)
      instead; equation (3) has the root over d alone, by mistake.)
    """

    noise_parameter: ClassVar[str | None] = "sigma"

    ridge: float = 1.0
    delta: float = 0.01
    sigma: float = 0.5
    S: float = 1.0
    L: float = 5.5
    width: Width = "determinant"

    def __post_init__(self) -> None:
        object.__setattr__(self, "ridge", positive("ridge", self.ridge))
        object.__setattr__(self, "delta", confidence(self.delta))
        object.__setattr__(self, "sigma", positive("sigma", self.sigma, or_zero=True))
        object.__setattr__(self, "S", positive("S", self.S))
        object.__setattr__(self, "L", positive("L", self.L))
        one_of("width", self.width, get_args(Width))

    @abstractmethod
    def ends(self, t: int, batch: Batch, log_growth: Callable[[], float]) -> bool:
        """Whether a new batch starts with round t, and with it a new estimate."""

    def start(self, d: int) -> OptimisticModel:
        """A model before the first round, for contexts of d numbers."""
        return OptimisticModel(self, d)

    def bonus(self, z: Floats, t: int, batch: Batch) -> Floats:
        """The length of a context under the batch's inverse, from its square z."""
        root: Floats = np.sqrt(z)
        return root

    def beta(self, t: int, batch: Batch) -> float:
        """The radius of round t's confidence ellipsoid."""
        d, start = len(batch.weights), batch.start
        squared = self.L**2 / self.ridge
        bias = self.S * sqrt(self.ridge)
        if self.width == "union":
            inside = (1 + squared * start) * (pi**2 * t**2 / (6 * self.delta))
            return self.sigma * sqrt(d * log(inside)) + 1 / sqrt(start) + bias
        growth = batch.log_growth
        if self.width == "public":
            growth = d * log(1 + (start - 1) * squared / d)
        return self.sigma * sqrt(growth + 2 * log(1 / self.delta)) + bias

    def check_contexts(self, contexts: Floats) -> None:
        """Refuse contexts beyond L. Their lengths are the users' secrets; no message has them."""
        # Scaled first, so that no square leaves the range of floats.
        squares = np.square(np.clip(contexts / self.L, -2, 2)).sum(axis=-1)
        if not np.all(squares <= (1 + NORM_SLACK) ** 2):
            raise InputError(
                f"a context is longer than L = {self.L:g}, or holds a number that is not finite: "
                "divide all contexts by the length of the longest, or state a larger L"
            )

    def check_theta(self, theta: Floats) -> None:
        """Where theta is known: refuse one that is longer than S."""
        check_norm(theta, self.S, "S")


def one_of(name: str, value: object, choices: tuple[str, ...]) -> None:
    """Refuse a value that is not one of the choices."""
    if value not in choices:
        raise InputError(f"{name} is {value!r}: choose one of {', '.join(choices)}")
