"""What PPCB costs here, and how well it decides: tables, ratios of CPU time from one run.

Nothing fails: an aim is only named.
"""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass

from ppcb_agreement import agreement
from ppcb_crypten import beside_crypten
from ppcb_processes import as_processes
from ppcb_scaling import by_arms, by_owners
from ppcb_shared import beside_dealt, growth, spent
from ppcb_step import measure, shown
from ppcb_truncation import truncation
from rich.console import Console
from rich.table import Table

import lotor

BITS = 20


@dataclass(frozen=True, slots=True)
class Effort:
    """How long to measure."""

    steps: int
    turns: int
    precisions: tuple[int, ...]
    agreement_steps: int
    mnist: bool
    trials: int
    arms_steps: int
    owners_steps: int
    process_steps: int
    shared_steps: int
    growth_steps: int
    crypten_steps: int
    providers: tuple[str, ...]


FULL = Effort(
    steps=600,
    turns=5,
    precisions=(16, 18, 20, 22, 24),
    agreement_steps=1_797,
    mnist=True,
    trials=10**8,
    arms_steps=200,
    owners_steps=600,
    process_steps=1_000,
    shared_steps=640,
    growth_steps=96,
    crypten_steps=50,
    providers=("TFP", "TTP"),
)
QUICK = Effort(
    steps=300,
    turns=3,
    precisions=(20,),
    agreement_steps=600,
    mnist=False,
    trials=10**6,
    arms_steps=50,
    owners_steps=150,
    process_steps=200,
    shared_steps=320,
    growth_steps=32,
    crypten_steps=20,
    providers=("TFP",),
)


def tables(effort: Effort) -> Iterator[Table | str]:
    digits = lotor.ContextualArms.digits()
    step = measure(digits, BITS, effort.steps, effort.turns)
    yield from shown(digits, BITS, step)
    yield agreement(effort.precisions, effort.agreement_steps, mnist=effort.mnist)
    yield truncation(effort.trials)
    yield by_arms(effort.arms_steps)
    yield by_owners(effort.owners_steps)
    yield as_processes(digits, effort.process_steps, "dealt")[0]
    made, processes = as_processes(digits, effort.process_steps, "shared")
    yield made
    yield beside_dealt(effort.shared_steps, effort.turns)
    yield growth(effort.growth_steps)
    # Timed again: a machine's speed drifts, and CrypTen is to be compared with what is near it.
    near = spent(lotor.PPCB(), digits, effort.shared_steps, 1)
    yield beside_crypten(near.computing, processes, effort.crypten_steps, effort.providers)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="four minutes, and less precise")
    effort = QUICK if parser.parse_args().quick else FULL
    console = Console(width=max(160, Console().width))
    for made in tables(effort):
        console.print(made)


if __name__ == "__main__":
    main()
