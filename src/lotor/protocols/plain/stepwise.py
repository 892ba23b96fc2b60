"""A policy that the user drives: `ask` for an arm, `tell` what it paid."""

import secrets
from collections.abc import Sequence
from operator import index
from typing import cast

import numpy as np

from lotor.core.best_arm import BestArm
from lotor.core.errors import InputError
from lotor.core.fixed_point import MAXIMAL_BUDGET, Floats, RewardScale, to_float
from lotor.core.vectors import VectorLike, VectorsLike
from lotor.environments.base import to_names
from lotor.policies import AnyPolicy, to_text
from lotor.protocols.party import Run
from lotor.protocols.plain.learner import NO_CONTEXT, Learner
from lotor.protocols.plain.plain import agent_of


class Bandit:
    """A policy with no cryptography, one step at a time.

    `arms` is how many there are, or their names; `ask` and `tell` then speak of arms by name. A
    policy with contexts is asked with the round's: a vector, or for optimistic policies a row for
    each arm. With the same seed and rewards it makes the choices of `lotor.run`.

    >>> import lotor
    >>> bandit = Bandit(lotor.UCB(), ["drug A", "drug B"], seed=7)
    >>> for _ in range(100):
    ...     drug = bandit.ask()
    ...     bandit.tell(drug, reward=1.0 if drug == "drug B" else 0.0)
    >>> bandit
    <Bandit with ucb: 100 rounds over 2 arms, total 94>

    A policy that looks for the best arm says when it is sure:

    >>> bandit = Bandit(lotor.LUCB(), ["drug A", "drug B"], seed=7)
    >>> while not bandit.done:
    ...     drug = bandit.ask()
    ...     bandit.tell(drug, reward=1.0 if drug == "drug B" else 0.0)
    >>> bandit.best, bandit.confidence > 0.95
    ('drug B', True)
    """

    def __init__(
        self,
        policy: AnyPolicy,
        arms: int | Sequence[str],
        *,
        seed: int | None = None,
        reward_range: tuple[float, float] = (0.0, 1.0),
    ) -> None:
        agent = agent_of(policy)
        if agent is None:
            raise InputError(f"Bandit takes a policy such as UCB(), not {policy!r}")
        self._agent = agent
        self._policy = policy
        whole = isinstance(arms, int | np.integer) and not isinstance(arms, bool)
        k = index(cast("int", arms)) if whole else len(cast("Sequence[str]", arms))
        self._names = None if whole else to_names(cast("Sequence[str]", arms), k)
        scale = RewardScale.of(reward_range)
        self.seed = secrets.randbits(48) if seed is None else _checked_seed(seed)
        self._run = Run("", k, MAXIMAL_BUDGET, scale, self.seed, least_budget=1)
        self._learner: Learner | None = None
        self._asked: tuple[int, Floats] | None = None
        self._d = 0
        self._fixed = 0
        self.rounds = 0
        if not agent.context_axes:
            self._learner = agent.learner(policy, self._run, 0)

    def __repr__(self) -> str:
        return (
            f"<Bandit with {to_text(self._policy)}: {self.rounds} rounds over {self._run.k} arms, "
            f"total {self.total:g}>"
        )

    @property
    def total(self) -> float:
        """The sum of all rewards that were told."""
        return self._run.scale.total(self._fixed, self.rounds)

    @property
    def best(self) -> int | str | None:
        """The best arm so far, where the policy looks for it (LUCB); else None."""
        found = self._found()
        if found is None:
            return None
        return found.arm if self._names is None else self._names[found.arm]

    @property
    def confidence(self) -> float | None:
        """How sure `best` is; None where the policy does not look for it."""
        found = self._found()
        return None if found is None else found.confidence

    @property
    def done(self) -> bool:
        """Whether `best` is as sure as the policy was asked for: there is nothing more to ask."""
        found = self._found()
        return found is not None and found.sure

    def ask(self, context: VectorLike | VectorsLike | None = None) -> int | str:
        """The arm to pull now; asking again before `tell` gives the same one."""
        x = self._context(context)
        if self._asked is not None:
            arm, seen = self._asked
            if not np.array_equal(seen, x):
                raise InputError(
                    "another context was asked about, and nobody told what came of it: tell the "
                    "reward of that round first"
                )
        else:
            if self._learner is None:
                self._d = x.shape[-1]
                self._learner = self._agent.learner(self._policy, self._run, self._d)
            arm = self._learner.choose(self.rounds + 1, x)
            self._asked = (arm, x)
        return arm if self._names is None else self._names[arm]

    def tell(self, arm: int | str, reward: float) -> None:
        """What an arm paid in this round; usually the arm that `ask` gave, but any may be told."""
        if self._asked is None or self._learner is None:
            raise InputError("nobody has asked for an arm: call `ask` before each `tell`")
        place = self._place(arm)
        scale = self._run.scale
        paid = to_float("reward", reward)
        if not scale.low <= paid <= scale.high:
            raise InputError(
                f"the reward lies outside reward_range ({scale.low:g}, {scale.high:g}): widen the "
                "range when you make the Bandit"
            )
        fixed = scale.to_fixed(paid)
        _, x = self._asked
        self._asked = None
        self.rounds += 1
        self._fixed += fixed
        self._learner.learn(self.rounds, place, fixed, x)

    def _found(self) -> BestArm | None:
        return None if self._learner is None else self._learner.found()

    def _place(self, arm: int | str) -> int:
        arms: Sequence[int | str] = self._names or range(self._run.k)
        if arm not in arms or isinstance(arm, bool):
            known = ", ".join(self._names) if self._names else f"0 to {self._run.k - 1}"
            raise InputError(f"there is no arm {arm!r}: the arms are {known}")
        return arms.index(arm)

    def _context(self, context: VectorLike | VectorsLike | None) -> Floats:
        axes, k = self._agent.context_axes, self._run.k
        if not axes:
            if context is not None:
                raise InputError(f"{to_text(self._policy)} takes no context: call `ask()`")
            return NO_CONTEXT
        try:
            x: Floats = np.array(context, dtype=np.float64)
        except (TypeError, ValueError):
            x = NO_CONTEXT
        fits = x.ndim == axes and x.size > 0 and bool(np.isfinite(x).all())
        fits = fits and (axes == 1 or len(x) == k) and x.shape[-1] == (self._d or x.shape[-1])
        if not fits:
            what = "a list of numbers" if axes == 1 else f"{k} rows of numbers, one for each arm"
            raise InputError(
                f"{to_text(self._policy)} needs the context of the round, {what}, as long as in "
                "other rounds: call `ask(context)`"
            )
        return x


def _checked_seed(seed: int) -> int:
    if not isinstance(seed, int | np.integer) or isinstance(seed, bool) or seed < 0:
        raise InputError(f"seed is {seed!r}: give a whole number from 0 up")
    return int(seed)
