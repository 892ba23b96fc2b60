"""Whether the times at which owners answer tell which of them was pulled.

A federation of processes on this machine. Its controller notes when it sends each owner its bits
and when the owner's next score arrives, as nobody else on the network could do better. Each round
pulls an arm that is drawn at random, so that the past tells nothing. Nothing fails: what an
attack finds is only shown, beside what guessing would find.
"""

import argparse
import asyncio
import json
import math
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean, variance

import msgspec
from rich.console import Console
from rich.table import Table

import lotor
from lotor.protocols.samba.cast import hospitals
from lotor.protocols.samba.paper.messages import MaskedScores, PullingBits
from lotor.runtime.daemon.frames import decode
from lotor.runtime.daemon.serving import open_kit, served
from lotor.runtime.durable.frames import Data
from lotor.sandbox import Federation
from lotor.sandbox.journals import Journals
from lotor.transport import NetworkTransport
from lotor.transport.connection import Connection

OWNERS = ("graz", "lyon", "porto")
SEED, KEY_BITS, BINS = 7, 2048, 12
WARMING_UP = 20  # rounds at first that do not count
Delays = Mapping[str, float]
Guess = Callable[[Delays], str]
_KINDS = {kind.__struct_config__.tag: kind for kind in (MaskedScores, PullingBits)}


@dataclass
class Seen:
    """When the controller sent bits of a round, and when a score of a round came, by owner."""

    bits: dict[tuple[int, str], float] = field(default_factory=dict)
    scores: dict[tuple[int, str], float] = field(default_factory=dict)

    def note(self, now: float, owner: str, payload: bytes) -> None:
        frame = decode(payload, owner)
        if owner in OWNERS and type(frame) is Data:
            tag, *content = msgspec.msgpack.decode(frame.payload)
            if tag in _KINDS:
                place = int.from_bytes(content[0][:8], "big"), owner
                times = self.scores if _KINDS[tag] is MaskedScores else self.bits
                times.setdefault(place, now)

    def delays(self, t: int) -> Delays:
        """How long each owner took after the bits of round t."""
        return {one: self.scores[t + 1, one] - self.bits[t, one] for one in OWNERS}


class WatchingTransport(NetworkTransport):
    """The controller's; it notes when frames come and go."""

    seen: Seen

    def send(self, sender: str, to: str, payload: bytes) -> None:
        # Before: on a machine with few cores the owner may take over at once.
        now = time.perf_counter()
        super().send(sender, to, payload)
        self.seen.note(now, to, payload)

    def _on_arrived(self, connection: Connection, frames: list[bytes]) -> None:
        now = time.perf_counter()
        super()._on_arrived(connection, frames)
        if connection.subject is not None:
            for payload in frames:
                self.seen.note(now, connection.subject.name, payload)


@dataclass(frozen=True)
class Observed:
    """The rounds of one run: the delay of every owner, and who was pulled.

    An answer that is late by a whole tick shows, as its owner's log says; such rounds are counted
    and left out.
    """

    delays: Sequence[Delays]
    pulled: Sequence[str]
    orders: Sequence[Sequence[str]]
    late: int


def late_rounds(federation: Federation) -> set[int]:
    lines = [line for one in OWNERS for line in federation.log_file(one).read_text().splitlines()]
    events = [json.loads(line) for line in lines if '"late-pull"' in line]
    return {event["round"] for event in events}


async def _run(federation: Federation, budget: int) -> Seen:
    class Watching(WatchingTransport):
        seen = Seen()

    federation.serve(*(name for name in federation.kits if name not in ("controller", "customer")))
    with open_kit(federation.kits["controller"]) as at:
        if not at.journal.lock():
            raise RuntimeError("the controller's journal is in use")
        async with served(at, transport=Watching):
            options = ("--policy", "epsilon-greedy:epsilon=1.0", "--key-bits", str(KEY_BITS))
            federation.launch("customer", "start", "samba", *options, "--budget", str(budget))
            while federation.running("customer"):
                await asyncio.sleep(0.2)
    if federation.exit_code("customer"):
        raise federation.complaint("customer")
    return Watching.seen


def observe(rounds: int, tick: float, *, repeatable: bool) -> Observed:
    """Run a federation of owners with this tick, and keep what its controller saw."""
    first, budget = len(OWNERS) + WARMING_UP, len(OWNERS) + WARMING_UP + rounds
    with tempfile.TemporaryDirectory() as folder:
        means = dict.fromkeys(OWNERS, 0.5)
        cast = hospitals(means, budget=budget, seed=SEED, policy="epsilon-greedy")
        form = lotor.Samba.form_called("paper")
        changes = {"tick": tick, "repeatable": repeatable}
        federation = Federation(Path(folder), form, cast, SEED, changes=changes)
        with closing(federation):
            federation.prepare()
            seen = asyncio.run(_run(federation, budget))
            journals = Journals(federation)
            arms = journals.trajectory(journals.run() or "", budget)
            late = late_rounds(federation)
    if arms is None:
        raise RuntimeError("some round was not pulled exactly once")
    # Nothing is scored after the last round.
    counted = [t for t in range(first, budget) if t not in late]
    orders = [sorted(OWNERS, key=lambda one: seen.scores[t + 1, one]) for t in counted]
    pulled = [OWNERS[arms[t - 1]] for t in counted]
    return Observed([seen.delays(t) for t in counted], pulled, orders, rounds - len(counted))


