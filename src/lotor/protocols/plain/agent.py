"""What plain runs: one agent that sees everything, for each family of policies."""

from abc import abstractmethod
from collections.abc import Collection, Mapping
from typing import ClassVar, Generic, TypeVar

from lotor.core.effects import Steps
from lotor.environments.base import Environment
from lotor.environments.sources import ArmsSource
from lotor.policies import AnyPolicy
from lotor.protocols.party import Party, Run

P = TypeVar("P", bound=AnyPolicy)


class Agent(Party, Generic[P]):
    """A learner in the clear. `settings` are those of secure that change what plain computes."""

    family: ClassVar[type]
    """The base of the policies that it runs."""

    arms: ClassVar[type[ArmsSource]]
    """The arms that these policies choose from."""

    settings: ClassVar[Mapping[str, object]] = {}
    """Names and defaults of its settings."""

    least_budget: ClassVar[int | None] = None

    @abstractmethod
    def __init__(self, policy: P, run: Run, settings: Mapping[str, object]) -> None:
        """Refuses an environment that does not fit the policy."""

    @abstractmethod
    def steps(self) -> Steps[float]:
        """Pulls arms; returns the total reward."""

    @classmethod
    def suited(
        cls,
        policy: P,
        environment: Environment,  # noqa: ARG003
        keep: Collection[str],  # noqa: ARG003
    ) -> P:
        """The policy with what these simulated arms need; its parameters in `keep` stay."""
        return policy

    @classmethod
    def check(cls, settings: Mapping[str, object]) -> None:
        """Refuse settings that no run can have."""

    @classmethod
    def recorded(cls, settings: Mapping[str, object]) -> Mapping[str, str | int]:
        """The settings, as a result records them."""
        return {name: value for name, value in settings.items() if isinstance(value, str | int)}
