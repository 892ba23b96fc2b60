"""What the forms of LinUCB-DS cost: ratios of CPU time against the paper's pseudo-code, in one run.

All work of all parties counts, P's clear model too. The set-up before the first pull is shown
apart, on both sides. Rounds of the pseudo-code and runs of the forms take turns. Nothing fails: an
aim is only named.
"""

import argparse
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from statistics import median

import clocked
import paper_linucb_ds as paper
from clocked import Costs
from linucb_instances import KEY_BITS, Instance, PaperRun
from machine import peak_of_fresh_process, print_peak
from rich.console import Console
from rich.table import Table
from tables import table, verdict

import lotor
from lotor.crypto.paillier import InsecureKeyWarning, PackedLayout
from lotor.protocols.linucb_ds.shared.complexity import SharedLinearCosts

MIDDLE, WIDE, LARGE = Instance(5, 50), Instance(30, 30), Instance(20, 1000)
SPECTRAL = Instance(30, 30, spectral=True)
OTHERS = (Instance(3, 15), Instance(18, 6))
AIMS: Mapping[tuple[Instance, str], float] = {
    (MIDDLE, "shared"): 40,
    (WIDE, "shared"): 140,
    (LARGE, "shared"): 140,
    (MIDDLE, "dealt"): 120,
    (WIDE, "dealt"): 300,
    (LARGE, "dealt"): 1000,
}
LONG_RUN = 1000
PARTIES = ("principal", "comp", "dealer")
SERVERS_ON_SHARES = ("shared", "dealt")


@dataclass(frozen=True, slots=True)
class Effort:
    """How long to measure: turns, and rounds of a run on shares and on ciphertexts in each."""

    turns: int
    rounds: int
    encrypted: int
    large_turns: int
    large_rounds: int
    large_encrypted: int
    peak_rounds: tuple[int, ...]


FULL = Effort(5, 500, 300, 2, 64, 48, (16, 64, 256))
QUICK = Effort(3, 150, 60, 1, 32, 12, (16, 64))


@dataclass(frozen=True, slots=True)
class Compared:
    """Runs of each form, and rounds of the pseudo-code."""

    costs: Mapping[str, list[Costs]]
    paper: PaperRun

    def a_round(self, form: str) -> float:
        return median(one.a_round for one in self.costs[form])

    def set_up(self, form: str) -> float:
        return median(one.set_up for one in self.costs[form])

    def over_long_run(self, form: str) -> float:
        """The ratio of whole runs, set-ups included."""
        ours = self.set_up(form) + (LONG_RUN - 1) * self.a_round(form)
        return (self.paper.set_up + (LONG_RUN - 1) * self.paper.a_round) / ours


def compare(instance: Instance, keys: paper.Keys, effort: Effort) -> Compared:
    large = instance is LARGE
    turns = effort.large_turns if large else effort.turns
    on_shares = _whole_batches(instance, effort.large_rounds if large else effort.rounds)
    encrypted = effort.large_encrypted if large else effort.encrypted
    rounds = {**dict.fromkeys(SERVERS_ON_SHARES, on_shares), "paper": encrypted}
    theirs = PaperRun(instance, keys, LONG_RUN)
    costs: dict[str, list[Costs]] = {form: [] for form in rounds}
    arms = instance.arms()
    for _ in range(turns):
        theirs.round()
        for form, count in rounds.items():
            costs[form].append(clocked.run(instance.protocol(form), arms, 1 + count))
    return Compared(costs, theirs)


