"""What an environment is: the place where rewards come from."""

from collections.abc import Awaitable, Callable
from typing import Protocol, TypeAlias

from lotor.core.effects import Decision

PullFunction: TypeAlias = Callable[[Decision], float | Awaitable[float]]


class Environment(Protocol):
    """Some arms and their rewards; anything with these three members is one.

    >>> class Certain:
    ...     k = 2
    ...     reward_range = (0.0, 1.0)
    ...     def start(self, seed: int) -> PullFunction:
    ...         return lambda decision: float(decision.arm)
    >>> pull = Certain().start(seed=7)
    >>> pull(Decision(run="demo", round=1, arm=1, id="demo-1"))
    1.0
    """

    @property
    def k(self) -> int:
        """The number of arms; a decision's `arm` lies in 0..k-1."""
        ...

    @property
    def reward_range(self) -> tuple[float, float]:
        """The lowest and the highest possible reward: public, the same for all arms."""
        ...

    def start(self, seed: int) -> PullFunction:
        """Begin one run; a simulated environment gives the same rewards for the same seed."""
        ...
