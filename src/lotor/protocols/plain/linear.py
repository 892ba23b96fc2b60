"""A linear policy with no cryptography: Figure 2 of LinUCB-DS, on the same integers as secure.

Rewards follow from theta and noise, or they are pulled from the environment one by one.
"""

from collections.abc import Callable, Collection, Mapping
from typing import ClassVar, Final, cast

from lotor.core.effects import Decided, Decision, Steps
from lotor.core.errors import InputError
from lotor.core.fixed_point import Floats
from lotor.core.vectors import largest_norm
from lotor.core.wording import counted
from lotor.environments import LinearArms, VectorArms
from lotor.environments.base import Environment
from lotor.environments.sources import VectorSource
from lotor.policies import to_text
from lotor.policies.linear import Layout, LinearPolicy, NormalDraws, RewardSum, SlotBits
from lotor.policies.noise import check_noise, suited_to_noise
from lotor.protocols.earlier import check_room
from lotor.protocols.kept_linear import (
    LIVE_NOT_CONTINUED,
    LIVE_NOT_KEPT,
    KeptLinear,
    arms_digest,
    check_policy,
    described,
    kept_linear,
)
from lotor.protocols.linear_draws import LinearDraws
from lotor.protocols.party import Run
from lotor.protocols.plain.agent import AGENT, Agent
from lotor.protocols.plain.live_rewards import LiveRewards

FROM_MODEL: Final = "model"
LIVE: Final = "live"
"""Where rewards come from: theta and noise, or the world."""


def linear_arms(run: Run, policy: LinearPolicy, before: int = 0) -> LinearArms:
    """The environment of a linear run, refused if it or its theta does not fit.

    Of a run that continues others it is the one that goes on after so many rounds before.
    """
    arms = run.environment
    if isinstance(arms, VectorArms):
        raise InputError(
            "VectorArms have no theta, from which this form computes rewards: choose form='paper' "
            "with rewards='live', or give LinearArms or GraphArms"
        )
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


def live_arms(run: Run, policy: LinearPolicy) -> LinearArms | VectorArms:
    """The environment of a run with live rewards, whose theta nobody needs to know."""
    arms = run.environment
    return arms if isinstance(arms, VectorArms) else linear_arms(run, policy)


class ModelRewards:
    """Rewards are <x, theta> + noise: computed exactly, and at the end.

    `kept` is what is known of the runs that this one continues, if it does.
    """

    def __init__(
        self, policy: LinearPolicy, run: Run, slot_bits: SlotBits, kept: KeptLinear | None
    ) -> None:
        self.before = 0 if kept is None else kept.rounds
        arms = linear_arms(run, policy, self.before)
        check_room(self.before, run.budget)
        self._run, self._policy = run, policy
        self._rounds = self.before + run.budget
        self._layout = linear_layout(arms.vectors, policy, slot_bits)
        self._theta = self._layout.theta(arms.theta)
        self._model = policy.start(arms.vectors, budget=self._rounds, eigenvalues=arms.eigenvalues)
        self._described = described(arms)
        if kept is not None:
            check_policy(kept.run, kept.policy, to_text(policy))
            kept.check_arms(self._described)
            self._model.restore(kept.model)
        self.draws = LinearDraws.simulated(run, arms)
        self._rewards = RewardSum(self._layout, arms.vectors)

    def scores(self, t: int, normals: NormalDraws) -> list[int]:
        """Of all arms after t pulls."""
        u, c = self._model.coefficients(t, normals)
        layout = self._layout
        return layout.scores(layout.u(u), self._theta, layout.addends(c))

    def pull(self, t: int, arm: int) -> Steps[None]:
        """The arm of round t."""
        yield Decided(Decision.named(self._run.id, t, arm))
        noise = self.draws.noise(t)
        self._model.update(arm, noise)
        self._rewards.add(arm, noise)

    def total(self) -> float:
        """In the user's unit."""
        return self._layout.reward(self._rewards.total(self._theta))

    def to_keep(self) -> bytes:
        """What the secure protocols' P keeps."""
        return KeptLinear(
            run=self._run.id,
            policy=to_text(self._policy),
            rounds=self._rounds,
            arms=arms_digest(self._described),
            model=self._model.snapshot(),
        ).to_bytes()


