"""`lotor.plan`: what a run will cost, found by rehearsing it for some seconds."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import isfinite
from operator import index
from typing import SupportsIndex

from lotor.core.errors import InputError
from lotor.environments import CallbackArms, VectorArms
from lotor.environments.base import Environment
from lotor.protocols.protocol import SecureProtocol
from lotor.studies.rehearsal import (
    Mark,
    MessageKind,
    Rehearsal,
    bytes_of,
    origin,
    rehearse,
)

SECONDS = 5.0
"""How long a rehearsal takes at most, unless another time is given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """What a run will cost, with parties whose messages take `rtt` seconds there and back.

    `bytes_sent` and `cpu_seconds` are those of each party. `round_trips` is how many the run takes
    one after another, its set-up included, and `seconds` how long it takes then: computing and
    waiting for messages, on connections of any width and disks that cost nothing. `exact` says
    that bytes and round trips are exactly those of the run; they are estimates otherwise. So many
    rounds were `rehearsed`.
    """

    budget: int
    rtt: float
    rehearsed: int
    exact: bool
    bytes_sent: Mapping[str, int]
    cpu_seconds: Mapping[str, float] = field(repr=False)
    round_trips: float
    seconds: float

    @property
    def bytes_in_all(self) -> int:
        return sum(self.bytes_sent.values())


def plan(
    protocol: SecureProtocol,
    environment: Environment,
    *,
    budget: SupportsIndex,
    rtt: float = 0.0,
    seconds: float = SECONDS,
    rounds: SupportsIndex | None = None,
) -> Planned:
    """Rehearse a run on this machine, and say what all of it will cost.

    `rtt` is how many seconds a message takes to any other party and back. The rehearsal takes about
    so many `seconds`, or goes for so many `rounds` if they are given. Bytes and round trips are
    exact if the whole run was rehearsed, or several times the rounds after which its messages
    repeat.

    >>> import lotor
    >>> arms = lotor.BernoulliArms([0.9, 0.5, 0.1])
    >>> planned = lotor.plan(lotor.Samba(lotor.UCB()), arms, budget=50, rtt=0.02)
    >>> planned.exact, planned.round_trips, sorted(planned.bytes_sent)
    (True, 101.0, ['comp', 'controller', 'customer', 'owner-1'])
    >>> planned.seconds > 101 * 0.02
    True
    """
    _check(protocol, environment)
    whole = index(budget)
    for name, value in (("rtt", rtt), ("seconds", seconds)):
        if not (isfinite(value) and value >= 0):
            raise InputError(f"{name} is {value!r}: give a number of seconds")
    period = protocol.in_form().repeats(protocol, environment)
    rehearsal = rehearse(
        protocol,
        environment,
        whole,
        period=period or 1,
        flight=rtt / 2,
        seconds=seconds,
        rounds=None if rounds is None else index(rounds),
    )
    found = _whole(rehearsal)
    if not rehearsal.complete and period is not None:
        found = _repeated(protocol, environment, rehearsal)
    grown = _Growth(rehearsal)
    sent = grown.bytes_sent() if found is None else found.bytes_sent
    return Planned(
        budget=whole,
        rtt=rtt,
        rehearsed=rehearsal.end.rounds,
        exact=found is not None and protocol.in_form().fixed_widths,
        bytes_sent={name: sent[name] for name in rehearsal.result.parties},
        cpu_seconds=grown.cpu_seconds(),
        round_trips=(grown.of(_flights) if found is None else found.flights) / 2,
        seconds=grown.of(_seconds),
    )


def _check(protocol: SecureProtocol, environment: Environment) -> None:
    if not isinstance(protocol, SecureProtocol):
        raise InputError(
            f"plan takes a secure protocol, whose parties send messages, not {protocol!r}"
        )
    if isinstance(environment, CallbackArms | VectorArms):
        kind, other = type(environment).__name__, "BernoulliArms"
        if isinstance(environment, VectorArms):
            other = "LinearArms"
        raise InputError(
            f"a rehearsal would ask the functions of these {kind} for rewards: plan with as many "
            f"simulated arms, such as {other}, which take the same messages"
        )


