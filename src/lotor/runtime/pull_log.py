"""What a simulation writes down of its pulls, and whom it tells."""

from collections.abc import Callable
from math import isnan, nan
from typing import TypeAlias

import msgspec

from lotor.core.effects import Decision
from lotor.protocols.party import Run
from lotor.runtime.pulls import Puller

_REPORTS = 200


class Round(msgspec.Struct, frozen=True):
    """One round that was done, for a callback: its arm, what it paid, and the total so far.

    `name` is the arm's name, if it has one.
    """

    round: int
    arm: int
    reward: float
    total: float
    name: str | None = None


Progress: TypeAlias = Callable[[int, int], None]
OnRound: TypeAlias = Callable[[Round], bool | None]


class RunStopped(Exception):  # noqa: N818
    """A callback has stopped the run: this is no error."""


class PullLog:
    """Passes pulls on, keeps the trajectory, reports progress and asks whether to go on.

    Rounds count in their order, also where parties pull several at once to begin with; the first
    one is that after the rounds `before`. `decided` says what a decision pays whose reward the
    parties draw themselves.
    """

    def __init__(
        self,
        pull: Puller,
        run: Run,
        *,
        before: int = 0,
        decided: Callable[[Decision], float] | None,
        trajectory: bool,
        progress: Progress | None,
        on_round: OnRound | None,
        names: tuple[str, ...] | None,
        after_round: Callable[[], None],
    ) -> None:
        self._pull = pull
        self._run = run
        self._before = before
        self._decided = decided
        self._trajectory = trajectory
        self._progress = progress
        self._on_round = on_round
        self._names = names
        self._after_round = after_round
        self._every = max(1, run.budget // _REPORTS)
        self._early: dict[int, tuple[int, float]] = {}
        self._arms: list[int] = []
        self._rewards: list[float] = []
        self._fixed = 0
        self._drawn = 0.0
        self.done = 0

    def __call__(self, decision: Decision) -> float:
        reward = self._pull(decision)
        self._note(decision, reward)
        return reward

    def watch(self, decision: Decision) -> None:
        """Take note of a decision whose reward the parties draw themselves."""
        self._note(decision, nan if self._decided is None else self._decided(decision))

    @property
    def arms(self) -> list[int] | None:
        return self._arms if self._trajectory else None

    @property
    def rewards(self) -> list[float] | None:
        """None also where nobody here knows them."""
        return self._rewards if self._trajectory and not isnan(self._drawn) else None

    @property
    def total(self) -> float:
        """Of the rounds so far, in the user's unit; drawn rewards are added as floats."""
        if self._decided is not None:
            return self._drawn
        return self._run.scale.total(self._fixed, self.done)

    def _note(self, decision: Decision, reward: float) -> None:
        self._early[decision.round] = (decision.arm, reward)
        while (found := self._early.pop(self._before + self.done + 1, None)) is not None:
            self._take(*found)

    def _take(self, arm: int, reward: float) -> None:
        self.done += 1
        if self._decided is not None or isnan(reward):
            self._drawn += reward
        else:
            self._fixed += self._run.scale.to_fixed(reward)
        if self._trajectory:
            self._arms.append(arm)
            self._rewards.append(reward)
        if self._progress is not None and self.done % self._every == 0:
            self._progress(self.done, self._run.budget)
        if self._on_round is not None:
            name = None if self._names is None else self._names[arm]
            if self._on_round(Round(self.done, arm, reward, self.total, name)):
                raise RunStopped
        self._after_round()
