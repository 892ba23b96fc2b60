"""The outcomes of a simulation that come later than their decisions."""

from collections import defaultdict
from collections.abc import Callable
from heapq import heappop, heappush

from lotor.core.effects import Collect, Decision, KnownOutcome


class LateOutcomes:
    """Hands out each party's outcomes; `delay` says how many rounds late that of a round is.

    When a party waits for an outcome, time passes until it is there.
    """

    def __init__(self, delay: Callable[[int], int] = lambda _t: 0) -> None:
        self._delay = delay
        self._rewards: defaultdict[str, dict[int, float]] = defaultdict(dict)
        self._coming: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)

    def issued(self, party: str, decision: Decision, reward: float) -> None:
        """A decision has been carried out."""
        t = decision.round
        self._rewards[party][t] = reward
        heappush(self._coming[party], (t + 1 + self._delay(t), t))

    def collect(self, party: str, asked: Collect) -> tuple[KnownOutcome, ...]:
        """What has come before a round, and what is waited for."""
        rewards, coming = self._rewards[party], self._coming[party]
        found = {one.round for one in asked.awaited}
        while coming and coming[0][0] <= asked.t:
            found.add(heappop(coming)[1])
        return tuple(KnownOutcome(t, rewards.pop(t)) for t in sorted(found) if t in rewards)
