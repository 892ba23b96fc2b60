"""OFUL."""

from collections.abc import Callable
from dataclasses import dataclass

from lotor.policies.optimistic.base import OptimisticPolicy
from lotor.policies.optimistic.model import Batch


@dataclass(frozen=True, slots=True, kw_only=True)
class OFUL(OptimisticPolicy):
    """Optimism in the face of uncertainty (Abbasi-Yadkori, Pál and Szepesvári, 2011).

    Takes the arm with the largest <x, w> + beta |x|_{V^-1}, and learns in every round. The
    parameters are those of `OptimisticPolicy`.

    >>> import lotor
    >>> toy = lotor.LinearContexts.toy(rounds=130, seed=0)
    >>> result = lotor.run(lotor.OFUL(), toy, budget=130, seed=1)
    >>> toy.regret(result.arms) < 10, result.operations
    (True, {'updates': 130})
    """

    def ends(self, t: int, batch: Batch, log_growth: Callable[[], float]) -> bool:
        return True
