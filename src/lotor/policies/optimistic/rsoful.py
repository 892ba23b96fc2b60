"""RSOFUL: OFUL that seldom renews its estimate, by the determinant."""

from collections.abc import Callable
from dataclasses import dataclass
from math import log1p

from lotor.policies.linear.bounds import positive
from lotor.policies.optimistic.base import OptimisticPolicy
from lotor.policies.optimistic.model import Batch


@dataclass(frozen=True, slots=True, kw_only=True)
class RSOFUL(OptimisticPolicy):
    """OFUL that renews its estimate when det V has grown by the factor 1 + C.

    Rarely switching OFUL (Abbasi-Yadkori, Pál and Szepesvári, 2011, Section 5.1). The other
    parameters are those of `OptimisticPolicy`.

    >>> import lotor
    >>> toy = lotor.LinearContexts.toy(rounds=130, seed=0)
    >>> lotor.run(lotor.RSOFUL(), toy, budget=130, seed=1).operations["updates"] < 20
    True
    """

    C: float = 1.0

    def __post_init__(self) -> None:
        # A dataclass with slots is a new class, which super() without arguments does not know.
        OptimisticPolicy.__post_init__(self)
        object.__setattr__(self, "C", positive("C", self.C))

    def ends(self, t: int, batch: Batch, log_growth: Callable[[], float]) -> bool:
        return log_growth() - batch.log_growth >= log1p(self.C)
