"""A run that is made to find out what it costs.

Its messages are counted, and clocks tell what time it would be at each party if they were so far
apart.
"""

from collections import Counter, defaultdict, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from time import perf_counter, thread_time
from typing import NamedTuple, TypeAlias

from lotor.core.result import Result
from lotor.environments.base import Environment
from lotor.protocols.protocol import Protocol
from lotor.runtime.pull_log import Round
from lotor.runtime.run import run

MOST_MARKS = 64


class MessageKind(NamedTuple):
    """What messages are counted by."""

    sender: str
    size: int


Sent: TypeAlias = Counter[MessageKind]


def bytes_of(sent: Sent) -> Counter[str]:
    """What each party sent."""
    found: Counter[str] = Counter()
    for kind, count in sent.items():
        found[kind.sender] += count * kind.size
    return found


@dataclass(frozen=True, slots=True)
class Mark:
    """What a run had taken when so many rounds were decided.

    `cpu_seconds` are those of each party in this thread, `seconds` is what the clock of the last
    party says, and `flights` how many messages had to follow one another.
    """

    rounds: int
    cpu_seconds: Mapping[str, float]
    seconds: float
    flights: int
    sent: Sent


class Clocks:
    """A transport between parties that are so many seconds apart.

    Parties compute one after the other in this process. The clock of each goes on by what it
    computes itself, and waits for what it receives.
    """

    def __init__(self, flight: float) -> None:
        self._flight = flight
        self._links: defaultdict[tuple[str, str], deque[tuple[bytes, float, int]]] = defaultdict(
            deque
        )
        self._clock: defaultdict[str, float] = defaultdict(float)
        self._flights: Counter[str] = Counter()
        self._busy: defaultdict[str, float] = defaultdict(float)
        self._sent: Sent = Counter()
        self._last: float | None = None
        self._cpu_before = 0.0

    def send(self, sender: str, to: str, payload: bytes) -> None:
        self._computed(sender)
        arrives = self._clock[sender] + self._flight
        self._links[sender, to].append((payload, arrives, self._flights[sender] + 1))
        self._sent[MessageKind(sender, len(payload))] += 1
        self._last = perf_counter()

    def receive(self, receiver: str, sender: str) -> bytes | None:
        self._computed(receiver)
        link = self._links[sender, receiver]
        if not link:
            return None
        payload, arrives, flights = link.popleft()
        self._clock[receiver] = max(self._clock[receiver], arrives)
        self._flights[receiver] = max(self._flights[receiver], flights)
        return payload

    def mark(self, rounds: int) -> Mark:
        return Mark(
            rounds,
            cpu_seconds=self._cpu_seconds(),
            seconds=max(self._clock.values(), default=0.0),
            flights=max(self._flights.values(), default=0),
            sent=self._sent.copy(),
        )

    def leave_out(self, seconds: float) -> None:
        """Time since the last message that no party took."""
        if self._last is not None:
            self._last += seconds

    def _cpu_seconds(self) -> dict[str, float]:
        """The processor time of this thread, shared out by the time that each party took."""
        took = sum(self._busy.values())
        share = min(1.0, (thread_time() - self._cpu_before) / took) if took else 0.0
        return {name: seconds * share for name, seconds in self._busy.items()}

    def _computed(self, party: str) -> None:
        # A party's turn ends when it has nothing to receive: whoever calls now has computed.
        last, self._last = self._last, perf_counter()
        if last is None:
            self._cpu_before = thread_time()
            return
        self._clock[party] += self._last - last
        self._busy[party] += self._last - last


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """A run or its beginning; `period` is after how many rounds what it does repeats.

    It was marked after its first round, whenever a period ended, the first of them when all arms
    were pulled once, if that is how it begins, and in the end.
    """

    period: int
    result: Result
    start: Mark
    marks: Sequence[Mark]
    end: Mark

    @property
    def complete(self) -> bool:
        return self.result.ended != "stopped"

    @property
    def steady(self) -> tuple[Mark, Mark]:
        """A mark near the middle and the last one: a run goes on as it did between them."""
        first = self.marks[1] if len(self.marks) > 2 else self.start
        last = self.marks[-1] if self.marks and self.marks[-1].rounds > first.rounds else self.end
        middle = (one for one in self.marks if 2 * one.rounds >= last.rounds)
        half = next(middle, first)
        return (half if first.rounds < half.rounds < last.rounds else first), last


def rehearse(
    protocol: Protocol,
    environment: Environment,
    budget: int,
    *,
    period: int = 1,
    flight: float = 0.0,
    seconds: float = inf,
    rounds: int | None = None,
) -> Rehearsal:
    """Run it for about so many seconds, or for five periods if that is no more than twice as long.

    Seconds count from the first round. If `rounds` are given, it is run for so many instead.
    """
    clocks = Clocks(flight)
    watch = _Watch(clocks, origin(protocol, environment), period, seconds, rounds)
    result = run(
        protocol,
        environment,
        budget=budget,
        seed=0,
        trajectory=False,
        transport=clocks,
        on_round=lambda done: watch(done) and done.round < budget,
    )
    end = clocks.mark(result.rounds)
    return Rehearsal(period, result, watch.start or end, watch.marks, end)


def origin(protocol: Protocol, environment: Environment) -> int:
    """The last of the rounds with which a run begins and that are like no others."""
    return environment.k if protocol.least_budget is None else 1


class _Watch:
    """Marks a run at the ends of its periods, and says when it has gone far enough.

    Of very many marks every second one is dropped.
    """

    def __init__(
        self, clocks: Clocks, first: int, period: int, seconds: float, rounds: int | None
    ) -> None:
        self.start: Mark | None = None
        self.marks: list[Mark] = []
        self._clocks = clocks
        self._origin = first
        self._every = period
        self._enough = first + 5 * period
        self._seconds = seconds
        self._rounds = rounds
        self._began = 0.0

    def __call__(self, done: Round) -> bool:
        now = perf_counter()
        if self.start is None:
            self.start, self._began = self._clocks.mark(done.round), now
        self._mark(done.round)
        self._clocks.leave_out(perf_counter() - now)
        return done.round > self._origin and self._is_far(done.round, now - self._began)

    def _is_far(self, rounds: int, took: float) -> bool:
        if self._rounds is not None:
            return rounds >= self._rounds
        return took > (self._seconds if rounds >= self._enough else 2 * self._seconds)

    def _mark(self, rounds: int) -> None:
        if rounds < self._origin or (rounds - self._origin) % self._every:
            return
        self.marks.append(self._clocks.mark(rounds))
        if len(self.marks) > MOST_MARKS:
            del self.marks[1::2]
            self._every *= 2
