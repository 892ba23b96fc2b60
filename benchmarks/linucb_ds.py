"""What LinUCB-DS costs here: ratios of CPU time against the paper's pseudo-code, from one run.

All work counts on both sides, tables and pools and encrypting theta included, but for making keys.
The pseudo-code does the same in each round, so a few rounds of it are timed in between the rounds
of a whole run of Lotor, and scaled to as many. Nothing fails: an aim is only named.
"""

import argparse
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from time import thread_time

import clocked
import paper_linucb_ds as paper
from clocked import Costs
from limit import Prices, limit
from machine import Others, peak_of_fresh_process, print_peak
from rich.console import Console
from rich.table import Table

import lotor
from lotor.crypto.paillier import InsecureKeyWarning
from lotor.environments.linear_lookalike import linear_lookalike

ARMS = "movielens-factors-like"
GAMMA, DELTA, R = 0.01, 0.001, 0.01
LINUCB = lotor.LinUCB(gamma=GAMMA, delta=DELTA, R=R, S="log t")
SPECTRAL_UCB = lotor.SpectralUCB(gamma=GAMMA, delta=DELTA, R=R, C="log t")
NEIGHBOURS = 10
WORKERS_AIM, SHARE_AIM, MEMORY_AIM = 1.6, 0.65, 600
MEMORY_BUDGET, MEMORY_PULLS = 1000, 10


@dataclass(frozen=True, slots=True)
class Instance:
    """A bandit of the paper's experiments, and how many times faster Lotor is to be."""

    d: int
    k: int
    aim: float
    spectral: bool = False

    @property
    def name(self) -> str:
        return f"{'Spectral ' if self.spectral else ''}d={self.d} K={self.k}"

    def arms(self) -> lotor.LinearArms:
        if not self.spectral:
            return linear_lookalike(ARMS, k=self.k, d=self.d, noise_sd=R)
        movies = linear_lookalike(ARMS, k=self.k, d=NEIGHBOURS)
        return lotor.GraphArms.nearest(
            movies.vectors, movies.means, neighbours=NEIGHBOURS, noise_sd=R
        )

    def protocol(self, bits: int, workers: int = 1) -> lotor.LinUCBDS:
        if self.spectral:
            return lotor.SpectralUCBDS(SPECTRAL_UCB, form="paper", key_bits=bits, workers=workers)
        return lotor.LinUCBDS(LINUCB, form="paper", key_bits=bits, workers=workers)

    def algorithm(self, arms: lotor.LinearArms, budget: int) -> paper.Algorithm:
        if arms.eigenvalues is None:
            return paper.linucb(arms.vectors, gamma=GAMMA, delta=DELTA, r=R)
        return paper.spectral_ucb(arms.eigenvalues, budget, gamma=GAMMA, delta=DELTA, r=R)


SMALL = (Instance(3, 15, aim=12), Instance(5, 50, aim=15), Instance(18, 6, aim=25))
LARGE = Instance(20, 1000, aim=12)
SPECTRAL = Instance(30, 30, aim=10, spectral=True)


@dataclass(frozen=True, slots=True)
class Effort:
    """How long to measure: Lotor's budgets, and the pseudo-code's rounds in between."""

    budget: int
    paper_rounds: int
    spectral_rounds: int
    large_budget: int
    large_rounds: int
    budget_3072: int
    workers_budget: int


FULL = Effort(1000, 40, 29, 100, 4, 1000, 60)
QUICK = Effort(1000, 10, 8, 24, 2, 100, 16)
PRICES = 60


class PaperRun:
    """A run of the pseudo-code, in CPU time: some of its rounds, scaled to N pulls."""

    def __init__(self, instance: Instance, keys: paper.Keys, bonus: paper.Bonus, n: int) -> None:
        arms = instance.arms()
        began = thread_time()
        bandit = paper.Bandit(arms.vectors, arms.theta, noise_sd=R)
        self._principal = paper.Principal(
            instance.algorithm(arms, n), bandit, keys, paper.Comp(keys), bonus
        )
        self._before = thread_time() - began
        self._keys, self._n = keys, n
        self._rounds, self._spent = 0, 0.0

    def round(self) -> None:
        began = thread_time()
        self._rounds += 1
        self._principal.round(self._rounds)
        self._spent += thread_time() - began

    def seconds(self) -> float:
        began = thread_time()
        self._keys.client_private.decrypt(self._principal.switch_keys())
        after = thread_time() - began
        return self._before + (self._n - 1) * self._spent / self._rounds + after


