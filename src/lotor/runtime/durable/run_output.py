"""What a party's journal keeps of what a finished run has told it."""

import msgspec

from lotor.core.revealed import Revealed


class RunOutput(msgspec.Struct, frozen=True, omit_defaults=True):
    """The party's own output, and what else it knows of the result, if anything.

    `outcomes` is how many the output counts, where some may be missing, and `revealed` what the
    party was told beyond it. `left` has the parties that left the run for good, each with the first
    round without it.

    >>> told = RunOutput(2.5, outcomes=7)
    >>> RunOutput.from_json(told.to_json()) == told
    True
    """

    output: object = None
    outcomes: int | None = None
    revealed: Revealed | None = None
    left: dict[str, int] = msgspec.field(default_factory=dict)

    def to_json(self) -> str | None:
        """None if there is nothing to keep."""
        return None if self == NO_OUTPUT else msgspec.json.encode(self).decode()

    @classmethod
    def from_json(cls, text: str | None) -> "RunOutput":
        return NO_OUTPUT if text is None else msgspec.json.decode(text, type=cls)


NO_OUTPUT = RunOutput()
