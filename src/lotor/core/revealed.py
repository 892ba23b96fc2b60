"""What whoever orders a run learns beyond its result, where everybody agreed to it."""

from collections.abc import Sequence

import msgspec


class Revealed(msgspec.Struct, frozen=True, omit_defaults=True):
    """One arm of the run, or a number for each of them; arms are counted from 0.

    `what` is its name in an order, and `title` says it to people. `names` are those of the arms,
    empty for arms that are in the run no more.

    >>> Revealed("best", "best arm", arm=1, names=["lyon", "porto"]).text
    'best arm: porto'
    """

    what: str
    title: str
    arm: int | None = None
    counts: list[int] | None = None
    names: list[str] | None = None

    def called(self, names: Sequence[str] | None) -> "Revealed":
        """The same, with the arms' names."""
        return msgspec.structs.replace(self, names=None if names is None else list(names))

    @property
    def text(self) -> str:
        """In words."""
        return f"{self.title}: {self.finding}"

    @property
    def finding(self) -> str:
        """The same without its title."""
        if self.arm is not None:
            return self._name(self.arm)
        named = ((self._name(arm), count) for arm, count in enumerate(self.counts or []))
        return ", ".join(f"{name} {count}" for name, count in named if name)

    def _name(self, arm: int) -> str:
        return f"arm {arm}" if self.names is None else self.names[arm]
