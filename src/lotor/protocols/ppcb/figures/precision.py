"""Figures 7 and 8: the average reward against the bits of precision, and Newton's iterations."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from math import nan
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from lotor.core.frames import Cell, Columns, add_row, number, rows_of
from lotor.core.plotting import COLOURS, MARKERS, new_figure, plotting
from lotor.policies import AnyPolicy
from lotor.policies.contextual import LinearEpsilonGreedy
from lotor.protocols.cell import AnyCell, Label, Outcome, RunCell
from lotor.protocols.figure import DataFiles, Figure, Size, grouped, summary
from lotor.protocols.ppcb.figures.paper_arithmetic import (
    PUBLISHED_BITS,
    PUBLISHED_ITERATIONS,
    PaperArithmetic,
)
from lotor.protocols.ppcb.figures.setting import called, data_said, digits, in_order
from lotor.protocols.ppcb.protocol import LEAST_BITS, MOST_BITS, PPCB
from lotor.protocols.protocol import Protocol

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture

EPSILON = 0.1
PLAIN, SECURE = "plain", "secure"
IGNORED, COUNTED = "paper, η_xr = 0", "paper, η_xr computed"
BITS = tuple(range(8, 29, 2))
SECURE_BITS = tuple(range(LEAST_BITS, MOST_BITS + 1, 2))
ITERATIONS = tuple(range(9))
ENOUGH_ITERATIONS = 3
STEPS: dict[Size, int] = {"quick": 1_500, "full": 60_000}
RUNS: dict[Size, int] = {"quick": 2, "full": 3}
SECURE_RUNS: dict[Size, int] = {"quick": 2, "full": 1}
ANY = "any"
"""What is on the axis of a curve that does not depend on it."""
MARGIN = 0.05
"""What a reward is below plain's where it has dropped: short runs differ by nearly as much."""
SIMULATED = (
    f"The paper does not say which epsilon it takes; here it is {EPSILON}. The paper's arithmetic "
    "is computed in one process, from shares that two parties make and cut as in Appendix C. "
)

Kinds = Mapping[tuple[str, int | str], AnyPolicy | Protocol]


class RewardByArithmetic(Figure):
    """Runs that differ in nothing but how they compute."""

    axis: ClassVar[str]
    """What is varied, a column of the table."""
    label: ClassVar[str]
    """The same on the axis."""
    enough: ClassVar[tuple[int, int]]
    """From where to where the paper sees no drop."""

    @abstractmethod
    def kinds(self) -> Kinds:
        """What is run, by its arithmetic and by what is varied."""

    def cells(self, size: Size, data: DataFiles) -> Sequence[AnyCell]:
        steps, count = STEPS[size], (RUNS[size], SECURE_RUNS[size])
        arms = digits(data.mnist, steps)
        orders = [in_order(arms, seed) for seed in range(RUNS[size])]
        return [
            RunCell(
                {"data": called(data), "arithmetic": arithmetic, self.axis: value},
                protocol,
                order,
                steps,
                seed,
            )
            for (arithmetic, value), protocol in self.kinds().items()
            for seed, order in enumerate(orders[: count[arithmetic == SECURE]])
        ]

    def setting(self, size: Size, data: DataFiles) -> str:
        return (
            f"{data_said(data, STEPS[size])}; {RUNS[size]} runs of {STEPS[size]:,} rounds, and "
            f"{SECURE_RUNS[size]} by the secure protocol. Bars are standard deviations of runs."
        )

    def table(self, outcomes: Sequence[Outcome]) -> Columns:
        table: Columns = {}
        for labels, runs in grouped(outcomes).items():
            averages = np.array([one.figures["reward"] / one.figures["rounds"] for one in runs])
            row: dict[str, Cell] = dict(labels)
            row[self.axis] = None if row[self.axis] == ANY else row[self.axis]
            row |= {**summary("average reward", averages), "first run": float(averages[0])}
            add_row(table, row)
        return table

    def draw(self, table: Columns) -> "Picture":
        with plotting():
            figure = new_figure()
            (axes,) = figure.axes
            for i, arithmetic in enumerate(dict.fromkeys(table["arithmetic"])):
                rows = rows_of(table, arithmetic=arithmetic)
                means = [number(row["average reward"]) for row in rows]
                if rows[0][self.axis] is None:
                    style = "--" if arithmetic == PLAIN else ":"
                    axes.axhline(means[0], color=COLOURS[i], ls=style, label=str(arithmetic))
                    continue
                # One run has no spread, and matplotlib draws no bar for nan.
                spreads = [row["standard deviation"] for row in rows]
                axes.errorbar(
                    [number(row[self.axis]) for row in rows],
                    means,
                    [nan if spread is None else number(spread) for spread in spreads],
                    color=COLOURS[i],
                    marker=MARKERS[i],
                    markersize=5,
                    capsize=2,
                    linestyle="none" if arithmetic == SECURE else "-",
                    label=str(arithmetic),
                )
            axes.set_xticks(
                sorted({int(number(one)) for one in table[self.axis] if one is not None})
            )
            axes.axvspan(*self.enough, color="grey", alpha=0.12, lw=0, label="published: no drop")
            axes.set_ylim(bottom=0)
            axes.set(xlabel=self.label, ylabel="reward per round", title=str(table["data"][0]))
            figure.legend(loc="outside lower center", ncols=5)
        return figure

    def _low(self, table: Columns, arithmetic: str) -> list[int]:
        """Where the paper's arithmetic earns clearly less than plain."""
        (plain,) = rows_of(table, arithmetic=PLAIN)
        enough = number(plain["average reward"]) - MARGIN
        return [
            int(number(row[self.axis]))
            for row in rows_of(table, arithmetic=arithmetic)
            if number(row["average reward"]) < enough
        ]


