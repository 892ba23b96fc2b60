"""What a protocol hands to the runtime: its parties, and what a run is to them."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

from lotor.core.best_arm import BestArm
from lotor.core.effects import Steps
from lotor.core.errors import InputError
from lotor.core.fixed_point import MAXIMAL_BUDGET, RewardScale
from lotor.core.revealed import Revealed
from lotor.core.wording import counted
from lotor.crypto.prf import derive_key
from lotor.environments.base import Environment
from lotor.protocols.earlier import EndedRun

RUN_ID_BYTES = 16


class Party(ABC):
    """One participant of a run: a generator of effects, with no IO of its own.

    A party whose steps take seconds sets `slow`: a daemon then runs them in a thread, so that
    everything else goes on meanwhile.
    """

    slow: ClassVar[bool] = False

    cpu_elsewhere: float = 0.0
    """CPU seconds of its own threads and processes, if it has any."""

    best: BestArm | None = None
    """The best arm, once it has ended, where its policy looks for it."""

    outcomes: int | None = None
    """How many outcomes its total counts, once it has ended, where some may be missing."""

    left: Mapping[str, int] = MappingProxyType({})
    """Who has left the run, once it has ended, and from which round on it was without each."""

    kept: bytes | None = None
    """What it keeps for a run that continues this one, once it has ended, if the terms say so."""

    revealed: Revealed | None = None
    """What it was told beyond its result, once it has ended, where all parties agreed to that."""

    @abstractmethod
    def steps(self) -> Steps[object]:
        """All that the party does, as effects; the return value is its own output."""

    def operations(self) -> Mapping[str, int]:
        """How many cryptographic operations of each kind it has done."""
        return {}


@dataclass(frozen=True, slots=True)
class Run:
    """What is public about a simulated run, and the seed that decides arms in it.

    `least_budget` is for protocols that do not begin with one pull of each arm. `earlier` is the
    run that this one continues, if it does.
    """

    id: str
    k: int
    budget: int
    scale: RewardScale
    seed: int
    environment: Environment | None = None
    least_budget: int | None = None
    earlier: EndedRun | None = None

    def __post_init__(self) -> None:
        if self.k < 1:
            raise InputError(f"the environment has {self.k} arms: give it at least one")
        if self.earlier is not None:
            if not 1 <= self.budget <= MAXIMAL_BUDGET:
                raise InputError(
                    f"a budget of {self.budget} does not continue a run: give from 1 to "
                    f"{MAXIMAL_BUDGET} further rounds"
                )
        elif self.least_budget is not None:
            if not self.least_budget <= self.budget <= MAXIMAL_BUDGET:
                raise InputError(
                    f"a budget of {self.budget} leaves nothing to choose or is too large: the "
                    f"first arm is drawn, so give at least {self.least_budget} (and at most "
                    f"{MAXIMAL_BUDGET})"
                )
        elif not self.k <= self.budget <= MAXIMAL_BUDGET:
            raise InputError(
                f"a budget of {self.budget} does not fit {counted(self.k, 'arm')}: each arm is "
                f"pulled once to begin with, so give at least {self.k} (and at most "
                f"{MAXIMAL_BUDGET})"
            )

    def draw_key(self, purpose: str) -> bytes:
        return draw_key(self.seed, purpose)


def draw_key(seed: int, purpose: str) -> bytes:
    """A simulation's key for decision draws: the same for plain and every secure layout."""
    return derive_key(f"seed {seed}".encode(), purpose)
