"""RSOFUL-TR: OFUL that seldom renews its estimate, by a trace."""

from collections.abc import Callable
from dataclasses import dataclass

from lotor.policies.linear.bounds import positive
from lotor.policies.optimistic.base import OptimisticPolicy
from lotor.policies.optimistic.model import Batch


@dataclass(frozen=True, slots=True, kw_only=True)
class RSOFULTR(OptimisticPolicy):
    """OFUL that renews its estimate once the batch's sum of |x|^2 under its inverse reaches C.

    Condition (8) of Garcelon, Perchet and Pirotta (2022), which needs no determinant: a batch ends
    before round t if sum_{l = t_j}^{t - 1} |x_l|^2 >= C under the inverse of the batch. The paper
    sums from t_j + 1; but the batch's matrix has the rounds before t_j in it, so that nothing would
    ever count round t_j. The other parameters are those of `OptimisticPolicy`.

    >>> import lotor
    >>> toy = lotor.LinearContexts.toy(rounds=130, seed=0)
    >>> lotor.run(lotor.RSOFULTR(), toy, budget=130, seed=1).operations["updates"] < 20
    True
    """

    C: float = 1.0

    def __post_init__(self) -> None:
        OptimisticPolicy.__post_init__(self)
        object.__setattr__(self, "C", positive("C", self.C))

    def ends(self, t: int, batch: Batch, log_growth: Callable[[], float]) -> bool:
        return batch.trace >= self.C
