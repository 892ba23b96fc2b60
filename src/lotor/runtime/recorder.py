"""A party's view: all that it received, sent and pulled, for audits."""

from dataclasses import dataclass, field

from lotor.core.effects import Decision, Message


@dataclass(frozen=True, slots=True)
class Exchange:
    """One message as it passed."""

    sender: str
    to: str
    message: Message
    payload: bytes


@dataclass(slots=True)
class Recorder:
    """Keeps every exchange and every pull of a run; memory grows with the run."""

    exchanges: list[Exchange] = field(default_factory=list)
    pulls: list[tuple[str, Decision, float]] = field(default_factory=list)

    def view(self, party: str) -> list[Exchange]:
        """What one party received and sent."""
        return [seen for seen in self.exchanges if party in (seen.sender, seen.to)]

    def received(self, party: str) -> list[Exchange]:
        return [seen for seen in self.exchanges if seen.to == party]
