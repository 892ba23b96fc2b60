"""What terms say of the run that they continue, and what an owner has kept of it."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import msgspec

from lotor.core.errors import InputError
from lotor.core.wording import counted
from lotor.policies import Policy
from lotor.protocols.earlier import Earlier
from lotor.protocols.kept_arms import KeptArms

if TYPE_CHECKING:
    from lotor.protocols.samba.terms import SambaTerms


class ContinuedRun(msgspec.Struct, frozen=True):
    """The run that is continued, and how many rounds there had been at its end.

    `known` are the arms that are known from it: of each owner, the numbers that they keep. Arms
    behind them are new.
    """

    run: str
    rounds: int
    known: dict[str, list[int]]

    @classmethod
    def of(cls, terms: "SambaTerms", owners: Mapping[str, int]) -> "ContinuedRun":
        """The end of a run as these owners continue it, with so many arms each."""
        numbers = terms.numbers()
        known = {owner: numbers[owner] for owner in owners if owner in numbers}
        for owner, had in known.items():
            if owners[owner] < len(had):
                raise InputError(
                    f"{owner} had {counted(len(had), 'arm')} in run {terms.run} and has "
                    f"{owners[owner]} now: arms can be added, and an owner can stay away, but it "
                    "cannot leave some of its arms out"
                )
        if not known:
            raise InputError(
                f"no owner of run {terms.run} takes part, so there is nothing to continue: start a "
                "new run"
            )
        return cls(terms.run, terms.last, known)

    def fits(self, run: str, owners: Mapping[str, int]) -> bool:
        """Whether these owners can continue a run so, in the run of this id."""
        numbers = [number for held in self.known.values() for number in held]
        return (
            self.run not in ("", run)
            # Each arm was pulled once to begin with, in a round of its own.
            and 0 <= min(numbers, default=-1) <= max(numbers, default=0) < self.rounds
            and len(set(numbers)) == len(numbers)
            and all(1 <= len(had) <= owners.get(one, 0) for one, had in self.known.items())
        )


def kept_by(
    owner: str, terms: "SambaTerms", policy: Policy, earlier: Earlier | None
) -> KeptArms | None:
    """What an owner kept of the run that the terms continue; None if all its arms are new."""
    continued = terms.continued
    if continued is None:
        return None
    data = None if earlier is None else earlier.kept
    kept = None if data is None else KeptArms.from_bytes(data)
    numbers = continued.known.get(owner)
    if numbers is None:
        if kept is not None:
            raise InputError(
                f"{owner} took part in run {continued.run}, and is ordered to continue it with "
                "arms that are all new: order it again, with what is known of them"
            )
        return None
    if kept is None:
        raise InputError(
            f"{owner} has kept nothing of run {continued.run}, which is to be continued: order it "
            f"without {owner}, or start a new run"
        )
    found = (kept.run, kept.party, kept.rounds, kept.numbers)
    if found != (continued.run, owner, continued.rounds, numbers):
        raise InputError(
            f"what {owner} has kept of run {continued.run} is not what is to be continued: order "
            f"it again, or without {owner}"
        )
    kept.check(policy, terms.scale)
    return kept
