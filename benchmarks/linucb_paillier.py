"""What the paper's form of LinUCB-DS costs beside modular arithmetic alone, by workers, and memory.

Prices of modular arithmetic are measured in pauses of each run. Nothing fails: an aim is only
named.
"""

import argparse
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

import clocked
from clocked import Costs
from limit import Prices, limit
from linucb_instances import Instance
from machine import Others, peak_of_fresh_process, print_peak
from rich.console import Console
from rich.table import Table
from tables import table, verdict

import lotor
from lotor.crypto.paillier import InsecureKeyWarning

SMALL = (Instance(3, 15), Instance(5, 50), Instance(18, 6))
LARGE = Instance(20, 1000)
WORKERS_AIM, SHARE_AIM, MEMORY_AIM = 1.6, 0.65, 600
MEMORY_BUDGET, MEMORY_PULLS = 1000, 10
PRICES = 60


@dataclass(frozen=True, slots=True)
class Effort:
    """How many pulls, of few arms with both sizes of keys and of many, and by two workers."""

    budget: int
    budget_3072: int
    large_budget: int
    workers_budget: int


FULL = Effort(1000, 1000, 100, 60)
QUICK = Effort(200, 100, 24, 16)


def priced(instance: Instance, bits: int, budget: int) -> tuple[Instance, Costs, Prices]:
    prices = Prices(bits)
    pauses = [prices.sample] * PRICES
    costs = clocked.run(instance.encrypted(bits), instance.arms(), budget, pauses)
    return instance, costs, prices


def by_party(measured: list[tuple[Instance, Costs, Prices]]) -> Table:
    made = table(
        "1. A round by party, ms of CPU; before: tables and randomisers' tables, per run; limit: "
        "modular arithmetic alone",
        *("instance, bits", "N", "P", "Comp", "pool", "before", "limit"),
        *("share", "with before", "the share"),
    )
    for instance, costs, prices in measured:
        least = limit(instance.k, instance.d, prices)
        share = least / costs.in_rounds
        whole = least / (costs.in_rounds + costs.prepared / costs.rounds)
        per_round = (costs.principal, costs.comp, costs.pool)
        made.add_row(
            *(f"{instance.name}, {prices.bits}", str(costs.rounds + 1)),
            *(f"{seconds / costs.rounds * 1e3:.2f}" for seconds in per_round),
            *(f"{costs.prepared * 1e3:.0f}", f"{least * 1e3:.2f}"),
            *(f"{share:.0%}", f"{whole:.0%}", verdict(round(share, 2), SHARE_AIM)),
        )
    return made


def workers(budget: int) -> Table:
    made = table(
        f"2. Two workers against one, {LARGE.name}, 2048 bits, N = {budget}: a round, wall time, s",
        *("one", "two", "ratio", "the ratio", "CPU, two / one", "others used"),
    )
    arms = LARGE.arms()
    with Others() as others:
        before, two, after = (
            clocked.run(LARGE.encrypted(2048, count), arms, budget) for count in (1, 2, 1)
        )
    one = (before.wall_of_rounds + after.wall_of_rounds) / 2
    ratio = one / two.wall_of_rounds
    made.add_row(
        *(f"{wall / two.rounds:.3f}" for wall in (one, two.wall_of_rounds)),
        *(f"{ratio:.2f}", verdict(ratio, WORKERS_AIM)),
        f"{two.total / (before.total + after.total) * 2:.2f}",
        others.text,
    )
    return made


def memory() -> Table:
    made = table(
        f"3. Peak memory, {LARGE.name}, 2048 bits, N = {MEMORY_BUDGET}",
        *("workers", "MB of all parties", "the peak"),
    )
    for count in (1, 2):
        most = peak_of_fresh_process(__file__, "--peak", str(count))
        judged = verdict(most, MEMORY_AIM, at_most=True) if most else "not known here"
        made.add_row(str(count), f"{most:.0f}", judged)
    return made


def peak(count: int) -> None:
    """What a fresh process does for `memory`: begin a long run, and end it after some rounds."""

    class EnoughError(Exception):
        pass

    def progress(done: int, _: int) -> None:
        if done >= MEMORY_PULLS:
            print_peak()
            raise EnoughError

    try:
        protocol = LARGE.encrypted(2048, workers=count)
        lotor.run(protocol, LARGE.arms(), budget=MEMORY_BUDGET, seed=7, progress=progress)
    except EnoughError:
        sys.exit(0)


def tables(effort: Effort) -> Iterator[Table]:
    measured = [priced(instance, 2048, effort.budget) for instance in SMALL]
    measured.append(priced(LARGE, 2048, effort.large_budget))
    measured += [priced(instance, 3072, effort.budget_3072) for instance in SMALL]
    yield by_party(measured)
    yield workers(effort.workers_budget)
    yield memory()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="two minutes, and less precise")
    parser.add_argument("--peak", type=int, metavar="WORKERS", help="only print the peak memory")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", InsecureKeyWarning)
    if arguments.peak:
        peak(arguments.peak)
    console = Console(width=max(150, Console().width))
    for made in tables(QUICK if arguments.quick else FULL):
        console.print(made)


if __name__ == "__main__":
    main()
