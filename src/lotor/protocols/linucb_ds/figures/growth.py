"""Figure 6(c): the time of a run as K and d grow."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from lotor.core.frames import Columns, number, rows_of
from lotor.core.plotting import COLOURS, MARKERS, new_figure, plotting
from lotor.protocols.cell import AnyCell, Outcome, RunCell
from lotor.protocols.figure import DataFiles, Figure, Size, mean_rows
from lotor.protocols.linucb_ds.figures.setting import (
    CONSTANTS,
    KEY_BITS,
    LINUCB,
    STEPS,
    TIMES,
    data_said,
    disturbed,
    forms_beside,
    in_turns,
    movie_arms,
    short,
    timed,
)
from lotor.protocols.linucb_ds.protocol import LinUCBDS
from lotor.protocols.protocol import Protocol

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture

SIZES: dict[Size, tuple[int, ...]] = {"quick": (50, 100, 150), "full": (50, 100, 150, 200)}
ROUNDS: dict[Size, int] = {"quick": 50, "full": 200}
REPEATS: dict[Size, int] = {"quick": 1, "full": 2}
ENCRYPTED = ("paper, 1 core", "paper, 2 cores")


class LinUCBGrowth(Figure):
    """Figure 6(c)."""

    name: ClassVar[str] = "linucb-6c"
    title: ClassVar[str] = "time as K grows, with d = K/10"
    paper: ClassVar[str] = (
        "Figure 6(c) lets K grow, with d = K/10 and N = 200, keys of 2048 bits: the time grows as "
        "the analysis says, with K d, and falls with more cores. There are no numbers in the text."
    )
    differs: ClassVar[str] = (
        f"{STEPS}The K of the paper's axis are not in its text; those here are chosen for minutes "
        f"of work. {TIMES}{CONSTANTS}"
    )

    def cells(self, size: Size, data: DataFiles) -> Sequence[AnyCell]:
        encrypted = {
            form: LinUCBDS(LINUCB, key_bits=KEY_BITS, workers=count, form="paper")
            for count, form in enumerate(ENCRYPTED, 1)
        }
        runs: dict[str, Protocol] = {**encrypted, **forms_beside(LinUCBDS(LINUCB))}
        found: list[RunCell] = []
        for k in SIZES[size]:
            arms = movie_arms(data, k, k // 10)
            for form, protocol in runs.items():
                labels: dict[str, str | int] = {"form": form, "K": k, "d": k // 10}
                found += timed(labels, protocol, arms, ROUNDS[size], REPEATS[size])
        return in_turns(found)

    def setting(self, size: Size, data: DataFiles) -> str:
        runs = "one run each" if size == "quick" else "the mean of two runs each"
        return (
            f"{data_said(data)}; K from {SIZES[size][0]} to {SIZES[size][-1]}, d = K/10, "
            f"N = {ROUNDS[size]}, keys of {KEY_BITS} bits; {runs}."
        )

    def table(self, outcomes: Sequence[Outcome]) -> Columns:
        parties = ("cpu of principal", "cpu of comp")
        table = mean_rows(outcomes, ("rounds", "seconds", "cpu_seconds", *parties))
        table["ms a round"] = [
            1e3 * number(seconds) / number(rounds)
            for seconds, rounds in zip(table["seconds"], table["rounds"], strict=True)
        ]
        return table

    def draw(self, table: Columns) -> "Picture":
        rows = rows_of(table)
        with plotting():
            figure = new_figure()
            (axes,) = figure.axes
            forms = dict.fromkeys(str(row["form"]) for row in rows)
            for i, form in enumerate(forms):
                own = [row for row in rows if row["form"] == form]
                x, y = ([number(row[name]) for row in own] for name in ("K", "ms a round"))
                axes.plot(x, y, color=COLOURS[i], marker=MARKERS[i], label=form)
            axes.set_yscale("log")
            axes.set(xlabel="K, with d = K/10", ylabel="ms a round, all parties", title=self.title)
            axes.legend(loc="center right")
        return figure

    def found(self, table: Columns) -> Sequence[str]:
        rows = rows_of(table)
        times = {(str(row["form"]), number(row["K"])): number(row["ms a round"]) for row in rows}
        sizes = sorted({k for _, k in times})
        small, large = sizes[0], sizes[-1]
        one, two = ENCRYPTED
        growth = times[one, large] / times[one, small]
        workers = ", ".join(f"{times[two, k] / times[one, k]:.2f} at K = {k:.0f}" for k in sizes)
        first, last, shared, plain = (
            short(times[place])
            for place in ((one, small), (one, large), ("shared", large), ("plain", large))
        )
        return [
            (
                f"A round of the paper's form takes {first} ms at K = {small:.0f} and {last} ms at "
                f"K = {large:.0f}: {growth:.1f} times as much, where K d is "
                f"{(large / small) ** 2:.1f} times as large."
            ),
            (
                "With two workers at each cloud it takes this many times as long as with one: "
                f"{workers}."
            ),
            (
                f"At K = {large:.0f} the shared form takes {shared} ms a round, which is "
                f"{times['shared', large] / times[one, large]:.2f} times what the paper's form "
                f"takes, and plain {plain} ms."
            ),
            *disturbed([row for row in rows if row["form"] != two]),
        ]
