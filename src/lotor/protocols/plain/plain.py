"""A policy with no cryptography."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from lotor.core.effects import Decision
from lotor.core.errors import InputError
from lotor.policies import AnyPolicy, to_text
from lotor.protocols.party import Party, Run
from lotor.protocols.plain.agent import AGENT, Agent
from lotor.protocols.plain.bandit import BanditAgent
from lotor.protocols.plain.contextual import ContextualAgent
from lotor.protocols.plain.linear import LinearAgent
from lotor.protocols.plain.optimistic import OptimisticAgent
from lotor.protocols.protocol import Protocol

AGENTS: tuple[type[Agent[Any]], ...] = (BanditAgent, LinearAgent, ContextualAgent, OptimisticAgent)


def agent_of(policy: object) -> type[Agent[Any]] | None:
    """The agent that runs a policy; None if the object is not a policy."""
    return next((agent for agent in AGENTS if isinstance(policy, agent.family)), None)


@dataclass(frozen=True, slots=True)
class Plain(Protocol):
    """Run a policy in the clear, by one agent; `settings` are those of its agent."""

    name: ClassVar[str] = "plain"

    policy: AnyPolicy
    settings: Mapping[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if unknown := sorted(set(self.settings) - set(self.agent.settings)):
            raise InputError(f"plain {to_text(self.policy)} does not take {', '.join(unknown)}")
        object.__setattr__(self, "settings", {**self.agent.settings, **self.settings})
        self.agent.check(self.settings)

    @property
    def agent(self) -> type[Agent[Any]]:
        agent = agent_of(self.policy)
        if agent is None:
            raise InputError(f"plain takes a policy such as UCB(), not {self.policy!r}")
        return agent

    @property
    def learner(self) -> str:
        return AGENT

    @property
    def least_budget(self) -> int | None:
        return self.agent.least_budget

    def options(self) -> Mapping[str, str | int]:
        return {"policy": to_text(self.policy), **self.agent.recorded(self.settings)}

    def decided_reward(self, run: Run) -> Callable[[Decision], float] | None:
        return self.agent.decided_reward(self.settings, run)

    def delays(self, run: Run) -> Callable[[int], int]:
        return self.agent.delays(self.settings, run)

    def rounds_before(self, run: Run) -> int:
        return self.agent.rounds_before(run)

    def parties(self, run: Run) -> Mapping[str, Party]:
        if run.earlier is not None and not self.agent.continuable:
            raise InputError(
                f"a run of {to_text(self.policy)} in plain cannot continue another one: start a "
                "new one"
            )
        return {AGENT: self.agent(self.policy, run, self.settings)}
