"""The regret of the policies that HELBA follows, in plain, against OFUL on the same draws.

1. The paper's toy problem: 25 instances of 130 rounds.
2. Larger problems, over many rounds: d = 2, 5 and 10, each with d arms, whose contexts are drawn
   anew in each round, offered from a pool of 2d, or always the same.

`--long` takes 10,000 rounds instead of 1,000; `--plot FILE` draws the pool's curves, as SVG or PNG
by the name of the file (this needs matplotlib: the extra `plot`). Nothing
fails: an aim is only named.
"""

import argparse
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from typing import TypeAlias

import numpy as np
from matplotlib import rc_context
from matplotlib.figure import Figure
from rich.console import Console
from rich.table import Table

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
# Colours that colour-blind readers can tell apart (Okabe and Ito).
COLOURS = ("#000000", "#0072b2", "#e69f00", "#009e73", "#d55e00")
Runs: TypeAlias = dict[tuple[str, int], list[dict[str, Floats]]]
"""By kind of contexts and d: for each instance, every policy's regret over the rounds."""

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


def larger_table(found: Runs, rounds: int) -> Table:
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


def draw(found: Runs, rounds: int, path: Path) -> None:
    """One panel for each d, contexts from a pool; the bars at its end are standard errors."""
    shown = {d: runs for (kind, d), runs in found.items() if kind == KINDS[0]}
    # Text stays text and ids do not depend on the day, so that a new picture differs in its data.
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "lotor", "font.size": 9}):
        figure = Figure(figsize=(3.4 * len(shown), 3.6), layout="constrained")
        x = np.arange(1, POINTS + 1) * (rounds // POINTS)
        for axes, (d, runs) in zip(figure.subplots(1, len(shown)), shown.items(), strict=True):
            for place, (colour, name) in enumerate(zip(COLOURS, LARGER, strict=True)):
                y = np.mean([run[name] for run in runs], axis=0)
                axes.plot(x, y, color=colour, label=name, linewidth=1.4)
                last, error = mean([run[name][-1] for run in runs])
                # Side by side, so that none hides another.
                axes.errorbar(rounds * (1.01 + place / 80), last, error, color=colour, linewidth=2)
            axes.set(title=f"d = {d}, {d} arms", xlabel="rounds", xlim=(0, rounds * 1.07))
            axes.set_xticks(np.linspace(0, rounds, 5))
            axes.set_ylim(bottom=0)
            axes.xaxis.set_major_formatter("{x:,.0f}")
            axes.spines[["top", "right"]].set_visible(False)
        figure.axes[0].set_ylabel("regret")
        handles, labels = figure.axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
        figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--long", action="store_true", help="10,000 rounds instead of 1,000")
    parser.add_argument("--plot", type=Path, help="where to draw the curves: an .svg or .png")
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
    found: Runs = {}
    with ProcessPoolExecutor(given.processes) as pool:
        for problem, result in zip(problems, pool.map(curves, problems), strict=True):
            found.setdefault((problem.kind, problem.d), []).append(result)
    out.print(larger_table(found, rounds))
    if given.plot is not None:
        draw(found, rounds, given.plot)


if __name__ == "__main__":
    main()
