"""Whether the times at which owners answer tell which of them was pulled.

`lotor audit samba --daemons` tries the same attacks (`lotor.auditing.timing`); this shows more:
pulls that are asked once only, and by how much a pull moves an answer. Nothing fails: what an
attack finds is only shown, beside what guessing would find.
"""

import argparse
import math
from statistics import fmean, variance

from rich.console import Console
from rich.table import Table

import lotor
from lotor.auditing.timing import Observed, attacks, observe
from lotor.protocols.attack import Score

SEED, KEY_BITS = 7, 2048


def z(score: Score) -> float:
    """By how many standard deviations a score is above chance."""
    spread = math.sqrt(score.chance * (1 - score.chance) / score.of)
    return (score.right / score.of - score.chance) / spread


def slower_when_pulled(seen: Observed) -> tuple[float, float]:
    """By how many µs an owner answers later when it was pulled, and z."""
    differences, errors = [], []
    owners = list(seen.delays[0])
    for owner in owners:
        parts: tuple[list[float], list[float]] = [], []
        for one, who in zip(seen.delays, seen.pulled, strict=True):
            parts[who == owner].append(1e6 * one[owner])
        without, with_pull = parts
        differences.append(fmean(with_pull) - fmean(without))
        errors.append(variance(with_pull) / len(with_pull) + variance(without) / len(without))
    difference = fmean(differences)
    return difference, difference * len(owners) / math.sqrt(sum(errors))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=1_800, help="rounds with a tick")
    parser.add_argument("--tick", type=float, default=0.05, help="seconds")
    parser.add_argument("--quick", action="store_true", help="300 rounds")
    parser.add_argument("--only", action="store_true", help="only with a tick")
    arguments = parser.parse_args()
    rounds = 300 if arguments.quick else arguments.rounds
    samba = lotor.Samba(lotor.EpsilonGreedy(1.0), form="paper", key_bits=KEY_BITS)
    console = Console()
    apart = lotor.Samba(
        lotor.EpsilonGreedy(1.0), form="paper", key_bits=KEY_BITS, outstanding=2 * rounds
    )
    ms = 1000 * arguments.tick
    for title, chosen, tick, repeatable in (
        *([("no tick", samba, 0.0, True)] if not arguments.only else []),
        (f"a tick of {ms:g} ms", samba, arguments.tick, True),
        (f"a tick of {ms:g} ms, asked once", samba, arguments.tick, False),
        *([("an inbox, no tick", apart, 0.0, False)] if not arguments.only else []),
        (f"an inbox, a tick of {ms:g} ms", apart, arguments.tick, False),
    ):
        seen = observe(
            chosen, rounds, tick, seed=SEED, repeatable=repeatable, inbox=chosen is apart
        )
        later, later_z = slower_when_pulled(seen)
        left_out = f", and {seen.late} with a late answer" if tick else ""
        table = Table(title=f"{title}: {len(seen.pulled)} rounds{left_out}", title_justify="left")
        table.add_column('"was pulled"')
        for column in ("right", "chance", "z"):
            table.add_column(column, justify="right")
        for name, score in attacks(seen).items():
            row = f"{score.right / score.of:.1%}", f"{score.chance:.1%}", f"{z(score):.1f}"
            table.add_row(name, *row)
        console.print(table)
        console.print(
            f"an owner answers {later:.0f} µs later when it was pulled (z = {later_z:.1f})\n"
        )


if __name__ == "__main__":
    main()
