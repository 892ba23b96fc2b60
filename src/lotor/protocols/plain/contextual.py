"""A contextual policy with no cryptography: Algorithm 1 of PPCB, one agent that sees everything."""

from collections import deque
from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar, cast

import msgspec
import numpy as np

from lotor.core.effects import Decision, Pull, Steps
from lotor.core.errors import FormatError, InputError
from lotor.core.fixed_point import REWARD_ONE, Floats
from lotor.core.unreadable import UNREADABLE
from lotor.core.wording import counted
from lotor.environments import ContextualArms
from lotor.environments.sources import ContextSource
from lotor.policies import to_text
from lotor.policies.contextual import (
    ContextualPolicy,
    LeastSquares,
    LeastSquaresSnapshot,
    LinearEpsilonGreedy,
)
from lotor.privacy import Accountant
from lotor.protocols.contextual_draws import ContextualDraws
from lotor.protocols.party import Run
from lotor.protocols.plain.agent import AGENT, Agent
from lotor.protocols.plain.learner import Learner


def contextual_arms(run: Run, before: int = 0) -> ContextualArms:
    """The environment of a contextual run, refused if it does not fit.

    Of a run that continues others it is the one that goes on after so many rounds before.
    """
    arms = run.environment
    if not isinstance(arms, ContextualArms):
        raise InputError(
            f"a contextual policy needs arms with contexts, not {type(arms).__name__}: give "
            "ContextualArms"
        )
    if arms.rounds < before + run.budget:
        asked = f"the budget of {run.budget}"
        if before:
            asked += f" and the {counted(before, 'round')} of the runs that are continued"
        raise InputError(
            f"there are contexts for {counted(arms.rounds, 'round')}, fewer than {asked}: "
            "give more contexts or a smaller budget"
        )
    return arms


class ContextualLearner(Learner):
    """What Algorithm 1 does in a round."""

    def __init__(self, policy: ContextualPolicy, run: Run, d: int) -> None:
        self.model = policy.start(run.k, d)
        self._draws = ContextualDraws.simulated(run, policy.epsilon)

    def choose(self, t: int, x: Floats) -> int:
        """A uniform arm if round t explores, else the one of the largest score."""
        if self._draws.explores(t):
            return self._draws.arm(t)
        scores = self.model.scores(x)
        winner = int(scores.argmax())
        best = scores.item(winner)
        later = scores[winner + 1 :]  # argmax is the first of equals: look for others behind it
        if len(later) and later.item(later.argmax()) == best:
            tied = np.flatnonzero(scores == best)
            winner = tied.item(self._draws.ranks(t)[tied].argmax())
        return winner

    def learn(self, t: int, arm: int, reward: int, x: Floats) -> None:
        del t
        self.model.update(arm, x, reward / REWARD_ONE)


class KeptContextual(msgspec.Struct, frozen=True, tag="lotor/kept-contextual/1"):
    """What plain has learnt, for a run that continues it; the arms tell at most `told`."""

    run: str
    steps: int
    told: float
    policy: str
    low: float
    high: float
    model: LeastSquaresSnapshot

    def __repr__(self) -> str:
        return f"<KeptContextual after run {self.run}>"


