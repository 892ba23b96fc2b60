"""A policy that learns from a log as if it had made the choices itself."""

from dataclasses import dataclass
from math import inf, sqrt

import numpy as np

from lotor.core.errors import InputError
from lotor.core.fixed_point import MAXIMAL_BUDGET, RewardScale
from lotor.environments.logged import LoggedArms
from lotor.policies import AnyPolicy, to_text
from lotor.protocols.party import Run
from lotor.protocols.plain.learner import NO_CONTEXT
from lotor.protocols.plain.plain import agent_of


@dataclass(frozen=True, slots=True)
class Replay:
    """What came of it: the events that the policy would have chosen so, and their mean reward.

    `events` are their numbers in the log, from 0, `arms` and `rewards` what they were and paid.
    """

    policy: str
    events: list[int]
    arms: list[int]
    rewards: list[float]

    @property
    def rounds(self) -> int:
        return len(self.events)

    @property
    def value(self) -> float:
        """The mean reward of a round."""
        return float(np.mean(self.rewards))

    @property
    def standard_error(self) -> float:
        """Of `value`, if the rounds were independent."""
        if self.rounds < 2:
            return inf
        return float(np.std(self.rewards, ddof=1)) / sqrt(self.rounds)

    def __repr__(self) -> str:
        return f"<Replay of {self.policy}: {self.value:.4g} a round over {self.rounds} rounds>"


def replay(policy: AnyPolicy, log: LoggedArms, *, seed: int = 0) -> Replay:
    """Ask a policy at each event of a log; it learns where it chooses the arm that was logged.

    This is the rejection replay of Li, Chu, Langford and Wang (2011), also for policies that see
    contexts: one row of numbers, or for optimistic policies a row for each arm. Where propensities
    differ, events are left out as `LoggedArms` says.

    >>> import lotor
    >>> log = lotor.LoggedArms([0, 1] * 100, [0, 1] * 100)
    >>> replay(lotor.UCB(), log, seed=1).value > 0.7
    True
    """
    agent = agent_of(policy)
    if agent is None:
        raise InputError(f"replay takes a policy such as UCB(), not {policy!r}")
    axes, contexts = agent.context_axes, log.contexts
    if axes and (contexts is None or contexts.ndim != axes + 1):
        what = "one context" if axes == 1 else "a context of each arm"
        raise InputError(
            f"{to_text(policy)} sees {what} in each round, which this log does not have: give "
            "LoggedArms such contexts, or take another policy"
        )
    scale = RewardScale.of(log.reward_range)
    run = Run("", log.k, MAXIMAL_BUDGET, scale, seed, least_budget=1)
    learner = agent.learner(policy, run, 0 if contexts is None else contexts.shape[-1])
    found = Replay(to_text(policy), [], [], [])
    chosen, asked = -1, 0
    for event in np.flatnonzero(log.kept(seed)).tolist():
        t = found.rounds + 1
        x = contexts[event] if axes and contexts is not None else NO_CONTEXT
        # What sees no context is asked once a round: its choice may change what it remembers.
        if axes or asked < t:
            chosen, asked = learner.choose(t, x), t
        arm = log.arms.item(event)
        if chosen != arm:
            continue
        reward = log.rewards.item(event)
        learner.learn(t, arm, scale.to_fixed(reward), x)
        found.events.append(event)
        found.arms.append(arm)
        found.rewards.append(reward)
    if not found.rounds:
        raise InputError(
            f"no event of the log has the arm that {found.policy} chose first: bring a longer log"
        )
    return found
