"""Figure 1: the average reward of a sweep over MNIST, for four epsilons."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from lotor.core.fixed_point import Floats
from lotor.core.frames import Cell, Columns, add_row, number, rows_of
from lotor.core.plotting import COLOURS, MARKERS, new_figure, plotting
from lotor.policies.contextual import LinearEpsilonGreedy
from lotor.protocols.cell import AnyCell, Label, Outcome, RunCell
from lotor.protocols.figure import DataFiles, Figure, Size, grouped, summary
from lotor.protocols.ppcb.figures.setting import (
    EPSILONS,
    EPSILONS_UNSAID,
    IMAGES,
    called,
    data_said,
    digits,
    in_order,
)
from lotor.protocols.ppcb.protocol import PPCB

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture

PLAIN, SECURE = "plain", "secure"
RUNS = 10
POINTS = 50
MEAN, SAME_RUN = "average reward", "plain, the same run"
SECURE_ROUNDS: dict[Size, int] = {"quick": 1_000, "full": 60_000}


class PPCBReward(Figure):
    """Figure 1."""

    name: ClassVar[str] = "ppcb-1"
    title: ClassVar[str] = "average reward of a sweep, for four epsilons"
    paper: ClassVar[str] = (
        "Figure 1 shows the average reward during one sweep through the 60,000 images of MNIST for "
        "four epsilons, as means over 10 runs with their standard deviations. The rewards of a "
        "program in plain are the same. There are no numbers in the text."
    )
    differs: ClassVar[str] = (
        f"{EPSILONS_UNSAID}The ten runs, each with its own order of the images, are in plain; of "
        "the first one the secure protocol makes as many rounds as the setting says, for each "
        "epsilon, and its rewards are compared with plain's."
    )

    def cells(self, size: Size, data: DataFiles) -> Sequence[AnyCell]:
        arms, images = digits(data.mnist, IMAGES[size]), IMAGES[size]
        at = tuple(range(images // POINTS, images + 1, images // POINTS))
        orders = [in_order(arms, seed) for seed in range(RUNS)]
        found: list[AnyCell] = []
        for epsilon in EPSILONS:
            labels: dict[str, Label] = {"data": called(data), "epsilon": epsilon}
            policy, secure = LinearEpsilonGreedy(epsilon), {**labels, "form": SECURE}
            found += [
                RunCell({**labels, "form": PLAIN}, policy, order, images, seed, at=at)
                for seed, order in enumerate(orders)
            ]
            rounds = SECURE_ROUNDS[size]
            found.append(RunCell(secure, PPCB(policy, form="dealt"), orders[0], rounds, 0, at=at))
        return found

    def setting(self, size: Size, data: DataFiles) -> str:
        return (
            f"{data_said(data, IMAGES[size])}; {RUNS} runs for each epsilon, and "
            f"{SECURE_ROUNDS[size]:,} rounds of the first one by the secure protocol. Bands are "
            "standard deviations of runs."
        )

    def table(self, outcomes: Sequence[Outcome]) -> Columns:
        groups = {
            (dict(labels)["epsilon"], dict(labels)["form"]): found
            for labels, found in grouped(outcomes).items()
        }
        table: Columns = {}
        for (epsilon, form), found in groups.items():
            first = groups[epsilon, PLAIN][0]
            plain = dict(zip(first.at, first.rewards, strict=True))
            totals = np.array([one.rewards for one in found])
            for place, t in enumerate(found[0].at):
                averages = totals[:, place] / t
                row: dict[str, Cell] = {
                    "data": found[0].labels["data"],
                    "epsilon": epsilon,
                    "form": form,
                    "round": t,
                    **summary(MEAN, averages),
                    SAME_RUN: plain[t] / t if form == SECURE and t in plain else None,
                }
                add_row(table, row)
        return table

    def draw(self, table: Columns) -> "Picture":
        with plotting():
            figure = new_figure(2)
            means_of_runs, one_run = figure.axes
            for i, epsilon in enumerate(EPSILONS):
                rows = rows_of(table, epsilon=epsilon, form=PLAIN)
                rounds, means = _curve(rows, MEAN)
                means_of_runs.plot(rounds, means, color=COLOURS[i], label=f"ε = {epsilon}")
                if rows[0]["standard deviation"] is not None:
                    spread = np.array([number(row["standard deviation"]) for row in rows])
                    means_of_runs.fill_between(
                        rounds, means - spread, means + spread, color=COLOURS[i], alpha=0.15, lw=0
                    )
                secure = rows_of(table, epsilon=epsilon, form=SECURE)
                one_run.plot(
                    *_curve(secure, SAME_RUN), color=COLOURS[i], label=f"ε = {epsilon}, plain"
                )
                one_run.plot(
                    *_curve(secure, MEAN),
                    color=COLOURS[i],
                    marker=MARKERS[i],
                    markersize=5,
                    markevery=max(1, len(secure) // 8),
                    linestyle="none",
                    label=f"ε = {epsilon}, secure",
                )
            data, runs = table["data"][0], number(rows_of(table, form=PLAIN)[0]["runs"])
            means_of_runs.set_title(f"{data}, mean of {runs:.0f} runs in plain")
            one_run.set_title(f"{data}, one run, in plain and secure")
            for axes in figure.axes:
                axes.set(xlabel="rounds", ylabel="reward per round so far", ylim=(0, 1))
                axes.legend(loc="lower right", ncols=2)
        return figure

    def found(self, table: Columns) -> Sequence[str]:
        ends = {epsilon: rows_of(table, epsilon=epsilon, form=PLAIN)[-1] for epsilon in EPSILONS}
        earned = ", ".join(
            f"{number(row[MEAN]):.3f}{_spread_said(row)} at ε = {epsilon}"
            for epsilon, row in ends.items()
        )
        means = [number(row[MEAN]) for row in ends.values()]
        ordered = all(more > less for more, less in pairwise(means))
        verdict = (
            "the less is explored, the more is earned"
            if ordered
            else "the rewards are not in the order of the epsilons"
        )
        rounds = number(ends[EPSILONS[0]]["round"])
        said = [f"Average reward of {rounds:,.0f} rounds: {earned}; {verdict}."]
        compared = [row for row in rows_of(table, form=SECURE) if row[SAME_RUN] is not None]
        off = max(
            number(row["round"]) * abs(number(row[MEAN]) - number(row[SAME_RUN]))
            for row in compared
        )
        last = max(number(row["round"]) for row in compared)
        same = "the same as" if off < 0.5 else f"up to {off:.0f} off"
        said.append(
            f"In {last:,.0f} rounds the secure protocol's rewards are {same} plain's at all "
            f"{len(compared)} points of the {len(EPSILONS)} runs."
        )
        return said


def _curve(rows: Sequence[Mapping[str, Cell]], column: str) -> tuple[list[float], Floats]:
    """After which rounds, and a column there."""
    known = [row for row in rows if row[column] is not None]
    values = np.array([number(row[column]) for row in known])
    return [number(row["round"]) for row in known], values


def _spread_said(row: Mapping[str, Cell]) -> str:
    spread = row["standard deviation"]
    return "" if spread is None else f" ± {number(spread):.3f}"
