"""An ended run, for one that continues it: what was ordered, and what its parties kept."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from lotor.core.errors import InputError
from lotor.core.fixed_point import MAXIMAL_BUDGET
from lotor.core.wording import counted


@dataclass(frozen=True, slots=True)
class Earlier:
    """An ended run as one party has it; `kept` is None if this party kept nothing of it."""

    run: str
    order: bytes = field(repr=False)
    kept: bytes | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class EndedRun:
    """A simulated run as all its parties have it; plain has no order, and no form."""

    run: str
    protocol: str
    order: bytes = field(repr=False)
    kept: Mapping[str, bytes] = field(repr=False)
    form: str = ""

    def at(self, seat: str) -> Earlier:
        """The run as the party of a seat has it."""
        return Earlier(self.run, self.order, self.kept.get(seat))


def check_room(before: int, budget: int) -> None:
    """Refuse more rounds in a row than one run could have."""
    if before + budget > MAXIMAL_BUDGET:
        raise InputError(
            f"{counted(before, 'round')} before and {budget} more are above {MAXIMAL_BUDGET}, the "
            "most that runs which continue each other may have: start a new run"
        )
