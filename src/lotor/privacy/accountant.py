"""How much the arms of a run may tell about the contexts, and when to stop."""

from dataclasses import dataclass
from math import copysign, isfinite

import msgspec

from lotor.core.errors import InputError
from lotor.core.fixed_point import MAXIMAL_BUDGET, to_float
from lotor.privacy import composition, mechanism

LARGEST_DELTA = 0.01
"""With a larger one, so much may be excused as chance that the figures say nothing."""

COVERS = (
    "It covers what the party that pulls sees, the arms; "
    "it does not cover the rewards, which another party sees."
)


class PrivacySpent(msgspec.Struct, frozen=True, kw_only=True):
    """What the arms of `steps` steps tell at most; None stands for infinite, also in JSON.

    `per_step` and `paper_per_step` hold for a single step whose context is replaced, after the
    same history. The others hold for the whole sequence of arms, `total` being the least of them,
    but never less than `per_step`: no set of sequences is more than e^total times as likely (plus
    delta) when contexts are replaced. `basic` needs no delta.
    """

    per_step: float | None
    paper_per_step: float | None
    steps: int
    delta: float
    basic: float | None
    advanced: float | None
    renyi: float | None
    total: float | None
    covers: str = COVERS


@dataclass(frozen=True, slots=True)
class Accountant:
    """The differential privacy of epsilon-greedy arms: for one step and over a run.

    `epsilon` is the exploration rate, not a privacy parameter. Privacy parameters are natural
    logarithms; infinity says that the arms may tell everything.

    >>> accountant = Accountant(arms=10, epsilon=0.1)
    >>> round(accountant.per_step, 2), round(accountant.total(1_000))
    (4.51, 4280)
    >>> accountant.steps(budget=100.0)
    22
    """

    arms: int
    epsilon: float
    delta: float = 1e-6

    def __post_init__(self) -> None:
        _check_whole("arms", self.arms, 1)
        object.__setattr__(self, "epsilon", to_float("epsilon", self.epsilon))
        object.__setattr__(self, "delta", to_float("delta", self.delta))
        if not 0.0 <= self.epsilon <= 1.0:
            raise InputError(
                f"epsilon is a probability: give a number from 0 to 1, not {self.epsilon}"
            )
        if not 0.0 <= self.delta <= LARGEST_DELTA or copysign(1.0, self.delta) < 0.0:
            raise InputError(
                "delta is the probability that the guarantee fails: give a small number from 0 to "
                f"{LARGEST_DELTA:g}, such as 1e-6, not {self.delta}"
            )

    @property
    def per_step(self) -> float:
        """log(A/epsilon - A + 1): exact, for one step after the same history."""
        return mechanism.largest_loss(self.arms, self.epsilon)

    @property
    def paper_per_step(self) -> float:
        """log(A/epsilon), as the paper states it: an upper bound, and for one step only."""
        return mechanism.paper_loss(self.arms, self.epsilon)

    def basic(self, steps: int) -> float:
        """The sum over the steps; it holds even with delta = 0."""
        return composition.basic(self.per_step, _checked(steps))

    def advanced(self, steps: int) -> float:
        """The mean loss of all steps and what chance adds to it; never more than `basic`."""
        mean = mechanism.mean_loss(self.arms, self.epsilon)
        return composition.advanced(self.per_step, mean, _checked(steps), self.delta)

    def renyi(self, steps: int) -> float:
        """By Rényi divergences, the best of many orders; never more than `basic`."""
        plain = self.basic(steps)
        if plain == 0.0 or not isfinite(plain):
            return plain
        divergences = mechanism.renyi_divergences(self.arms, self.epsilon)
        return min(plain, composition.renyi(divergences, steps, self.delta))

    def total(self, steps: int) -> float:
        """The least of the bounds, all of which are valid, but at least that of one step.

        A large delta excuses the first steps altogether. Their bounds are 0 then, and runs of few
        steps would add up to nothing, however many there are.
        """
        least = min(self.basic(steps), self.advanced(steps), self.renyi(steps))
        return max(least, self.per_step) if steps else least

    def steps(self, budget: float) -> int:
        """The largest number of steps with a total within the budget.

        The answer is `MAXIMAL_BUDGET`, the longest possible run, if even that is within the budget.
        """
        if not to_float("the privacy budget", budget) >= 0.0:
            raise InputError(f"the privacy budget is {budget}: give a number of at least 0")
        if self.total(MAXIMAL_BUDGET) <= budget:
            return MAXIMAL_BUDGET
        fits, exceeds = 0, MAXIMAL_BUDGET
        while exceeds - fits > 1:
            middle = (fits + exceeds) // 2
            if self.total(middle) <= budget:
                fits = middle
            else:
                exceeds = middle
        return fits

    def allowed(self, steps: int, budget: float | None, told: float = 0.0) -> int:
        """How many of so many steps fit the budget (None: all); refuses one too small for any.

        Runs that are continued may have `told` some of it before.
        """
        if budget is None:
            return steps
        if told:
            if not budget - told > 0.0:
                raise InputError(
                    f"the runs that this one continues may have told {told:.3g}, and the privacy "
                    f"budget for all of them is {budget:g}: give a larger one, or start a new run"
                )
            budget -= told
        fit = self.steps(budget)
        if fit < 1:
            raise InputError(
                f"one step tells {self.total(1):.3g}, more than the privacy budget of {budget:g}: "
                "explore more (a larger epsilon), or give a larger privacy budget"
            )
        return min(steps, fit)

    def spent(self, steps: int) -> PrivacySpent:
        """All figures after so many steps."""
        return PrivacySpent(
            per_step=_finite(self.per_step),
            paper_per_step=_finite(self.paper_per_step),
            steps=steps,
            delta=self.delta,
            basic=_finite(self.basic(steps)),
            advanced=_finite(self.advanced(steps)),
            renyi=_finite(self.renyi(steps)),
            total=_finite(self.total(steps)),
        )


def _finite(figure: float) -> float | None:
    """JSON has no infinity."""
    return figure if isfinite(figure) else None


def _checked(steps: int) -> int:
    _check_whole("steps", steps, 0)
    return steps


def _check_whole(name: str, value: object, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int):
        raise InputError(f"{name} is {value!r}: give a whole number")
    if not least <= value <= MAXIMAL_BUDGET:
        raise InputError(f"{name} is {value}: give a number from {least} to {MAXIMAL_BUDGET}")