@dataclass(frozen=True)
class Found:
    """How often a guess was right, and how often it would be if it knew nothing."""

    rounds: int
    right: float
    chance: float

    @property
    def z(self) -> float:
        spread = math.sqrt(self.chance * (1 - self.chance) / self.rounds)
        return (self.right - self.chance) / spread


def found(guesses: Sequence[str], pulled: Sequence[str]) -> Found:
    rounds = len(pulled)
    named, truth = Counter(guesses), Counter(pulled)
    chance = sum(named[one] * truth[one] for one in OWNERS) / rounds**2
    return Found(rounds, sum(map(str.__eq__, guesses, pulled)) / rounds, chance)


def learned(delays: Sequence[Delays], pulled: Sequence[str]) -> Guess:
    """The guess of somebody who knows, of other rounds, who was pulled.

    For each owner, how much likelier its delay is in a round in which it was pulled, by histograms
    whose bins hold equally many rounds.
    """
    edges, gain = {}, {}
    for owner in OWNERS:
        ordered = sorted(one[owner] for one in delays)
        edges[owner] = [ordered[i * len(ordered) // BINS] for i in range(1, BINS)]
        with_pull, without = [1.0] * BINS, [1.0] * BINS
        for one, who in zip(delays, pulled, strict=True):
            (with_pull if who == owner else without)[_bin(edges[owner], one[owner])] += 1
        gain[owner] = [
            math.log(a / sum(with_pull)) - math.log(b / sum(without))
            for a, b in zip(with_pull, without, strict=True)
        ]
    return lambda one: max(OWNERS, key=lambda who: gain[who][_bin(edges[who], one[who])])


def _bin(edges: Sequence[float], value: float) -> int:
    return sum(edge <= value for edge in edges)


def slower_when_pulled(seen: Observed) -> tuple[float, float]:
    """By how many µs an owner answers later when it was pulled, and z."""
    differences, errors = [], []
    for owner in OWNERS:
        parts: tuple[list[float], list[float]] = [], []
        for one, who in zip(seen.delays, seen.pulled, strict=True):
            parts[who == owner].append(1e6 * one[owner])
        without, with_pull = parts
        differences.append(fmean(with_pull) - fmean(without))
        errors.append(variance(with_pull) / len(with_pull) + variance(without) / len(without))
    difference = fmean(differences)
    return difference, difference * len(OWNERS) / math.sqrt(sum(errors))


def attacks(seen: Observed) -> dict[str, Found]:
    delays, pulled, half = seen.delays, seen.pulled, len(seen.pulled) // 2
    guess = learned(delays[:half], pulled[:half])
    return {
        "the last to arrive": found([order[-1] for order in seen.orders], pulled),
        "the first to arrive": found([order[0] for order in seen.orders], pulled),
        "the slowest": found([max(one, key=one.__getitem__) for one in delays], pulled),
        "learned from half of the rounds": found(
            [guess(one) for one in delays[half:]], pulled[half:]
        ),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=1_800, help="rounds with a tick")
    parser.add_argument("--tick", type=float, default=0.05, help="seconds")
    parser.add_argument("--quick", action="store_true", help="300 rounds")
    parser.add_argument("--only", action="store_true", help="only with a tick")
    arguments = parser.parse_args()
    rounds = 300 if arguments.quick else arguments.rounds
    console = Console()
    for title, tick, repeatable in (
        *([("no tick", 0.0, True)] if not arguments.only else []),
        (f"a tick of {1000 * arguments.tick:g} ms", arguments.tick, True),
        (f"a tick of {1000 * arguments.tick:g} ms, asked once", arguments.tick, False),
    ):
        seen = observe(rounds, tick, repeatable=repeatable)
        later, z = slower_when_pulled(seen)
        left_out = f", and {seen.late} with a late answer" if tick else ""
        table = Table(title=f"{title}: {len(seen.pulled)} rounds{left_out}", title_justify="left")
        table.add_column('"was pulled"')
        for column in ("right", "chance", "z"):
            table.add_column(column, justify="right")
        for name, result in attacks(seen).items():
            row = f"{result.right:.1%}", f"{result.chance:.1%}", f"{result.z:.1f}"
            table.add_row(name, *row)
        console.print(table)
        console.print(f"an owner answers {later:.0f} µs later when it was pulled (z = {z:.1f})\n")


if __name__ == "__main__":
    main()