class PPCBPrecision(RewardByArithmetic):
    """Figure 7."""

    name: ClassVar[str] = "ppcb-7"
    title: ClassVar[str] = "average reward against the bits of precision"
    axis: ClassVar[str] = "bits"
    label: ClassVar[str] = "L, bits behind the point"
    enough: ClassVar[tuple[int, int]] = (18, 22)
    paper: ClassVar[str] = (
        "Figure 7 shows the average reward against the bits of precision L: the best is 20 bits, "
        "and it drops sharply below 18 and above 22. Below, precision is lost; above, truncations "
        "fail because η_xr of Algorithm 3 is set to 0. There are no rewards in the text."
    )
    published: ClassVar[Mapping[str, Sequence[Label]]] = {
        "bits": (18, PUBLISHED_BITS, 22),
        "reward": ("drops below", "the best", "drops above"),
    }
    differs: ClassVar[str] = (
        f"{SIMULATED}Truncation is exact in Lotor, so that nothing fails with more bits, and what "
        "is added up has 28 bits more, so that little is lost with fewer; the secure protocol "
        f"takes {LEAST_BITS} to {MOST_BITS}. A third curve has the paper's arithmetic with η_xr "
        "computed, which tells the two causes of the drop apart."
    )

    def kinds(self) -> Kinds:
        kinds: dict[tuple[str, int | str], AnyPolicy | Protocol] = {
            (PLAIN, ANY): LinearEpsilonGreedy(EPSILON)
        }
        for bits in BITS:
            kinds[IGNORED, bits] = PaperArithmetic(EPSILON, bits)
            kinds[COUNTED, bits] = PaperArithmetic(EPSILON, bits, wraps="counted")
        for bits in SECURE_BITS:
            kinds[SECURE, bits] = PPCB(form="dealt", epsilon=EPSILON, bits=bits)
        return kinds

    def found(self, table: Columns) -> Sequence[str]:
        (plain,) = rows_of(table, arithmetic=PLAIN)
        published = rows_of(table, arithmetic=IGNORED, bits=PUBLISHED_BITS)[0]
        off = max(
            abs(number(row["first run"]) - number(plain["first run"]))
            for row in rows_of(table, arithmetic=SECURE)
        )
        fit = _listed([bits for bits in BITS if bits not in self._low(table, IGNORED)])
        ignored, counted = (_listed(self._low(table, one)) for one in (IGNORED, COUNTED))
        return [
            (
                f"Plain earns {number(plain['average reward']):.3f} a round, and the paper's "
                f"arithmetic with {PUBLISHED_BITS} bits {number(published['average reward']):.3f}."
            ),
            (
                f"With η_xr = 0 it earns less than plain by more than {MARGIN} with {ignored} "
                f"bits, and with η_xr computed with {counted} bits; so with "
                f"η_xr = 0 it needs {fit} bits."
            ),
            (
                f"The secure protocol with {SECURE_BITS[0]} to {SECURE_BITS[-1]} bits is at most "
                f"{off:.4f} a round away from plain on the same run."
            ),
        ]


class PPCBNewton(RewardByArithmetic):
    """Figure 8."""

    name: ClassVar[str] = "ppcb-8"
    title: ClassVar[str] = "average reward against the iterations of a reciprocal"
    axis: ClassVar[str] = "iterations"
    label: ClassVar[str] = "Newton-Raphson iterations of a reciprocal"
    enough: ClassVar[tuple[int, int]] = (ENOUGH_ITERATIONS, ITERATIONS[-1])
    paper: ClassVar[str] = (
        "Figure 8 shows the average reward against the number of Newton-Raphson iterations that "
        "compute the reciprocal: three are enough; the other experiments take "
        f"{PUBLISHED_ITERATIONS}. There are no rewards in the text."
    )
    published: ClassVar[Mapping[str, Sequence[Label]]] = {
        "iterations": (ENOUGH_ITERATIONS, PUBLISHED_ITERATIONS),
        "said": ("enough", "taken"),
    }
    differs: ClassVar[str] = (
        f"{SIMULATED}Lotor makes no such iterations: it computes the reciprocal by cubics on a "
        "proven range, in two rounds, so that the secure protocol is a line here."
    )

    def kinds(self) -> Kinds:
        return {
            (PLAIN, ANY): LinearEpsilonGreedy(EPSILON),
            (SECURE, ANY): PPCB(form="dealt", epsilon=EPSILON),
            **{
                (IGNORED, iterations): PaperArithmetic(EPSILON, iterations=iterations)
                for iterations in ITERATIONS
            },
        }

    def found(self, table: Columns) -> Sequence[str]:
        (plain,) = rows_of(table, arithmetic=PLAIN)
        (secure,) = rows_of(table, arithmetic=SECURE)
        rewards = ", ".join(
            f"{number(row['average reward']):.3f} with {row['iterations']}"
            for row in rows_of(table, arithmetic=IGNORED)
        )
        low = self._low(table, IGNORED)
        least = next((one for one in ITERATIONS if all(few < one for few in low)), None)
        enough = (
            "No number of iterations is enough here"
            if least is None
            else (f"From {least} iterations on it earns as much as plain but for {MARGIN}")
        )
        ours, theirs = (number(row["first run"]) for row in (secure, plain))
        return [
            (
                f"The paper's arithmetic earns {rewards} iterations, and plain "
                f"{number(plain['average reward']):.3f}."
            ),
            f"{enough}; the paper finds that {ENOUGH_ITERATIONS} are enough.",
            (
                f"The secure protocol, which makes none, earns {ours:.4f} where plain earns "
                f"{theirs:.4f}."
            ),
        ]


def _listed(values: Sequence[int]) -> str:
    return ", ".join(map(str, values)) or "none of the"
