"""A party's view: all that it received, sent, pulled, carried out and observed, for audits."""

from dataclasses import dataclass, field
from time import perf_counter

from lotor.core.effects import Decision
from lotor.core.views import Exchange


@dataclass(slots=True)
class Recorder:
    """Keeps every exchange and every answer of the world in a run; memory grows with the run.

    `acts` are decisions as the party that carried them out saw them, `pulls` decisions (maybe
    hidden ones) with their rewards, `features` what a party brought of a context.
    """

    exchanges: list[Exchange] = field(default_factory=list)
    pulls: list[tuple[str, Decision, float]] = field(default_factory=list)
    acts: list[tuple[str, Decision]] = field(default_factory=list)
    features: list[tuple[str, Decision, tuple[float, ...]]] = field(default_factory=list)
    began: float = field(default_factory=perf_counter)

    def view(self, party: str) -> list[Exchange]:
        """What one party received and sent."""
        return [seen for seen in self.exchanges if party in (seen.sender, seen.to)]

    def received(self, party: str) -> list[Exchange]:
        return [seen for seen in self.exchanges if seen.to == party]