@dataclass(frozen=True, slots=True)
class Comparison:
    """Lotor's costs, and the pseudo-code's seconds for the same run."""

    ours: Costs
    encrypted: float
    added: float
    prices: Prices


def compare(instance: Instance, keys: paper.Keys, budget: int, rounds: int) -> Comparison:
    encrypted = PaperRun(instance, keys, "encrypted", budget)
    added = PaperRun(instance, keys, "added", budget)
    prices = Prices(2048)
    steps = [step for _ in range(rounds) for step in (encrypted.round, added.round)]
    samples = PRICES // len(steps) + 1
    pauses = [pause for step in steps for pause in (*[prices.sample] * samples, step)]
    ours = clocked.run(instance.protocol(2048), instance.arms(), budget, pauses)
    return Comparison(ours, encrypted.seconds(), added.seconds(), prices)


def priced(instance: Instance, bits: int, budget: int) -> tuple[Costs, Prices]:
    prices = Prices(bits)
    pauses = [prices.sample] * PRICES
    return clocked.run(instance.protocol(bits), instance.arms(), budget, pauses), prices


def table(title: str, *columns: str) -> Table:
    made = Table(title=title, title_justify="left")
    for i, column in enumerate(columns):
        made.add_column(column, justify="left" if i == 0 else "right", no_wrap=True)
    return made


def verdict(value: float, aim: float, *, at_most: bool = False) -> str:
    reached = value <= aim if at_most else value >= aim
    return f"{'reaches' if reached else 'misses'} the aim of {aim:g}"


def against_the_paper(compared: dict[Instance, Comparison]) -> Table:
    made = table(
        "1. Whole runs, 2048 bits, CPU: Lotor and Figure 4 of the paper; in brackets the paper "
        "without encrypting the bonus",
        *("instance", "N", "Lotor s", "paper s", "ratio", "the ratio"),
        *("(paper s)", "(ratio)", "(the ratio)"),
    )
    for instance, run in compared.items():
        ratio, stricter = run.encrypted / run.ours.total, run.added / run.ours.total
        made.add_row(
            *(instance.name, str(run.ours.rounds + 1), f"{run.ours.total:.2f}"),
            *(f"{run.encrypted:.1f}", f"{ratio:.1f}", verdict(ratio, instance.aim)),
            *(f"{run.added:.1f}", f"{stricter:.1f}", verdict(stricter, instance.aim)),
        )
    return made


def by_party(measured: list[tuple[Instance, Costs, Prices]]) -> Table:
    made = table(
        "2. A round by party, ms of CPU; before: tables and randomisers' tables, per run; limit: "
        "modular arithmetic alone",
        *("instance, bits", "N", "P", "Comp", "pool", "before", "bytes", "limit"),
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
            *(f"{costs.prepared * 1e3:.0f}", str(costs.bytes_per_round), f"{least * 1e3:.2f}"),
            *(f"{share:.0%}", f"{whole:.0%}", verdict(round(share, 2), SHARE_AIM)),
        )
    return made


def workers(budget: int) -> Table:
    made = table(
        f"3. Two workers against one, {LARGE.name}, 2048 bits, N = {budget}: a round, wall time, s",
        *("one", "two", "ratio", "the ratio", "CPU, two / one", "others used"),
    )
    arms = LARGE.arms()
    with Others() as others:
        before, two, after = (
            clocked.run(LARGE.protocol(2048, count), arms, budget) for count in (1, 2, 1)
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
        f"4. Peak memory, {LARGE.name}, 2048 bits, N = {MEMORY_BUDGET}",
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
        protocol = LARGE.protocol(2048, workers=count)
        lotor.run(protocol, LARGE.arms(), budget=MEMORY_BUDGET, seed=7, progress=progress)
    except EnoughError:
        sys.exit(0)


def tables(effort: Effort) -> Iterator[Table]:
    keys = paper.Keys(2048)
    compared = {
        instance: compare(instance, keys, effort.budget, effort.paper_rounds) for instance in SMALL
    }
    compared[SPECTRAL] = compare(SPECTRAL, keys, SPECTRAL.k, effort.spectral_rounds)
    compared[LARGE] = compare(LARGE, keys, effort.large_budget, effort.large_rounds)
    yield against_the_paper(compared)
    measured = [(instance, run.ours, run.prices) for instance, run in compared.items()]
    measured += [(instance, *priced(instance, 3072, effort.budget_3072)) for instance in SMALL]
    yield by_party(measured)
    yield workers(effort.workers_budget)
    yield memory()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="five minutes, and less precise")
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
