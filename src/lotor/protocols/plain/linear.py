"""A linear policy with no cryptography: Figure 2 of LinUCB-DS, on the same integers as secure."""

from collections.abc import Callable, Collection, Mapping
from typing import ClassVar, cast

from lotor.core.effects import Decided, Decision, Steps
from lotor.core.errors import InputError
from lotor.core.fixed_point import Floats
from lotor.core.vectors import largest_norm
from lotor.core.wording import counted
from lotor.environments import LinearArms
from lotor.environments.base import Environment
from lotor.environments.sources import VectorSource
from lotor.policies import to_text
from lotor.policies.linear import Layout, LinearPolicy, RewardSum, SlotBits
from lotor.policies.noise import check_noise, suited_to_noise
from lotor.protocols.kept_linear import (
    KeptLinear,
    arms_digest,
    check_policy,
    check_rounds,
    described,
    kept_linear,
)
from lotor.protocols.linear_draws import LinearDraws
from lotor.protocols.party import Run
from lotor.protocols.plain.agent import AGENT, Agent


def linear_arms(run: Run, policy: LinearPolicy, before: int = 0) -> LinearArms:
    """The environment of a linear run, refused if it or its theta does not fit.

    Of a run that continues others it is the one that goes on after so many rounds before.
    """
    arms = run.environment
    if not isinstance(arms, LinearArms):
        raise InputError(
            f"a linear policy needs arms that are vectors, not {type(arms).__name__}: give "
            "LinearArms, or GraphArms"
        )
    if arms.noise is not None and len(arms.noise) < before + run.budget:
        asked = f"the budget of {run.budget}"
        if before:
            asked += f" and the {counted(before, 'round')} of the runs that are continued"
        raise InputError(
            f"noise was given for {counted(len(arms.noise), 'round')}, fewer than {asked}: "
            "give one number for each round"
        )
    policy.check_theta(arms.theta, arms.eigenvalues)
    # Given noise is a recorded run's, and no draw of any distribution.
    if arms.noise is None:
        check_noise(policy, arms.noise_sd)
    return arms


def linear_layout(vectors: Floats, policy: LinearPolicy, slot_bits: SlotBits) -> Layout:
    """The fixed point of a run, from what is public about it."""
    k, d = vectors.shape
    return Layout(L=largest_norm(vectors), S=policy.bound, k=k, d=d, slot_bits=slot_bits)


class LinearAgent(Agent[LinearPolicy]):
    """The learner of Figure 2, on the integers of slots of `slot_bits`.

    With `keep` it keeps what the secure protocols' P does.
    """

    family: ClassVar[type] = LinearPolicy
    arms: ClassVar[type] = VectorSource
    sees: ClassVar[str] = "a fixed vector of each arm"
    settings: ClassVar[Mapping[str, object]] = {"slot_bits": 64, "keep": False}
    least_budget: ClassVar[int | None] = 2
    continuable: ClassVar[bool] = True

    def __init__(self, policy: LinearPolicy, run: Run, settings: Mapping[str, object]) -> None:
        kept = _kept_of(run)
        self._before = 0 if kept is None else kept.rounds
        arms = linear_arms(run, policy, self._before)
        slot_bits = cast("SlotBits", settings["slot_bits"])
        self._run = run
        self._layout = linear_layout(arms.vectors, policy, slot_bits)
        self._theta = self._layout.theta(arms.theta)
        self._rounds = self._before + run.budget
        self._model = policy.start(arms.vectors, budget=self._rounds, eigenvalues=arms.eigenvalues)
        self._draws = LinearDraws.simulated(run, arms)
        self._rewards = RewardSum(self._layout, arms.vectors)
        self._policy, self._keep = policy, bool(settings["keep"])
        self._described = described(arms)
        check_rounds(self._before, run.budget)
        if kept is not None:
            check_policy(kept.run, kept.policy, to_text(policy))
            kept.check_arms(self._described)
            self._model.restore(kept.model)

    @classmethod
    def rounds_before(cls, run: Run) -> int:
        kept = _kept_of(run)
        return 0 if kept is None else kept.rounds

    @classmethod
    def recorded(cls, settings: Mapping[str, object]) -> Mapping[str, str | int]:
        said = super().recorded({**settings, "keep": None})
        return {**said, "keep": "true"} if settings["keep"] else said

    @classmethod
    def suited(
        cls, policy: LinearPolicy, environment: Environment, keep: Collection[str]
    ) -> LinearPolicy:
        if not isinstance(environment, LinearArms):
            return policy
        wide = policy.widened(environment.theta, environment.eigenvalues, keep=keep)
        return (
            wide
            if environment.noise is not None
            else suited_to_noise(wide, environment.noise_sd, keep)
        )

    @classmethod
    def decided_reward(cls, run: Run) -> Callable[[Decision], float] | None:
        arms = run.environment
        if not isinstance(arms, LinearArms):
            return None
        means, draws = arms.means, LinearDraws.simulated(run, arms)
        return lambda decision: means.item(decision.arm) + draws.noise(decision.round)

    def steps(self) -> Steps[float]:
        if self._before == 0:
            yield from self._pull(1, self._draws.first())
        for t in range(self._before or 1, self._rounds):
            yield from self._pull(t + 1, self._choose(t))
        if self._keep:
            self.kept = self._to_keep()
        return self._layout.reward(self._rewards.total(self._theta))

    def _to_keep(self) -> bytes:
        return KeptLinear(
            run=self._run.id,
            policy=to_text(self._policy),
            rounds=self._rounds,
            arms=arms_digest(self._described),
            model=self._model.snapshot(),
        ).to_bytes()

    def _choose(self, t: int) -> int:
        """The arm of round t + 1, after t pulls."""
        layout = self._layout
        u, c = self._model.coefficients(t, self._draws.normals)
        scores = layout.scores(layout.u(u), self._theta, layout.addends(c))
        best = max(scores)
        winner = scores.index(best)
        if scores.count(best) > 1:
            winner = next(i for i in self._draws.order(t + 1).tolist() if scores[i] == best)
        return winner

    def _pull(self, t: int, arm: int) -> Steps[None]:
        # The reward is computed from theta and the noise, exactly and at the end.
        yield Decided(Decision.named(self._run.id, t, arm))
        noise = self._draws.noise(t)
        self._model.update(arm, noise)
        self._rewards.add(arm, noise)


def _kept_of(run: Run) -> KeptLinear | None:
    """What is known from the run that this one continues, if it does."""
    earlier = run.earlier
    if earlier is None:
        return None
    return kept_linear(earlier.kept.get(AGENT), earlier.run)
