"""A linear policy with no cryptography: Figure 2 of LinUCB-DS, on the same integers as secure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from lotor.core.draws import to_uniform
from lotor.core.effects import Decision, Pull, Steps
from lotor.core.errors import InputError
from lotor.core.fixed_point import Floats
from lotor.core.vectors import largest_norm
from lotor.crypto.prf import ROUNDS_AHEAD, Prf
from lotor.environments import LinearArms
from lotor.policies.linear import Layout, LinearPolicy, RewardSum, SlotBits, linear_to_text
from lotor.protocols.party import Party, Run

FIRST, TIES, NOISE = "linear first arm", "linear ties", "linear noise"
"""The purposes of the keys that decide arms."""

_LABEL = 0


class LinearDraws:
    """What whoever pulls draws: the first arm, the noise and the order of equal arms.

    Functions of keys and the round (1 to N), never of an order of calls.
    """

    def __init__(
        self,
        keys: Mapping[str, bytes],
        k: int,
        *,
        noise_sd: float,
        noise: Floats | None = None,
        first: int | None = None,
    ) -> None:
        self._k = k
        self._first = first
        self._noise_sd = noise_sd
        self._noise = noise
        self._first_prf = Prf(keys[FIRST])
        self._noise_prf = Prf(keys[NOISE], ahead=ROUNDS_AHEAD)
        self._ties = Prf(keys[TIES], range(k))

    @classmethod
    def simulated(cls, run: Run, arms: LinearArms) -> "LinearDraws":
        """Those of a simulation, from its seed: the same for plain and secure."""
        keys = {purpose: run.draw_key(purpose) for purpose in (FIRST, TIES, NOISE)}
        return cls(keys, arms.k, noise_sd=arms.noise_sd, noise=arms.noise, first=arms.first)

    def first(self) -> int:
        """The arm of the first round."""
        if self._first is not None:
            return self._first
        (word,) = self._first_prf.integers(_LABEL, 1, 0)
        return word * self._k >> 64

    def order(self, t: int) -> NDArray[np.intp]:
        """All arms by their tie draws of round t: of equal scores the first in it wins.

        Where the keys are secret this is a fresh permutation each round.
        """
        return np.argsort(self._ties.words(_LABEL, t, 0), kind="stable")

    def noise(self, t: int) -> float:
        """What is added to the reward of round t."""
        if self._noise is not None:
            return float(self._noise[t - 1])
        if self._noise_sd == 0:
            return 0.0
        from scipy.special import ndtri  # noqa: PLC0415

        return self._noise_sd * float(ndtri(to_uniform(self._noise_prf.words(_LABEL, t, 0))[0]))


def linear_arms(run: Run, policy: LinearPolicy) -> LinearArms:
    """The environment of a linear run, refused if it or its theta does not fit."""
    arms = run.environment
    if not isinstance(arms, LinearArms):
        raise InputError(
            f"a linear policy needs arms that are vectors, not {type(arms).__name__}: give "
            "LinearArms, or GraphArms"
        )
    if arms.noise is not None and len(arms.noise) < run.budget:
        raise InputError(
            f"noise was given for {len(arms.noise)} rounds, fewer than the budget of {run.budget}: "
            "give one number for each round"
        )
    policy.check_theta(arms.theta, arms.eigenvalues)
    return arms


def linear_layout(arms: LinearArms, policy: LinearPolicy, slot_bits: SlotBits) -> Layout:
    """The fixed point of a run, from what is public about it."""
    return Layout(
        L=largest_norm(arms.vectors), S=policy.bound, k=arms.k, d=arms.d, slot_bits=slot_bits
    )


class LinearAgent:
    """The learner of Figure 2."""

    def __init__(self, policy: LinearPolicy, slot_bits: SlotBits, run: Run) -> None:
        arms = linear_arms(run, policy)
        self._run = run
        self._layout = linear_layout(arms, policy, slot_bits)
        self._theta = self._layout.theta(arms.theta)
        self._model = policy.start(arms.vectors, budget=run.budget, eigenvalues=arms.eigenvalues)
        self._draws = LinearDraws.simulated(run, arms)
        self._rewards = RewardSum(self._layout, arms.vectors)

    def operations(self) -> Mapping[str, int]:
        return {}

    def steps(self) -> Steps[float]:
        run = self._run
        yield from self._pull(1, self._draws.first())
        for t in range(1, run.budget):
            yield from self._pull(t + 1, self._choose(t))
        return self._layout.reward(self._rewards.total(self._theta))

    def _choose(self, t: int) -> int:
        """The arm of round t + 1, after t pulls."""
        layout = self._layout
        u, c = self._model.coefficients(t)
        scores = layout.scores(layout.u(u), self._theta, layout.addends(c))
        best = max(scores)
        winner = scores.index(best)
        if scores.count(best) > 1:
            winner = next(i for i in self._draws.order(t + 1).tolist() if scores[i] == best)
        return winner

    def _pull(self, t: int, arm: int) -> Steps[None]:
        # The reward is computed from theta and the noise, exactly and at the end: what the
        # environment answers is for those who watch the run.
        yield Pull(Decision.named(self._run.id, t, arm))
        noise = self._draws.noise(t)
        self._model.update(arm, noise)
        self._rewards.add(arm, noise)


@dataclass(frozen=True, slots=True)
class PlainLinear:
    """Run a linear policy in the clear, by one agent that computes with secure's integers."""

    policy: LinearPolicy
    slot_bits: SlotBits = 64

    least_budget: ClassVar[int] = 2

    @property
    def name(self) -> str:
        return "plain"

    @property
    def learner(self) -> str:
        return "agent"

    def options(self) -> Mapping[str, str | int]:
        return {"policy": linear_to_text(self.policy), "slot_bits": self.slot_bits}

    def parties(self, run: Run) -> Mapping[str, Party]:
        return {"agent": LinearAgent(self.policy, self.slot_bits, run)}
