"""What a run gives back."""

from collections import Counter

import msgspec

from lotor.core.errors import FormatError
from lotor.core.unreadable import UNREADABLE
from lotor.core.wording import counted


class PartyCost(msgspec.Struct, frozen=True):
    """What one party spent."""

    cpu_seconds: float
    messages_sent: int
    bytes_sent: int


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of a run and all that is needed to do it again.

    `arms` is the trajectory, one arm a round (simulation only; None when it was switched off).
    `operations` counts as the papers' complexity theorems do. `rounds` may be fewer than the
    budget: a protocol may end early, for example at its privacy budget. `privacy` is how much
    privacy the run spent, if the protocol keeps an account.
    """

    reward: float
    arms: list[int] | None
    parties: dict[str, PartyCost]
    operations: dict[str, int]
    seconds: float
    run: str
    version: str
    protocol: str
    options: dict[str, str | int]
    seed: int
    budget: int
    k: int
    rounds: int
    privacy: dict[str, float | int | str | None] | None = None

    def __repr__(self) -> str:
        """In one line; `arms` and the other fields have the rest."""
        rounds, most = counted(self.rounds, "round"), ""
        if self.arms:
            (arm, times), *_ = Counter(self.arms).most_common(1)
            most = f", most often arm {arm} ({counted(times, 'time')})"
        return (
            f"<Result of {self.protocol} with {self.options.get('policy', 'no policy')}: reward "
            f"{self.reward:g} in {rounds} over {counted(self.k, 'arm')}{most}, seed {self.seed}>"
        )

    def to_json(self) -> str:
        return msgspec.json.encode(self).decode()

    @classmethod
    def from_json(cls, text: str) -> "Result":
        try:
            return msgspec.json.decode(text, type=cls)
        except UNREADABLE as error:
            raise FormatError(f"this is not the JSON of a result: {error}") from None

    def agrees_with(self, other: "Result") -> bool:
        """Whether both pulled the same arms, one by one, and came to the same total."""
        return self.arms == other.arms and self.reward == other.reward

    @property
    def cpu_seconds(self) -> float:
        """Of all parties together."""
        return sum(party.cpu_seconds for party in self.parties.values())

    @property
    def bytes_sent(self) -> int:
        """By all parties together."""
        return sum(party.bytes_sent for party in self.parties.values())
