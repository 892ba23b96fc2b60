"""What plain runs: one agent that sees everything, for each family of policies."""

from abc import abstractmethod
from collections.abc import Callable, Collection, Mapping
from typing import ClassVar, Generic, TypeVar

from lotor.core.effects import Decision, Steps
from lotor.core.errors import InputError
from lotor.environments.base import Environment
from lotor.environments.sources import ArmsSource
from lotor.policies import AnyPolicy
from lotor.protocols.party import Party, Run
from lotor.protocols.plain.learner import Learner

P = TypeVar("P", bound=AnyPolicy)

AGENT = "agent"
"""The seat of the one party that there is in plain."""


class Agent(Party, Generic[P]):
    """A learner in the clear. `settings` are those of secure that change what plain computes."""

    family: ClassVar[type]
    """The base of the policies that it runs."""

    arms: ClassVar[type[ArmsSource]]
    """The arms that these policies choose from."""

    settings: ClassVar[Mapping[str, object]] = {}
    """Names and defaults of its settings."""

    least_budget: ClassVar[int | None] = None

    continuable: ClassVar[bool] = False
    """Whether a run can continue an ended one."""

    sees: ClassVar[str]
    """What these policies choose by, in words."""

    context_axes: ClassVar[int] = 0
    """What a round shows before the choice: 0 nothing, 1 a vector, 2 a vector of each arm."""

    @abstractmethod
    def __init__(self, policy: P, run: Run, settings: Mapping[str, object]) -> None:
        """Refuses an environment that does not fit the policy."""

    @abstractmethod
    def steps(self) -> Steps[float]:
        """Pulls arms; returns the total reward."""

    @classmethod
    def learner(cls, policy: P, run: Run, d: int) -> Learner:  # noqa: ARG003
        """What chooses and learns, for a user who asks and tells; contexts have d numbers."""
        raise InputError(
            f"{type(policy).__name__} cannot be asked and told step by step: its agent computes "
            "rewards from theta itself, as the protocol does; take a policy for arms with "
            "contexts, such as OFUL(), and give each arm's vector as its context"
        )

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
    def decided_reward(
        cls,
        settings: Mapping[str, object],  # noqa: ARG003
        run: Run,  # noqa: ARG003
    ) -> Callable[[Decision], float] | None:
        """What a decision pays, where the agent draws rewards itself; see `Protocol`."""
        return None

    @classmethod
    def rounds_before(cls, run: Run) -> int:  # noqa: ARG003
        """How many rounds there were before; see `Protocol`."""
        return 0

    @classmethod
    def delays(
        cls,
        settings: Mapping[str, object],  # noqa: ARG003
        run: Run,  # noqa: ARG003
    ) -> Callable[[int], int]:
        """How many rounds late the outcome of each round is."""
        return lambda _t: 0

    @classmethod
    def check(cls, settings: Mapping[str, object]) -> None:
        """Refuse settings that no run can have."""

    @classmethod
    def recorded(cls, settings: Mapping[str, object]) -> Mapping[str, str | int]:
        """The settings, as a result records them."""
        return {name: value for name, value in settings.items() if isinstance(value, str | int)}
