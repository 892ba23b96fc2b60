"""How well `lotor.plan` foretells the processor time of a run: planned over taken, by party.

Each form is planned by a rehearsal of some seconds, which ends long before the run would, and then
run to its end in this process. The planner is meant to be right within a factor of 1.5 for every
party that works at all. Bytes and round trips are compared, too: where the plan says that it is
exact they must be equal. Key generation takes as long as luck has it, so short runs are no test.
"""

import argparse
import sys
import warnings

import numpy as np
from machine import Others
from rich.console import Console
from rich.table import Table

import lotor
from lotor.environments.base import Environment
from lotor.protocols.protocol import SecureProtocol

WORKS = 0.02
"""A party that takes less than this share of a run's processor time is left out."""
FACTOR = 1.5

Case = tuple[str, SecureProtocol, Environment, int]


def cases() -> list[Case]:
    """Each form at sizes where a run takes several times its rehearsal."""
    ten = lotor.BernoulliArms(np.linspace(0.1, 0.9, 10).tolist())
    draws = np.random.default_rng(1)
    vectors, theta = draws.uniform(-0.4, 0.4, (30, 10)), draws.uniform(-0.3, 0.3, 10)
    linear = lotor.LinearArms(vectors.tolist(), theta.tolist())
    features = lotor.ContextualArms.lookalike(rounds=6_000, arms=10, d=20, seed=1)
    contexts = lotor.LinearContexts.toy(rounds=3_000, seed=5)
    return [
        ("samba/shared", lotor.Samba(), ten, 10_000),
        ("samba/dealt", lotor.Samba(form="dealt"), ten, 12_000),
        ("samba/paper", lotor.Samba(form="paper", owners=10), ten, 12_000),
        ("linucb-ds/shared", lotor.LinUCBDS(), linear, 4_000),
        ("linucb-ds/dealt", lotor.LinUCBDS(form="dealt"), linear, 6_000),
        ("linucb-ds/paper", lotor.LinUCBDS(form="paper"), linear, 600),
        ("helba/shared", lotor.Helba(), contexts, 1_500),
        ("helba/two-servers", lotor.Helba(servers=2), contexts, 1_000),
        ("ppcb/shared", lotor.PPCB(owners=2), features, 2_000),
        ("ppcb/dealt", lotor.PPCB(form="dealt", owners=2), features, 4_000),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="runs of a quarter of the rounds")
    parser.add_argument("--seconds", type=float, default=2.0, help="how long to rehearse")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    table = Table(title=f"Planned over taken, rehearsals of {given.seconds:g} s")
    for heading in ("form", "rounds", "rehearsed", "bytes", "round trips", "processor time"):
        table.add_column(heading, justify="left" if heading == "form" else "right")
    ratios: list[float] = []
    with Others() as others:
        for name, protocol, environment, rounds in cases():
            budget = rounds // 4 if given.quick else rounds
            print(f"{name}: {budget} rounds", file=sys.stderr)
            row, found = compared(protocol, environment, budget, given.seconds)
            table.add_row(name, f"{budget:,}", *row)
            ratios += found
    Console(width=140).print(table)
    wrong = sum(not 1 / FACTOR <= ratio <= FACTOR for ratio in ratios)
    print(
        f"Parties: {len(ratios)}; beyond a factor of {FACTOR}: {wrong}. Others kept this machine "
        f"busy: {others.text}."
    )


def compared(
    protocol: SecureProtocol, environment: Environment, budget: int, seconds: float
) -> tuple[list[str], list[float]]:
    """A row of the table, and the ratios of processor time."""
    planned = lotor.plan(protocol, environment, budget=budget, seconds=seconds)
    taken = lotor.run(protocol, environment, budget=budget, seed=2).parties
    cpu = sum(cost.cpu_seconds for cost in taken.values())
    sizes = {name: cost.bytes_sent for name, cost in taken.items()}
    if planned.exact and sizes != planned.bytes_sent:
        raise SystemExit(f"the plan of {protocol} said that its bytes are exact, and they are not")
    ratios = {
        name: planned.cpu_seconds[name] / cost.cpu_seconds
        for name, cost in taken.items()
        if cost.cpu_seconds > WORKS * cpu
    }
    share = planned.bytes_in_all / sum(sizes.values())
    row = [
        f"{planned.rehearsed:,}",
        "exact" if planned.exact else f"{share:.4f}",
        f"{planned.round_trips:,.0f}",
        ", ".join(f"{name} {ratio:.2f}" for name, ratio in ratios.items()),
    ]
    return row, list(ratios.values())


if __name__ == "__main__":
    main()
