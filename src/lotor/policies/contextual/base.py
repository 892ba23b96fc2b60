"""What a contextual policy is: a model that scores all arms for a context, and exploration."""

from abc import abstractmethod
from typing import Protocol

from lotor.core.fixed_point import Floats


class ContextualModel(Protocol):
    """What was learned so far."""

    def scores(self, x: Floats) -> Floats:
        """How much each arm promises for the context x."""
        ...

    def update(self, arm: int, x: Floats, reward: float) -> None:
        """Learn from a pull: the reward, from 0 to 1, that an arm paid for the context x."""
        ...


class ContextualPolicy:
    """Base of the contextual policies: a frozen dataclass of parameters.

    With probability `epsilon` a round takes a uniform arm, else the one of the largest score.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def epsilon(self) -> float:
        """The probability of exploring."""

    @abstractmethod
    def start(self, arms: int, d: int) -> ContextualModel:
        """A model before the first round, for contexts of d numbers."""