class _Growth:
    """What a run takes that goes on as it was rehearsed."""

    def __init__(self, rehearsal: Rehearsal) -> None:
        self._rehearsal = rehearsal
        self._middle, self._last = rehearsal.steady
        more = rehearsal.result.budget - self._last.rounds
        self._times = more / max(1, self._last.rounds - self._middle.rounds)

    def of(self, taken: Callable[[Mark], float]) -> float:
        if self._rehearsal.complete:
            return taken(self._rehearsal.end)
        last = taken(self._last)
        return last + self._times * (last - taken(self._middle))

    def bytes_sent(self) -> Counter[str]:
        return Counter(
            {name: round(self.of(_bytes_sent_by(name))) for name in self._rehearsal.result.parties}
        )

    def cpu_seconds(self) -> dict[str, float]:
        """What parties compute in this thread goes on from mark to mark, and elsewhere evenly."""
        result = self._rehearsal.result
        times = result.budget / result.rounds if not self._rehearsal.complete else 1.0
        return {
            name: self.of(_cpu_seconds_of(name)) + times * cost.cpu_elsewhere
            for name, cost in result.parties.items()
        }


@dataclass(frozen=True, slots=True)
class _Counted:
    """What was counted and not estimated."""

    bytes_sent: Counter[str]
    flights: int


def _whole(rehearsal: Rehearsal) -> _Counted | None:
    if not rehearsal.complete:
        return None
    return _Counted(bytes_of(rehearsal.end.sent), rehearsal.end.flights)


def _repeated(
    protocol: SecureProtocol, environment: Environment, rehearsal: Rehearsal
) -> _Counted | None:
    """Of a run whose messages repeat, from three shorter whole runs.

    None if they do not, or not so soon that these runs are no longer than the rehearsal was.
    """
    budget, period = rehearsal.result.budget, rehearsal.period
    # As much is made ahead in the shortest of them, and the last period is as full.
    first = origin(protocol, environment) + 2 * period
    first += (budget - first) % period
    sizes = [first + period * times for times in range(3)]
    if sizes[-1] > rehearsal.end.rounds:
        return None
    try:
        shorter = [rehearse(protocol, environment, size) for size in sizes]
    except InputError:  # an option that such a short run cannot have
        return None
    after = [_bytes_after(one) for one in shorter]
    flights = [one.end.flights for one in shorter]
    grows, grew = _difference(after[2], after[1]), _difference(after[1], after[0])
    steady = grows == grew and flights[2] - flights[1] == flights[1] - flights[0]
    if not steady or not _kinds_after(rehearsal) <= _kinds_after(shorter[2]):
        return None
    times = (budget - sizes[2]) // period
    # The set-up is that of the run itself: it names the budget, which may have more digits.
    found = bytes_of(rehearsal.start.sent)
    for name in after[2]:
        found[name] += after[2][name] + times * grows[name]
    return _Counted(found, flights[2] + times * (flights[2] - flights[1]))


def _bytes_after(rehearsal: Rehearsal) -> Counter[str]:
    """The bytes after the first round."""
    return _difference(bytes_of(rehearsal.end.sent), bytes_of(rehearsal.start.sent))


def _kinds_after(rehearsal: Rehearsal) -> set[MessageKind]:
    """The kinds of messages after the first round."""
    before = rehearsal.start.sent
    return {kind for kind, count in rehearsal.end.sent.items() if count > before[kind]}


def _difference(one: Counter[str], other: Counter[str]) -> Counter[str]:
    return Counter({name: one[name] - other[name] for name in one | other})


def _flights(mark: Mark) -> float:
    return mark.flights


def _seconds(mark: Mark) -> float:
    return mark.seconds


def _bytes_sent_by(name: str) -> Callable[[Mark], float]:
    return lambda mark: bytes_of(mark.sent)[name]


def _cpu_seconds_of(name: str) -> Callable[[Mark], float]:
    return lambda mark: mark.cpu_seconds.get(name, 0.0)
