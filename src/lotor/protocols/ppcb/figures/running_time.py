"""Figures 3 and 4: the time of a step against the number of arms, and of parties."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from lotor.core.frames import Cell, Columns, number, rows_of
from lotor.core.plotting import COLOURS, MARKERS, new_figure, number_log_axis, plotting
from lotor.protocols.cell import AnyCell, Label, Outcome, RunCell
from lotor.protocols.figure import DataFiles, Figure, Size, mean_rows
from lotor.protocols.ppcb.figures.setting import (
    CLUSTERS,
    TIMES,
    called,
    clusters,
    data_said,
    digits,
)
from lotor.protocols.ppcb.protocol import PPCB

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture

PLAIN, SECURE = "plain", "secure"
ARMS: dict[Size, tuple[int, ...]] = {"quick": (10, 20, 40, 80), "full": (10, 20, 40, 80, 160)}
PARTIES: dict[Size, tuple[int, ...]] = {"quick": (2, 4, 8), "full": (2, 4, 6, 8)}
STEPS: dict[Size, int] = {"quick": 100, "full": 500}
REPEATS: dict[Size, int] = {"quick": 1, "full": 3}
IMAGES, PLAIN_STEPS = 2_000, 1_000
PER_STEP = "CPU milliseconds a step"
MANY_ARMS = 40
"""From here on the paper's time is quadratic."""


class RunningTime(Figure):
    """Runs with every number of arms and of parties."""

    differs: ClassVar[str] = (
        f"{TIMES}The numbers of arms and of parties are only in the paper's pictures. {CLUSTERS}"
        "The parties who bring features share them with two servers and take no part in the rounds "
        "that follow, where the paper's parties all compute with each other. A dealer makes what "
        "the servers need, and its time counts, where the paper's store was made before."
    )

    def cells(self, size: Size, data: DataFiles) -> Sequence[AnyCell]:
        contexts = digits(data.mnist, IMAGES)
        found: list[RunCell] = []
        for k in ARMS[size]:
            arms = clusters(contexts, k)
            protocols = {parties: PPCB(form="dealt", owners=parties) for parties in PARTIES[size]}
            for seed in range(REPEATS[size]):
                labels: dict[str, Label] = {"data": called(data), "arms": k}
                plain = PPCB().plain()
                only = {**labels, "form": PLAIN, "parties": 1}
                found.append(RunCell(only, plain, arms, PLAIN_STEPS, seed, alone=True))
                found += [
                    RunCell(
                        {**labels, "form": SECURE, "parties": parties},
                        protocol,
                        arms,
                        STEPS[size],
                        seed,
                        alone=True,
                    )
                    for parties, protocol in protocols.items()
                ]
        return sorted(found, key=lambda cell: cell.seed)

    def setting(self, size: Size, data: DataFiles) -> str:
        repeats = "one run" if REPEATS[size] == 1 else f"the mean of {REPEATS[size]} runs"
        return f"{data_said(data, IMAGES)}; {repeats} of {STEPS[size]} steps for each point."

    def table(self, outcomes: Sequence[Outcome]) -> Columns:
        table = mean_rows(outcomes, ("rounds", "cpu_seconds", "bytes_sent"))
        pairs = zip(table["cpu_seconds"], table["rounds"], strict=True)
        table[PER_STEP] = [1e3 * number(seconds) / number(rounds) for seconds, rounds in pairs]
        return table