class LinearAgent(Agent[LinearPolicy]):
    """The learner of Figure 2, on the integers of slots of `slot_bits`.

    `rewards` is "model", or "live" where the environment is asked for each of them; arms without a
    theta are always asked. With `keep` it keeps what the secure protocols' P does.
    """

    family: ClassVar[type] = LinearPolicy
    arms: ClassVar[type] = VectorSource
    sees: ClassVar[str] = "a fixed vector of each arm"
    settings: ClassVar[Mapping[str, object]] = {
        "slot_bits": 64,
        "rewards": FROM_MODEL,
        "keep": False,
    }
    least_budget: ClassVar[int | None] = 2
    continuable: ClassVar[bool] = True

    def __init__(self, policy: LinearPolicy, run: Run, settings: Mapping[str, object]) -> None:
        self._run = run
        self._keep = bool(settings["keep"])
        self._rewards: ModelRewards | LiveRewards
        if _is_live(settings, run):
            _check_live(run, keep=self._keep)
            self._rewards = LiveRewards(policy, live_arms(run, policy), run)
        else:
            slot_bits = cast("SlotBits", settings["slot_bits"])
            self._rewards = ModelRewards(policy, run, slot_bits, _kept_of(run))
        self._draws = self._rewards.draws

    @classmethod
    def rounds_before(cls, run: Run) -> int:
        kept = _kept_of(run)
        return 0 if kept is None else kept.rounds

    @classmethod
    def check(cls, settings: Mapping[str, object]) -> None:
        if settings["rewards"] not in (FROM_MODEL, LIVE):
            raise InputError(f"rewards is 'model' or 'live', not {settings['rewards']!r}")
        if settings["keep"] and settings["rewards"] == LIVE:
            raise InputError(LIVE_NOT_KEPT)

    @classmethod
    def recorded(cls, settings: Mapping[str, object]) -> Mapping[str, str | int]:
        left_out = "slot_bits" if settings["rewards"] == LIVE else "rewards"
        said = super().recorded({**settings, left_out: None, "keep": None})
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
    def decided_reward(
        cls, settings: Mapping[str, object], run: Run
    ) -> Callable[[Decision], float] | None:
        arms = run.environment
        if not isinstance(arms, LinearArms) or _is_live(settings, run):
            return None
        means, draws = arms.means, LinearDraws.simulated(run, arms)
        return lambda decision: means.item(decision.arm) + draws.noise(decision.round)

    def steps(self) -> Steps[float]:
        rewards, before = self._rewards, self._rewards.before
        if before == 0:
            yield from rewards.pull(1, self._draws.first())
        for t in range(before or 1, before + self._run.budget):
            yield from rewards.pull(t + 1, self._choose(t))
        if self._keep and isinstance(rewards, ModelRewards):
            self.kept = rewards.to_keep()
        return rewards.total()

    def _choose(self, t: int) -> int:
        """The arm of round t + 1, after t pulls."""
        scores = self._rewards.scores(t, self._draws.normals)
        best = max(scores)
        winner = scores.index(best)
        if scores.count(best) > 1:
            winner = next(i for i in self._draws.order(t + 1).tolist() if scores[i] == best)
        return winner


def _is_live(settings: Mapping[str, object], run: Run) -> bool:
    return settings["rewards"] == LIVE or isinstance(run.environment, VectorArms)


def _check_live(run: Run, *, keep: bool) -> None:
    if keep:
        raise InputError(LIVE_NOT_KEPT)
    if run.earlier is not None:
        raise InputError(
            f"a run with live rewards cannot continue run {run.earlier.run}: {LIVE_NOT_CONTINUED}; "
            "start a new one"
        )


def _kept_of(run: Run) -> KeptLinear | None:
    """What is known from the run that this one continues, if it does."""
    earlier = run.earlier
    if earlier is None:
        return None
    return kept_linear(earlier.kept.get(AGENT), earlier.run)
