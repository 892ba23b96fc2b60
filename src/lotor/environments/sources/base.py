"""A source of arms: the texts that stand for environments, and their options."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from lotor.core.errors import InputError
from lotor.core.options import flag, options_of
from lotor.environments.base import Environment

SEED = 0
"""The seed of made-up arms, so that a text always means the same arms."""


@dataclass(frozen=True, slots=True)
class ArmsSource(ABC):
    """Turns a text such as 'movielens-like' into arms; its fields are options of the command line.

    An option without effect on the arms that the text names is refused.
    """

    default: ClassVar[str]
    """The text that is used if none is given."""

    text: ClassVar[str]
    """What may be written, for --help."""

    @abstractmethod
    def environment(self, text: str, budget: int) -> Environment:
        """The arms that a text names; made-up contexts have as many rounds as the budget."""

    @classmethod
    def default_text(cls) -> str:
        """`default`, or a substitute if something that it needs is not installed."""
        return cls.default

    def refuse(self, names: Iterable[str], why: str) -> None:
        """Refuse options that were given but have no effect."""
        flags = {one.name: flag(one) for one in options_of(type(self))}
        given = [flags[name] for name in names if getattr(self, name) is not None]
        if given:
            verb = "belongs" if len(given) == 1 else "belong"
            raise InputError(f"{', '.join(given)} {verb} {why}")


def whole_numbers(text: str) -> list[int]:
    """The whole numbers between commas; an empty list if one of them is anything else."""
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        return []
