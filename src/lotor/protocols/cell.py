"""One cell of a study: a run or a measurement, and what came of it."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import msgspec

from lotor.environments.base import Environment
from lotor.policies import AnyPolicy
from lotor.protocols.protocol import Protocol

Label: TypeAlias = str | int | float


@dataclass(frozen=True, slots=True)
class RunCell:
    """A run. `labels` say what it is within its study, such as {"policy": "ucb", "K": 100}.

    `at` are the rounds after which reward and regret are noted, besides the last one. With
    `alone`, nothing runs beside it, because its times count.
    """

    labels: Mapping[str, Label]
    protocol: Protocol | AnyPolicy
    environment: Environment
    budget: int
    seed: int
    at: tuple[int, ...] = ()
    alone: bool = False


class Task(ABC):
    """A measurement that is not a run: a frozen dataclass, whose fields say what is measured."""

    @abstractmethod
    def measure(self) -> Mapping[str, float]:
        """What was found, by name."""

    def small(self) -> "Task":
        """The same measurement made as short as it can be; tests of figures make this one."""
        return self


@dataclass(frozen=True, slots=True)
class TaskCell:
    """A measurement; its times count, unless `alone` is False."""

    labels: Mapping[str, Label]
    task: Task
    alone: bool = True


AnyCell: TypeAlias = RunCell | TaskCell


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What came of a cell.

    `figures` of a run: reward, regret (where it is known), rounds, seconds, cpu_seconds,
    bytes_sent, and "cpu of NAME", "bytes of NAME" of each party, "operations NAME" of each kind.
    Those of a measurement are its own. `rewards` and `regrets` are totals after the rounds `at`.
    """

    labels: dict[str, Label]
    figures: dict[str, float]
    at: list[int] = msgspec.field(default_factory=list)
    rewards: list[float] = msgspec.field(default_factory=list)
    regrets: list[float] = msgspec.field(default_factory=list)
