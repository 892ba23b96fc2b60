"""Linear epsilon-greedy."""

from dataclasses import dataclass, field

from lotor.core.errors import InputError
from lotor.core.fixed_point import to_float
from lotor.policies.contextual.base import ContextualPolicy
from lotor.policies.contextual.least_squares import LeastSquares
from lotor.policies.linear.bounds import positive

RECOMPUTE = 1_000
"""By default, an arm's inverse is computed anew after this many of its updates."""

# After n updates the weights are off by up to about n·1e-16 / ridge.
LEAST_RIDGE = 1e-6


@dataclass(frozen=True, slots=True)
class LinearEpsilonGreedy(ContextualPolicy):
    """Explore with probability epsilon, else take the arm whose least squares promise most.

    The policy of Algorithm 1 of Hannun, Knott, Sengupta and van der Maaten (2019).

    - `epsilon`: the probability of a uniform arm;
    - `ridge`: the regulariser, on the diagonal of each arm's matrix from the start;
    - `recompute`: an arm's inverse is computed anew after this many of its updates (None: 1,000).

    >>> import lotor
    >>> arms = lotor.ContextualArms.lookalike(rounds=500, arms=4, d=6, seed=1)
    >>> lotor.run(lotor.LinearEpsilonGreedy(0.05), arms, budget=500, seed=1).reward > 300
    True
    """

    epsilon: float = 0.1
    ridge: float = field(default=1.0, kw_only=True)
    recompute: int | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        epsilon = to_float("epsilon", self.epsilon)
        if not 0.0 <= epsilon <= 1.0:
            raise InputError(
                f"epsilon is a probability: give a number from 0 to 1, not {self.epsilon}"
            )
        object.__setattr__(self, "epsilon", epsilon)
        object.__setattr__(self, "ridge", positive("ridge", self.ridge))
        if self.ridge < LEAST_RIDGE:
            raise InputError(
                f"ridge is {self.ridge:g}, which floats would round away: give at least "
                f"{LEAST_RIDGE:g}, such as 1"
            )
        if self.recompute is not None:
            every = to_float("recompute", self.recompute)
            if not (every >= 1 and every.is_integer()):
                raise InputError(
                    f"recompute is {self.recompute!r}: give a whole number of updates from 1 up"
                )
            object.__setattr__(self, "recompute", int(every))

    def start(self, arms: int, d: int) -> LeastSquares:
        every = RECOMPUTE if self.recompute is None else self.recompute
        return LeastSquares(arms, d, ridge=self.ridge, recompute=every)
