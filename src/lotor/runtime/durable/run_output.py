"""What a party's journal keeps of what a finished run has told it."""

from typing import NamedTuple

import msgspec

from lotor.core.revealed import Revealed

_REVEALED = "revealed"


class RunOutput(NamedTuple):
    """The party's own output, and what it was told beyond that, if it was told anything."""

    output: object = None
    revealed: Revealed | None = None

    def to_json(self) -> str | None:
        """Without anything beyond it, the output as it is."""
        if self.revealed is not None:
            return msgspec.json.encode({"output": self.output, _REVEALED: self.revealed}).decode()
        return None if self.output is None else msgspec.json.encode(self.output).decode()

    @classmethod
    def from_json(cls, text: str | None) -> "RunOutput":
        """
        >>> told = Revealed("best", "best arm", arm=3)
        >>> RunOutput.from_json(RunOutput(2.5, told).to_json()) == (2.5, told)
        True
        >>> RunOutput.from_json("2.5")
        RunOutput(output=2.5, revealed=None)
        """
        found = None if text is None else msgspec.json.decode(text)
        if isinstance(found, dict) and set(found) == {"output", _REVEALED}:
            return cls(found["output"], msgspec.convert(found[_REVEALED], Revealed))
        return cls(found)


NO_OUTPUT = RunOutput()
