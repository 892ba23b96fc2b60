"""Whether the times at which owners answer tell which of them was pulled.

A federation of processes on this machine. Its hub notes when it asks each owner and when the answer
comes; nobody else on the network could do better. Let the policy draw arms at random (such as
epsilon-greedy:epsilon=1.0), so that the past tells nothing.
"""

import asyncio
import json
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from math import log
from pathlib import Path
from typing import TypeAlias

from lotor.core.errors import InputError, JournalError, RunEndedError
from lotor.core.options import flag
from lotor.protocols.attack import Score
from lotor.protocols.protocol import PROTOCOLS, SecureProtocol
from lotor.runtime.daemon.frames import decode
from lotor.runtime.daemon.inbox import Inbox
from lotor.runtime.daemon.serving import open_kit, served
from lotor.runtime.durable.frames import Data
from lotor.sandbox import Federation
from lotor.sandbox.journals import Journals
from lotor.transport import NetworkTransport
from lotor.transport.connection import Connection

Delays: TypeAlias = Mapping[str, float]
WARMING_UP = 20  # rounds at first that do not count
LAST = 1  # in which an owner answers with its sum instead of a score
INBOX = {"inbox": True, "pull": None, "repeatable": False}
BINS = 12
_LOOK_SECONDS = 0.2


@dataclass(slots=True)
class Moments:
    """When the hub sent its messages to each peer, and when theirs came, by their numbers."""

    sent: dict[str, dict[int, float]] = field(default_factory=dict)
    came: dict[str, dict[int, float]] = field(default_factory=dict)

    def note(self, times: dict[str, dict[int, float]], peer: str, payload: bytes) -> None:
        now = time.perf_counter()
        frame = decode(payload, peer)
        if type(frame) is Data:
            times.setdefault(peer, {}).setdefault(frame.seq, now)

    def delays(self, peer: str, count: int) -> list[float]:
        """How long a peer took to answer each of the hub's last `count` messages."""
        asked, answered = (
            [times for _, times in sorted(of.get(peer, {}).items())][-count:]
            for of in (self.sent, self.came)
        )
        if not len(asked) == len(answered) == count:
            raise InputError(f"{peer} does not answer its hub one by one: leave --daemons out")
        return [after - before for before, after in zip(asked, answered, strict=True)]


class WatchingTransport(NetworkTransport):
    """The hub's; it notes when frames come and go."""

    moments: Moments

    def send(self, sender: str, to: str, payload: bytes) -> None:
        # Before: on a machine with few cores the owner may take over at once.
        self.moments.note(self.moments.sent, to, payload)
        super().send(sender, to, payload)

    def _on_arrived(self, connection: Connection, frames: list[bytes]) -> None:
        if connection.subject is not None:
            for payload in frames:
                self.moments.note(self.moments.came, connection.subject.name, payload)
        super()._on_arrived(connection, frames)


@dataclass(frozen=True, slots=True)
class Observed:
    """The rounds of one run: how long every owner took, and who was pulled.

    An answer that is late by a whole tick shows, as its owner's log says; such rounds are counted
    and left out.
    """

    delays: Sequence[Delays]
    pulled: Sequence[str]
    late: int = 0


def observe(
    protocol: SecureProtocol,
    rounds: int,
    tick: float,
    *,
    seed: int,
    repeatable: bool = True,
    inbox: bool = False,
) -> Observed:
    """Run a federation of owners with this tick, and keep what its hub saw.

    With an inbox, decisions do not wait for outcomes, and clerks tell these now and then.
    """
    form = protocol.in_form()
    if form.owner_role is None:
        raise InputError(
            f"{protocol.name} has no owners that answer a hub one by one: leave --daemons out"
        )
    with tempfile.TemporaryDirectory() as folder:
        size = len(form.cast(protocol, rounds, seed, None).pullers)
        budget = size + WARMING_UP + rounds + LAST
        federation = Federation.of(Path(folder), protocol, budget=budget, seed=seed)
        federation.changes = {"tick": tick, "repeatable": repeatable, **(INBOX if inbox else {})}
        with closing(federation):
            federation.prepare()
            moments = asyncio.run(_run(federation, protocol, budget, clerks=inbox))
            owners = federation.cast.pullers
            journals = Journals(federation)
            arms = journals.trajectory(journals.run() or "", budget)
            late = _late_rounds(federation, owners)
    if arms is None:
        raise RunEndedError("some round was not pulled exactly once: report this")
    each = protocol.policy.iterations  # type: ignore[union-attr]
    taken = {one: moments.delays(one, (budget - size) * each)[each - 1 :: each] for one in owners}
    counted = [t for t in range(size + WARMING_UP + 1, budget - LAST + 1) if t not in late]
    delays = [{one: taken[one][t - size - 1] for one in owners} for t in counted]
    return Observed(delays, [owners[arms[t - 1]] for t in counted], len(late))


