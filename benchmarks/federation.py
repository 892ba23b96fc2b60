"""What a federation costs on this machine: every party a process, beside a bare echo.

The echo moves frames of the same sizes between as many processes over the same transport, with
nothing else; it runs before and after each run of the federation. CPU time is that of all parties
between two rounds, so that neither start nor end counts. Nothing fails: a limit is only named.
"""

import argparse
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import median

from measure import ratios
from processes import (
    ROLES,
    Echo,
    Federation,
    Frames,
    Taken,
    dial,
    free_address,
    hub_address,
)
from rich.console import Console
from rich.table import Table
from tables import table

sys.path.append(str(Path(__file__).parents[1] / "tests"))
from delay import FarAway, Weather

CPU_LIMIT, SHARE_AIM = 2.3, 0.6
ROUND_TRIP = 0.020
ROUND_TRIPS = 2  # of an iteration: owner and controller, controller and Comp
MOST_ROUNDS = 20_000


@dataclass(frozen=True, slots=True)
class Effort:
    """How long to measure: turns of a run and an echo, and rounds of each."""

    turns: int
    rounds: int
    echoes: int
    far_rounds: int


FULL = Effort(turns=4, rounds=1_000, echoes=2_000, far_rounds=400)
QUICK = Effort(turns=1, rounds=500, echoes=1_000, far_rounds=100)


@contextmanager
def federation(k: int, profiled: str = "", *, unwritten: bool = False) -> Iterator[Federation]:
    with tempfile.TemporaryDirectory() as folder:
        made = Federation.make(Path(folder), k, MOST_ROUNDS)
        made.profiled, made.unwritten = profiled, unwritten
        with closing(made):
            yield made


def alternated(
    k: int, effort: Effort, *, unwritten: bool
) -> tuple[list[Taken], list[Taken], list[Taken]]:
    """Runs of the federation and of its frames alone, and the echoes around each of both."""
    with (
        federation(k, unwritten=unwritten) as made,
        closing(Echo(made, free_address())) as echo,
        closing(Frames(made, free_address())) as frames,
    ):
        runs = made.runs()
        for each in (echo, frames):
            each.take(100)
        echoes, taken, bare = [echo.take(effort.echoes)], [], []
        for _ in range(effort.turns):
            taken.append(runs.take(effort.rounds))
            echoes.append(echo.take(effort.echoes))
            bare.append(frames.take(effort.echoes))
    return taken, bare, echoes


def least(taken: list[Taken], role: str) -> str:
    return f"{min(each.cpu[role] for each in taken):.0f}"


def near(effort: Effort, *, unwritten: bool = False) -> Iterator[Table]:
    costs = table(
        "1. A round of K owners with one arm each, UCB, against a bare echo (µs of CPU, all "
        "parties)",
        *("K", "rounds/s", "echo rounds/s", "round µs", "echo µs"),
        *("least ratio", "median", "the median is", "frames alone", "over frames alone"),
    )
    roles = table(
        "2. Where the CPU goes (µs a round; owners and clients together)",
        *("K", *ROLES, "echo server", "echo clients"),
    )
    for k in (3, 10):
        taken, bare, echoes = alternated(k, effort, unwritten=unwritten)
        between = [(a.total + b.total) / 2 for a, b in pairwise(echoes)]
        ratio = ratios([each.total for each in taken], between)
        middle = median(ratio)
        round_cpu, frames_cpu, echo_cpu = (
            median(each.total for each in some) for some in (taken, bare, echoes)
        )
        costs.add_row(
            str(k),
            *(f"{max(1 / each.seconds for each in some):.0f}" for some in (taken, echoes)),
            *(f"{min(each.total for each in some):.0f}" for some in (taken, echoes)),
            *(f"{min(ratio):.2f}", f"{middle:.2f}"),
            f"{'within' if middle <= CPU_LIMIT else 'above'} the limit of {CPU_LIMIT:g}",
            *(f"{frames_cpu / echo_cpu:.2f}", f"{round_cpu / frames_cpu:.2f}"),
        )
        roles.add_row(
            str(k),
            *(least(taken, role) for role in ROLES),
            *(least(echoes, role) for role in ("server", "clients")),
        )
    yield costs
    yield roles


def far(effort: Effort) -> Table:
    """The rate at a distance, as a share of what two round trips an iteration allow."""
    made = table(
        f"3. At a distance of {ROUND_TRIP * 1e3:g} ms there and back, without loss",
        *("K", "rounds/s", "two round trips allow", "share", "the share is"),
        *("echo's round trip ms", "share by that"),
    )
    weather = Weather(delay=ROUND_TRIP / 2)
    for k in (3, 10):
        with federation(k) as parties:
            there = free_address()
            with (
                FarAway(there, weather) as proxy,
                closing(Echo(parties, there, proxy.address)) as echo,
            ):
                trip = echo.take(effort.far_rounds).seconds
            with FarAway(hub_address(parties), weather) as proxy:
                dial(parties, proxy.address)
                rate = 1 / parties.runs().take(effort.far_rounds).seconds
                parties.close()
        share = rate * ROUND_TRIPS * ROUND_TRIP
        made.add_row(
            *(str(k), f"{rate:.1f}", f"{1 / (ROUND_TRIPS * ROUND_TRIP):.1f}", f"{share:.0%}"),
            f"{'within' if share >= SHARE_AIM else 'below'} the aim of {SHARE_AIM:.0%}",
            *(f"{trip * 1e3:.1f}", f"{rate * ROUND_TRIPS * trip:.0%}"),
        )
    return made


def profile(role: str, k: int, rounds: int) -> str:
    """Where one party of this role spends its CPU time."""
    name = "owner0" if role == "owner" else role
    with federation(k, name) as made:
        taken = made.runs().take(rounds)
        made.close()
        cpu = taken.cpu[role] / (k if role == "owner" else 1)
        title = f"{name}, K = {k}: {cpu:.0f} µs of CPU a round, {1 / taken.seconds:.0f} rounds/s"
        return f"{title}\n{made.samples.read_text()}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a minute, and less precise")
    parser.add_argument("--owners", type=int, default=3, help="with --profile: how many owners")
    instead = parser.add_mutually_exclusive_group()
    instead.add_argument("--profile", choices=ROLES, help="show where a party spends its time")
    instead.add_argument(
        "--unwritten", action="store_true", help="what would be left if durability cost nothing"
    )
    options = parser.parse_args()
    effort = QUICK if options.quick else FULL
    console = Console(width=max(140, Console().width))
    if options.profile:
        console.print(profile(options.profile, options.owners, 4 * effort.rounds), highlight=False)
        return
    for made in near(effort, unwritten=options.unwritten):
        console.print(made)
    if not options.unwritten:
        console.print(far(effort))


if __name__ == "__main__":
    main()
