"""BatchedOFUL: what HELBA computes under encryption, in exact arithmetic."""

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from math import log, sqrt
from typing import Literal, TypeAlias, get_args

import numpy as np

from lotor.core.fixed_point import Floats
from lotor.core.options import option
from lotor.policies.linear.bounds import positive
from lotor.policies.optimistic.base import OptimisticPolicy, one_of
from lotor.policies.optimistic.model import Batch

Index: TypeAlias = Literal["optimistic-quadratic", "sqrt"]
Touch: TypeAlias = Literal["log", "flat"]
PublicWidth: TypeAlias = Literal["public", "union"]


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchedOFUL(OptimisticPolicy):
    """OFUL with an index and a schedule that a server can follow on ciphertexts alone.

    `index`, with z = |x|^2 under the batch's inverse:

    - "optimistic-quadratic": <x, w> + beta (z/u + u)/2. No root: it is an upper confidence bound
      because sqrt(z) <= (z/u + u)/2 for every u > 0, and linear in the inverse. Both sides touch
      where sqrt(z) = u, and `touch` says which public u_t that is: "log" is
      sqrt(d ln(1 + t L^2/(d ridge))/t), with which the bound on the regret has OFUL's order; "flat"
      is sqrt(d/t), which explores more and loses the root of a logarithm (docs/helba-regret.md);
    - "sqrt": <x, w> + beta (sqrt(z + eps) + 1/t) with eps = L/(t_j^3/2 sqrt(ridge + L^2 t_j)),
      Algorithm 4, which there covers an inexact inverse and an inexact root.

    `C` and `eta` are the schedule. Batch j is rounds t_j to t_{j+1} - 1, with the estimate from all
    rounds before t_j, and t_0 = 1. Before round t a new batch starts (t_{j+1} = t) if
    t >= (1 + eta) t_j, or if condition (8) holds, corrected as in `RSOFULTR`, unless C is None.
    (Algorithm 4 asks after round t, and then leaves round t itself out of the estimate.) eta = 0
    makes each round a batch. The paper's experiment has C = 1 and eta = 0.1.

    `width` is "public" or "union", since the server knows no determinant; "union" is that of
    Algorithm 4, so that index="sqrt" alone is not yet the paper's policy. The other parameters are
    those of `OptimisticPolicy`.

    >>> import lotor
    >>> toy = lotor.LinearContexts.toy(rounds=130, seed=0)
    >>> paper = BatchedOFUL(index="sqrt", width="union", C=1, eta=0.1)
    >>> lotor.run(paper, toy, budget=130, seed=1).operations
    {'updates': 32}
    """

    index: Index = field(
        default="optimistic-quadratic",
        metadata=option(
            "How an arm's index is computed; 'sqrt' is the paper's, if the width is 'union'."
        ),
    )
    C: float | None = field(
        default=None,
        metadata=option(
            "Renew the estimate once the squared contexts since the last one add up to this.",
            shown="no condition",
        ),
    )
    eta: float = field(
        default=0.0,
        metadata=option(
            "Renew the estimate once the rounds have grown by this fraction.", shown="0, each round"
        ),
    )
    touch: Touch = "log"
    width: PublicWidth = field(
        default="public",
        metadata=option("How wide confidence bounds are; 'union' is the paper's Algorithm 4."),
    )

    def __post_init__(self) -> None:
        OptimisticPolicy.__post_init__(self)
        one_of("index", self.index, get_args(Index))
        one_of("touch", self.touch, get_args(Touch))
        one_of("width", self.width, get_args(PublicWidth))
        if self.C is not None:
            object.__setattr__(self, "C", positive("C", self.C))
        object.__setattr__(self, "eta", positive("eta", self.eta, or_zero=True))

    def bonus(self, z: Floats, t: int, batch: Batch) -> Floats:
        if self.index == "sqrt":
            root: Floats = np.sqrt(z + self.slack(batch.start)) + 1 / t
            return root
        u = self.touches(t, len(batch.weights))
        return (z / u + u) / 2

    def ends(self, t: int, batch: Batch, log_growth: Callable[[], float]) -> bool:
        return self.due(t, batch.start) or (self.C is not None and batch.trace >= self.C)

    def due(self, t: int, start: int) -> bool:
        """Whether round t is too late for the current batch: public, since it needs no data."""
        # eta as it was written, so that 11 is (1 + 0.1)·10 exactly.
        return t - start >= Fraction(repr(self.eta)) * start

    def touches(self, t: int, d: int) -> float:
        """The public u_t: the root for which the quadratic index is exact in round t."""
        if self.touch == "flat":
            return sqrt(d / t)
        return sqrt(d * log(1 + t * self.L**2 / (d * self.ridge)) / t)

    def slack(self, start: int) -> float:
        """The public eps_j that the index "sqrt" adds to each z."""
        return self.L / (start * sqrt(start) * sqrt(self.ridge + self.L**2 * start))
