"""The regret of the policies that HELBA follows, in plain, against OFUL on the same draws.

1. The paper's toy problem: 25 instances of 130 rounds.
2. Larger problems, over many rounds: d = 2, 5 and 10, each with d arms, whose contexts are drawn
   anew in each round, offered from a pool of 2d, or always the same.

`--long` takes 10,000 rounds instead of 1,000; `--plot FILE` writes the pool's curves as SVG.
Nothing fails: an aim is only named.
"""

import argparse
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from math import sqrt
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table
from svg_plot import Panel, plot

import lotor
from lotor.core.fixed_point import Floats
from lotor.policies import BatchedOFUL, OptimisticPolicy

TOY_SEEDS, TOY_ROUNDS = 25, 130
# How many instances of each d.
QUICK_SEEDS = {2: 6, 5: 3, 10: 3}
LONG_SEEDS = {2: 16, 5: 8, 10: 8}
KINDS = ("pool of 2d", "fresh", "fixed")
POINTS = 50
AIM = 1.5

TOY: dict[str, tuple[OptimisticPolicy, ...]] = {
    "OFUL, determinant": (lotor.OFUL(),),
    "OFUL": (lotor.OFUL(width="public"), lotor.OFUL(width="union")),
    "RSOFUL": (lotor.RSOFUL(width="public"), lotor.RSOFUL(width="union")),
    "RSOFUL-TR": (lotor.RSOFULTR(width="public"), lotor.RSOFULTR(width="union")),
    "sqrt, C = 1, eta = 0.1": (
        BatchedOFUL(index="sqrt", C=1, eta=0.1),
        BatchedOFUL(index="sqrt", C=1, eta=0.1, width="union"),
    ),
    "quadratic": (BatchedOFUL(), BatchedOFUL(width="union")),
    "quadratic, C = 1, eta = 0.1": (
        BatchedOFUL(C=1, eta=0.1),
        BatchedOFUL(C=1, eta=0.1, width="union"),
    ),
    "quadratic, flat": (BatchedOFUL(touch="flat"), BatchedOFUL(touch="flat", width="union")),
}
LARGER: dict[str, OptimisticPolicy] = {
    "OFUL": lotor.OFUL(),
    "quadratic": BatchedOFUL(),
    "quadratic, C = 1, eta = 0.1": BatchedOFUL(C=1, eta=0.1),
    "quadratic, flat": BatchedOFUL(touch="flat"),
    "the paper's (sqrt, union, C = 1, eta = 0.1)": BatchedOFUL(
        index="sqrt", width="union", C=1, eta=0.1
    ),
}


@dataclass(frozen=True, slots=True)
class Problem:
    kind: str
    d: int
    rounds: int
    seed: int

    def contexts(self) -> lotor.LinearContexts:
        pool = {"pool of 2d": 2 * self.d, "fresh": None, "fixed": self.d}[self.kind]
        return lotor.LinearContexts.random(
            self.rounds, arms=self.d, d=self.d, seed=self.seed, pool=pool
        )


def toy_run(policy: OptimisticPolicy, seed: int) -> tuple[float, int]:
    toy = lotor.LinearContexts.toy(TOY_ROUNDS, seed=seed)
    result = lotor.run(policy, toy, budget=TOY_ROUNDS, seed=seed)
    return toy.regret(result.arms or []), result.operations["updates"]


def curves(problem: Problem) -> dict[str, Floats]:
    """Each policy's regret after 1/50, 2/50, … of the rounds."""
    contexts, n = problem.contexts(), problem.rounds
    found = {}
    for name, policy in LARGER.items():
        arms = lotor.run(policy, contexts, budget=n, seed=problem.seed).arms or []
        total = np.cumsum(contexts.regrets(arms))
        found[name] = total[n // POINTS - 1 :: n // POINTS]
    return found


def mean(values: Sequence[float]) -> tuple[float, float]:
    """With its standard error."""
    return float(np.mean(values)), float(np.std(values) / sqrt(max(1, len(values) - 1)))


def toy_table() -> Table:
    table = Table(title=f"Toy problem: regret after {TOY_ROUNDS} rounds, {TOY_SEEDS} instances")
    for column in ("policy", "Theorem 2's width", "updates", "the paper's width", "updates"):
        table.add_column(column, justify="left" if column == "policy" else "right")
    for name, policies in TOY.items():
        cells = []
        for policy in policies:
            regrets, updates = zip(*(toy_run(policy, s) for s in range(TOY_SEEDS)), strict=True)
            cells += ["{:.2f} ± {:.2f}".format(*mean(regrets)), f"{np.mean(updates):.1f}"]
        table.add_row(name, *cells)
    return table


def larger_table(found: dict[tuple[str, int], list[dict[str, Floats]]], rounds: int) -> Table:
    table = Table(
        title=f"Regret after {rounds:,} rounds, and in brackets beside OFUL's (aim for the "
        f"quadratic index: {AIM})"
    )
    table.add_column("contexts")
    table.add_column("d", justify="right")
    table.add_column("instances", justify="right")
    for name in LARGER:
        table.add_column(name, justify="right")
    for (kind, d), runs in found.items():
        cells = []
        for name in LARGER:
            value, error = mean([run[name][-1] for run in runs])
            ratio = value / np.mean([run["OFUL"][-1] for run in runs])
            cells.append(f"{value:.1f} ± {error:.1f} ({ratio:.2f})")
        table.add_row(kind, str(d), str(len(runs)), *cells)
    return table


def panels(found: dict[tuple[str, int], list[dict[str, Floats]]], rounds: int) -> list[Panel]:
    x = [rounds * (i + 1) / POINTS for i in range(POINTS)]
    return [
        Panel(
            f"d = {d}, {d} arms",
            x,
            {
                name: [mean([run[name][i] for run in runs]) for i in range(POINTS)]
                for name in LARGER
            },
        )
        for (kind, d), runs in found.items()
        if kind == KINDS[0]
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--long", action="store_true", help="10,000 rounds instead of 1,000")
    parser.add_argument("--plot", type=Path, help="where to write the curves as SVG")
    parser.add_argument("--processes", type=int, default=2)
    given = parser.parse_args()
    rounds, seeds = (10_000, LONG_SEEDS) if given.long else (1_000, QUICK_SEEDS)
    out = Console(width=None if Console().is_terminal else 160)
    out.print(toy_table())
    problems = [
        Problem(kind, d, rounds, seed)
        for kind in KINDS
        for d, count in seeds.items()
        for seed in range(count)
    ]
    found: dict[tuple[str, int], list[dict[str, Floats]]] = {}
    with ProcessPoolExecutor(given.processes) as pool:
        for problem, result in zip(problems, pool.map(curves, problems), strict=True):
            found.setdefault((problem.kind, problem.d), []).append(result)
    out.print(larger_table(found, rounds))
    if given.plot is not None:
        given.plot.write_text(plot(panels(found, rounds), "rounds", "regret"))


if __name__ == "__main__":
    main()