def watcher(hubs: Sequence[str]) -> str:
    """Of several hubs, the last one is told the owners' answers."""
    return hubs[-1]


async def _run(
    federation: Federation, protocol: SecureProtocol, budget: int, *, clerks: bool
) -> Moments:
    class Watching(WatchingTransport):
        moments = Moments()

    hub = watcher(federation.hubs)
    federation.serve(*(name for name in federation.kits if name not in (hub, federation.opener)))
    with open_kit(federation.kits[hub]) as at:
        if not at.journal.lock():
            raise RunEndedError(f"the journal of {hub} is in use: report this")
        async with served(at, transport=Watching):
            federation.launch(federation.opener, "start", *_ordered(protocol, budget))
            while federation.running(federation.opener):
                await asyncio.sleep(_LOOK_SECONDS)
                if clerks:
                    await asyncio.to_thread(_tell_outcomes, federation)
    if federation.exit_code(federation.opener):
        raise federation.complaint(federation.opener)
    return Watching.moments


def _tell_outcomes(federation: Federation) -> None:
    """Tell whatever has no outcome yet: what it is does not matter to who is pulled at random."""
    for owner in federation.cast.pullers:
        with suppress(JournalError), closing(Inbox(federation.kits[owner])) as inbox:
            inbox.tell_all((one.id, 0.5) for one in inbox.waiting())


def _ordered(protocol: SecureProtocol, budget: int) -> list[str]:
    """The order of a run on the command line."""
    values, options = protocol.order_options(), {one.name: one for one in protocol.all_options()}
    words = [PROTOCOLS.name_of(type(protocol)), "--budget", str(budget)]
    words += ["--policy", str(values.pop("policy"))]
    for name, value in values.items():
        switch = options[name].kind is bool
        words += [flag(options[name])] if value or not switch else []
        words += [] if switch else [str(value)]
    return words


def _late_rounds(federation: Federation, owners: Sequence[str]) -> set[int]:
    lines = [line for one in owners for line in federation.log_file(one).read_text().splitlines()]
    events = [json.loads(line) for line in lines if '"late-pull"' in line]
    return {event["round"] for event in events}


def scored(guesses: Sequence[str], pulled: Sequence[str]) -> Score:
    """Chance is what the same guesses would get in any other order."""
    named, truth = Counter(guesses), Counter(pulled)
    right = sum(map(str.__eq__, guesses, pulled))
    chance = sum(named[one] * truth[one] for one in truth) / len(pulled) ** 2
    return Score(right, len(pulled), chance)


def attacks(seen: Observed) -> dict[str, Score]:
    """Simple guesses, and that of somebody who knows who was pulled in half of the rounds."""
    delays, pulled, half = seen.delays, seen.pulled, len(seen.pulled) // 2
    guess = learned(delays[:half], pulled[:half])
    return {
        "the slowest": scored([max(one, key=one.__getitem__) for one in delays], pulled),
        "the fastest": scored([min(one, key=one.__getitem__) for one in delays], pulled),
        "learned from half": scored([guess(one) for one in delays[half:]], pulled[half:]),
    }


def learned(delays: Sequence[Delays], pulled: Sequence[str]) -> Callable[[Delays], str]:
    """The guess of somebody who knows, of other rounds, who was pulled.

    For each owner, how much likelier its delay is in a round in which it was pulled, by histograms
    whose bins hold equally many rounds.
    """
    owners, edges, gain = list(delays[0]), {}, {}
    for owner in owners:
        ordered = sorted(one[owner] for one in delays)
        edges[owner] = [ordered[i * len(ordered) // BINS] for i in range(1, BINS)]
        with_pull, without = [1.0] * BINS, [1.0] * BINS
        for one, who in zip(delays, pulled, strict=True):
            (with_pull if who == owner else without)[_bin(edges[owner], one[owner])] += 1
        gain[owner] = [
            log(a / sum(with_pull)) - log(b / sum(without))
            for a, b in zip(with_pull, without, strict=True)
        ]
    return lambda one: max(owners, key=lambda who: gain[who][_bin(edges[who], one[who])])


def _bin(edges: Sequence[float], value: float) -> int:
    return sum(edge <= value for edge in edges)
