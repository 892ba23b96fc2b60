"""What an attack is: it guesses a secret from a view, and is measured against the truth.

Or, as a `Distinguisher`, it says what to look at in a view, and the audit learns from some runs in
two worlds to tell others apart.

A form lists the attacks on it (`Form.attacks`); `lotor audit` runs them and compares what they
recover with what `leakage` says.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

from lotor.core.fixed_point import Floats
from lotor.core.views import Truth, View

Features: TypeAlias = Mapping[str, Floats]


@dataclass(frozen=True, slots=True)
class Score:
    """How many of `of` guesses were `right`, and which share of them is right by chance.

    Chance is what the best guess without the view gets, such as the same answer in all rounds. With
    no guesses at all (`of` is 0) the attack was not tried: the run has nothing that it could guess.
    """

    right: int
    of: int
    chance: float

    def __add__(self, other: "Score") -> "Score":
        """Two runs together."""
        of = self.of + other.of
        chance = (self.chance * self.of + other.chance * other.of) / of if of else 0.0
        return Score(self.right + other.right, of, chance)


NOT_TRIED = Score(0, 0, 0.0)


class Attack(ABC):
    """One way to learn something from a view."""

    name: ClassVar[str]
    """For people, in a few words."""

    secret: ClassVar[str]
    """What it guesses, in a word of `Finding.tells`: rewards, arms, counts, exploring rounds …"""

    @abstractmethod
    def score(self, view: View, truth: Truth) -> Score:
        """Guess from the view alone; the truth may only be used to count what is right."""


class Distinguisher(ABC):
    """What might tell two worlds apart, in which the same arms pay differently.

    With `joint`, all features decide together; without, the most telling one does.
    """

    name: ClassVar[str]
    secret: ClassVar[str]
    joint: ClassVar[bool] = True

    @abstractmethod
    def features(self, view: View) -> Features:
        """Numbers of one run under names; the same ones for runs with the same public terms."""