def _whole_batches(instance: Instance, least: int) -> int:
    """At least so many rounds, and no batch of products that is not used up."""
    schedule = SharedLinearCosts(instance.k, instance.d, 1 + least).schedule
    batch = schedule.circuits_each * schedule.size
    return -(-least // batch) * batch


def against_the_paper(compared: Mapping[Instance, Compared]) -> Table:
    made = table(
        f"1. A round, ms of CPU, all parties, {KEY_BITS} bits: Lotor's forms and the paper's "
        "pseudo-code on phe",
        *("instance, form", "rounds", "Lotor", "phe", "ratio", "the ratio"),
        *("set-up", "phe's set-up", f"ratio, N = {LONG_RUN}"),
    )
    made.caption = (
        f"The ratio for N = {LONG_RUN} is that of whole runs, set-up included. The paper's form "
        "makes tables for a run, which pay off in longer ones."
    )
    for instance, found in compared.items():
        theirs = found.paper.a_round
        for form, costs in found.costs.items():
            ours, aim = found.a_round(form), AIMS.get((instance, form))
            made.add_row(
                *(f"{instance.name}, {form}", str(sum(one.rounds for one in costs))),
                *(f"{ours * 1e3:.2f}", f"{theirs * 1e3:.0f}", f"{theirs / ours:.0f}"),
                "" if aim is None else verdict(theirs / ours, aim),
                *(f"{s * 1e3:.0f}" for s in (found.set_up(form), found.paper.set_up)),
                f"{found.over_long_run(form):.0f}",
            )
    return made


def by_party(compared: Mapping[Instance, Compared]) -> Table:
    made = table(
        "2. A round by party, ms of CPU, and its bytes as the plan has them",
        *("instance, form", *PARTIES, "the rest", "bytes ahead", "bytes within"),
    )
    made.caption = "The rest: the loop that drives parties, and the paper's form's background pool."
    for instance, found in compared.items():
        for form, costs in found.costs.items():
            parties = {
                name: median(one.parties.get(name, 0.0) / one.rounds for one in costs)
                for name in PARTIES
            }
            rest = found.a_round(form) - sum(parties.values())
            made.add_row(
                f"{instance.name}, {form}",
                *(f"{seconds * 1e3:.2f}" for seconds in (*parties.values(), rest)),
                *(f"{count:,}" for count in _bytes(instance, form)),
            )
    return made


def _bytes(instance: Instance, form: str) -> tuple[int, int]:
    """Ahead of a round and within it."""
    if form == "paper":
        return 0, PackedLayout(KEY_BITS, instance.k).ciphertexts * KEY_BITS // 4
    protocol = instance.protocol(form)
    figures = protocol.in_form().forecast(protocol, instance.arms(), LONG_RUN).figures
    ahead, within = figures["bytes_ahead"], figures["bytes_within"]
    assert isinstance(ahead, int)
    assert isinstance(within, int)
    return ahead, within


def memory(lengths: tuple[int, ...]) -> Table:
    made = table(
        f"3. Peak memory of a process with all parties, {LARGE.name}, MB",
        *("form", *(f"{rounds} rounds" for rounds in lengths)),
    )
    for form in SERVERS_ON_SHARES:
        peaks = (
            peak_of_fresh_process(__file__, "--peak", form, "--rounds", str(rounds))
            for rounds in lengths
        )
        made.add_row(form, *(f"{most:.0f}" for most in peaks))
    return made


def peak(form: str, rounds: int) -> None:
    """What a fresh process does for `memory`."""
    lotor.run(LARGE.protocol(form), LARGE.arms(), budget=1 + rounds, seed=7)
    print_peak()


def tables(effort: Effort, instances: tuple[Instance, ...]) -> Iterator[Table]:
    keys = paper.Keys(KEY_BITS)
    compared = {instance: compare(instance, keys, effort) for instance in instances}
    yield against_the_paper(compared)
    yield by_party(compared)
    yield memory(effort.peak_rounds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="two minutes, and less precise")
    parser.add_argument("--peak", choices=SERVERS_ON_SHARES, help="only print the peak memory")
    parser.add_argument("--rounds", type=int, default=16, help="with --peak: of how many rounds")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", InsecureKeyWarning)
    if arguments.peak:
        peak(arguments.peak, arguments.rounds)
        return
    console = Console(width=max(150, Console().width))
    instances = (MIDDLE, WIDE, SPECTRAL, LARGE)
    chosen = (QUICK, instances) if arguments.quick else (FULL, (*OTHERS, *instances))
    for made in tables(*chosen):
        console.print(made)


if __name__ == "__main__":
    main()