class PPCBTimeOverArms(RunningTime):
    """Figure 3."""

    name: ClassVar[str] = "ppcb-3"
    title: ClassVar[str] = "time of a step against the number of arms"
    paper: ClassVar[str] = (
        "Figure 3 shows the time against the number of arms, a line for each number of parties. Up "
        "to 20 arms what does not depend on their number takes most of it; from 40 on it grows "
        "with their square. There are no numbers in the text."
    )

    def draw(self, table: Columns) -> "Picture":
        lines = {
            f"{parties} parties": rows_of(table, form=SECURE, parties=parties)
            for parties in _sizes(rows_of(table, form=SECURE), "parties")
        }
        lines["plain"] = rows_of(table, form=PLAIN)
        return _drawn(lines, "arms", MANY_ARMS, str(table["data"][0]))

    def found(self, table: Columns) -> Sequence[str]:
        rows = rows_of(table, form=SECURE, parties=2)
        times = {number(row["arms"]): number(row[PER_STEP]) for row in rows}
        plain = {number(row["arms"]): number(row[PER_STEP]) for row in rows_of(table, form=PLAIN)}
        least, most = min(times), max(times)
        few = {k: ms for k, ms in times.items() if k <= MANY_ARMS}
        many = {k: ms for k, ms in times.items() if k >= MANY_ARMS}
        return [
            (
                f"With 2 parties a step takes {times[least]:.2f} ms with {least:.0f} arms "
                f"and {times[most]:.2f} ms with {most:.0f}: it grows with the power "
                f"{_exponent(few):.2f} of their number up to {MANY_ARMS} arms and with the power "
                f"{_exponent(many):.2f} beyond, where the paper has 2."
            ),
            (
                f"That is {times[least] / plain[least]:.0f} times plain with "
                f"{least:.0f} arms, where the paper has nearly 500 times, and "
                f"{times[most] / plain[most]:.0f} times with {most:.0f}."
            ),
        ]


class PPCBTimeOverParties(RunningTime):
    """Figure 4."""

    name: ClassVar[str] = "ppcb-4"
    title: ClassVar[str] = "time of a step against the number of parties"
    paper: ClassVar[str] = (
        "Figure 4 shows the time against the number of parties, a line for each number of arms: it "
        "grows with the square, because all parties talk to each other in every round. There are "
        "no numbers in the text."
    )

    def draw(self, table: Columns) -> "Picture":
        secure = rows_of(table, form=SECURE)
        lines = {
            f"{arms} arms": rows_of(table, form=SECURE, arms=arms)
            for arms in _sizes(secure, "arms")
        }
        return _drawn(lines, "parties", 2, str(table["data"][0]))

    def found(self, table: Columns) -> Sequence[str]:
        said = []
        for arms in _sizes(rows_of(table, form=SECURE), "arms"):
            rows = rows_of(table, form=SECURE, arms=arms)
            first, last = rows[0], rows[-1]
            few, many = number(first["parties"]), number(last["parties"])
            said.append(
                f"{arms} arms: a step takes {number(first[PER_STEP]):.2f} ms with {few:.0f} "
                f"parties and {number(last[PER_STEP]):.2f} ms with {many:.0f}, "
                f"{number(last[PER_STEP]) / number(first[PER_STEP]):.2f} times as much, where the "
                f"square of their number is {(many / few) ** 2:.0f} times as large."
            )
        return said


def _sizes(rows: Sequence[Mapping[str, Cell]], name: str) -> list[int]:
    return sorted({int(number(row[name])) for row in rows})


def _exponent(times: Mapping[float, float]) -> float:
    """The power of the size with which times grow."""
    slope, _ = np.polyfit(np.log(list(times)), np.log(list(times.values())), 1)
    return float(slope)


def _drawn(
    lines: Mapping[str, Sequence[Mapping[str, Cell]]], x: str, begin: int, title: str
) -> "Picture":
    """A line for each set of rows, and a square that begins where the first one is at `begin`."""
    with plotting():
        figure = new_figure()
        (axes,) = figure.axes
        for i, (name, rows) in enumerate(lines.items()):
            sizes, times = ([number(row[column]) for row in rows] for column in (x, PER_STEP))
            axes.plot(sizes, times, color=COLOURS[i], marker=MARKERS[i], label=name)
        first = {number(row[x]): number(row[PER_STEP]) for row in next(iter(lines.values()))}
        square = {size: first[begin] * (size / begin) ** 2 for size in first if size >= begin}
        axes.plot(list(square), list(square.values()), "k:", label="the square, as in the paper")
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xticks(list(first), [f"{size:.0f}" for size in first])
        axes.minorticks_off()
        number_log_axis(axes.yaxis)
        axes.set(xlabel=f"number of {x}", ylabel=f"{PER_STEP}, all parties", title=title)
        figure.legend(loc="outside right center")
    figure.set_size_inches(7.6, figure.get_figheight())
    return figure