class ContextualAgent(Agent[ContextualPolicy]):
    """The learner of Algorithm 1, without its secret sharing.

    With a `delay` the reward of round t is learned from only after the arm of round t + delay has
    been chosen. With a `privacy_budget` the run ends as the secure one does. With `keep` the last
    rewards are learned from, too, and the model is kept; `predict` goes by a kept one, learns
    nothing, and returns how many rounds there were.
    """

    family: ClassVar[type] = ContextualPolicy
    arms: ClassVar[type] = ContextSource
    sees: ClassVar[str] = "one context in each round"
    settings: ClassVar[Mapping[str, object]] = {
        "delay": 0,
        "privacy_budget": None,
        "delta": 1e-6,
        "keep": False,
        "predict": False,
    }
    least_budget: ClassVar[int | None] = 1
    context_axes: ClassVar[int] = 1
    continuable: ClassVar[bool] = True

    def __init__(self, policy: ContextualPolicy, run: Run, settings: Mapping[str, object]) -> None:
        kept = _kept_of(run)
        self._before = 0 if kept is None else kept.steps
        self._told = 0.0 if kept is None else kept.told
        self._environment = contextual_arms(run, self._before)
        self._run = run
        self._policy = policy
        self._delay = cast("int", settings["delay"])
        self._keep, self._predict = bool(settings["keep"]), bool(settings["predict"])
        self._accountant = Accountant(run.k, policy.epsilon, cast("float", settings["delta"]))
        limit = cast("float | None", settings["privacy_budget"])
        self._steps = self._accountant.allowed(run.budget, limit, self._told)
        self._learner = ContextualLearner(policy, run, self._environment.d)
        if self._predict and kept is None:
            raise InputError(
                "a run that only predicts needs a model: continue an ended run that kept one"
            )
        if kept is not None:
            _check_same(kept, policy, run)
            _least_squares(self._learner).restore(kept.model)

    @classmethod
    def rounds_before(cls, run: Run) -> int:
        kept = _kept_of(run)
        return 0 if kept is None else kept.steps

    @classmethod
    def learner(cls, policy: ContextualPolicy, run: Run, d: int) -> Learner:
        return ContextualLearner(policy, run, d)

    @classmethod
    def check(cls, settings: Mapping[str, object]) -> None:
        delay = settings["delay"]
        if not isinstance(delay, int) or isinstance(delay, bool) or delay < 0:
            raise InputError(f"delay is {delay!r}: give a whole number of rounds from 0 up")

    @classmethod
    def recorded(cls, settings: Mapping[str, object]) -> Mapping[str, str | int]:
        limited = settings["privacy_budget"] is not None
        names = ("delay", "privacy_budget", "delta") if limited else ("delay",)
        values = ((name, settings[name]) for name in names)
        said = {name: one if isinstance(one, int) else str(one) for name, one in values}
        return {**said, **{name: "true" for name in ("keep", "predict") if settings[name]}}

    def steps(self) -> Steps[float]:
        run, learner, context = self._run, self._learner, self._environment.context
        to_fixed = run.scale.to_fixed
        waiting: deque[tuple[int, int, int, Floats]] = deque()
        total = 0
        for t in range(self._before + 1, self._before + self._steps + 1):
            x = context(t)
            arm = learner.choose(t, x)
            reward = to_fixed((yield Pull(Decision.of_step(run.id, t, arm))))
            total += reward
            waiting.append((t, arm, reward, x))
            if len(waiting) > self._delay and not self._predict:
                learner.learn(*waiting.popleft())
        if self._keep:
            for late in waiting:
                learner.learn(*late)
            self.kept = self._to_keep()
        return float(self._steps) if self._predict else run.scale.total(total, self._steps)

    def _to_keep(self) -> bytes:
        run = self._run
        return msgspec.msgpack.encode(
            KeptContextual(
                run=run.id,
                steps=self._before + self._steps,
                told=self._told + self._accountant.total(self._steps),
                policy=_unexploring(self._policy),
                low=run.scale.low,
                high=run.scale.high,
                model=_least_squares(self._learner).snapshot(),
            )
        )


def _kept_of(run: Run) -> KeptContextual | None:
    """What is known of the run that this one continues, if it does."""
    if run.earlier is None:
        return None
    try:
        return msgspec.msgpack.decode(run.earlier.kept[AGENT], type=KeptContextual)
    except UNREADABLE:
        raise FormatError(
            f"what was kept of run {run.earlier.run} is no model of a contextual policy: continue "
            "it with the policy that it had"
        ) from None


def _check_same(kept: KeptContextual, policy: ContextualPolicy, run: Run) -> None:
    """Exploration may change from run to run; what the model means may not."""
    now = (_unexploring(policy), run.scale.low, run.scale.high)
    if (kept.policy, kept.low, kept.high) != now:
        raise InputError(
            f"run {kept.run} was one of {kept.policy} with rewards from {kept.low:g} to "
            f"{kept.high:g}, and cannot be continued with {now[0]} and rewards from {now[1]:g} to "
            f"{now[2]:g}: give the same, or start a new run"
        )


def _unexploring(policy: ContextualPolicy) -> str:
    """The policy but for how often it explores."""
    if isinstance(policy, LinearEpsilonGreedy):
        return to_text(replace(policy, epsilon=0.0))
    return to_text(policy)


def _least_squares(learner: ContextualLearner) -> LeastSquares:
    model = learner.model
    if not isinstance(model, LeastSquares):
        raise InputError(
            f"what {type(model).__name__} has learnt cannot be kept: leave keep out, or take "
            "linear-epsilon-greedy"
        )
    return model
