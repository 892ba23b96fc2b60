"""Figure 7: LinUCB-DS and SpectralUCB-DS over K = N = d."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from lotor.core.frames import Columns, number, rows_of
from lotor.core.plotting import COLOURS, MARKERS, new_figure, plotting
from lotor.environments.linear import LinearArms
from lotor.protocols.cell import AnyCell, Outcome, RunCell
from lotor.protocols.figure import DataFiles, Figure, Size, mean_rows
from lotor.protocols.linucb_ds.figures.setting import (
    CONSTANTS,
    KEY_BITS,
    LINUCB,
    NEIGHBOURS,
    SPECTRAL_UCB,
    STEPS,
    TIMES,
    data_said,
    forms_beside,
    in_turns,
    movie_arms,
    movie_graph,
    timed,
)
from lotor.protocols.linucb_ds.protocol import LinUCBDS, SpectralUCBDS
from lotor.protocols.protocol import Protocol

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture

SIZES: dict[Size, tuple[int, ...]] = {
    "quick": (15, 20, 30, 40),
    "full": (20, 30, 40, 50, 60, 80, 100),
}
REPEATS: dict[Size, int] = {"quick": 2, "full": 3}
FORMS = ("paper", "shared", "plain")
LINEAR, SPECTRAL = "LinUCB-DS", "SpectralUCB-DS"


class LinUCBBothAlgorithms(Figure):
    """Figure 7."""

    name: ClassVar[str] = "linucb-7"
    title: ClassVar[str] = "LinUCB-DS and SpectralUCB-DS, time over K = N = d"
    paper: ClassVar[str] = (
        "Figure 7 compares both protocols for K = N = d: SpectralUCB-DS is slightly faster, "
        "because its estimate comes from a matrix whose size depends on t, and t <= K. There are "
        "no numbers in the text."
    )
    differs: ClassVar[str] = (
        f"{STEPS}So both protocols do the same encrypted work here, and neither has the advantage "
        "that the paper sees: P inverts a matrix of d rows in clear for both. As in the paper, a "
        f"movie is joined to its {NEIGHBOURS} nearest in the space of factors; here an edge counts "
        "in both directions, which the eigenvectors of a Laplacian need. CPU seconds of all "
        "parties are compared, which other programs on the machine disturb least. Keys have 2048 "
        f"bits, which the paper does not say for this figure. {TIMES}{CONSTANTS}"
    )

    def cells(self, size: Size, data: DataFiles) -> Sequence[AnyCell]:
        found: list[RunCell] = []
        for k in SIZES[size]:
            pairs: list[tuple[str, LinUCBDS, LinearArms]] = [
                (
                    LINEAR,
                    LinUCBDS(LINUCB, key_bits=KEY_BITS, form="paper"),
                    movie_arms(data, k, k),
                ),
                (
                    SPECTRAL,
                    SpectralUCBDS(SPECTRAL_UCB, key_bits=KEY_BITS, form="paper"),
                    movie_graph(data, k),
                ),
            ]
            for algorithm, encrypted, arms in pairs:
                runs: dict[str, Protocol] = {"paper": encrypted, **forms_beside(encrypted)}
                for form, protocol in runs.items():
                    labels: dict[str, str | int] = {"algorithm": algorithm, "form": form, "K": k}
                    found += timed(labels, protocol, arms, k, REPEATS[size])
        return in_turns(found)

    def setting(self, size: Size, data: DataFiles) -> str:
        return (
            f"{data_said(data)}; K = N = d from {SIZES[size][0]} to {SIZES[size][-1]}, keys of "
            f"{KEY_BITS} bits; the mean of {REPEATS[size]} runs each."
        )

    def table(self, outcomes: Sequence[Outcome]) -> Columns:
        return mean_rows(outcomes, ("rounds", "seconds", "cpu_seconds"))

    def draw(self, table: Columns) -> "Picture":
        rows = rows_of(table)
        with plotting():
            figure = new_figure()
            (axes,) = figure.axes
            for i, form in enumerate(FORMS):
                for algorithm, style in ((LINEAR, "-"), (SPECTRAL, "--")):
                    own = [
                        row for row in rows if (row["form"], row["algorithm"]) == (form, algorithm)
                    ]
                    axes.plot(
                        [number(row["K"]) for row in own],
                        [number(row["cpu_seconds"]) for row in own],
                        style,
                        color=COLOURS[i],
                        marker=MARKERS[i],
                        markerfacecolor=COLOURS[i] if algorithm == LINEAR else "white",
                        label=f"{algorithm}, {form}",
                    )
            axes.set_yscale("log")
            axes.set(
                xlabel="K = N = d", ylabel="CPU seconds of a run, all parties", title=self.title
            )
            figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=3)
        return figure

    def found(self, table: Columns) -> Sequence[str]:
        rows = rows_of(table)
        times = {
            (row["algorithm"], row["form"], number(row["K"])): number(row["cpu_seconds"])
            for row in rows
        }
        sizes = sorted({k for _, _, k in times})
        said = []
        for form in FORMS:
            ratios = [times[SPECTRAL, form, k] / times[LINEAR, form, k] for k in sizes]
            said.append(
                f"In the form {form}, SpectralUCB-DS takes {min(ratios):.2f} to {max(ratios):.2f} "
                f"times as long as LinUCB-DS, {ratios[-1]:.2f} times at K = {sizes[-1]:.0f}."
                if form != "plain"
                else f"In plain SpectralUCB takes {min(ratios):.2f} to {max(ratios):.2f} times as "
                f"long as LinUCB, {ratios[-1]:.2f} times at K = {sizes[-1]:.0f}."
            )
        ratios = [times[SPECTRAL, "paper", k] / times[LINEAR, "paper", k] for k in sizes]
        faster = sum(ratio < 0.95 for ratio in ratios)
        said.append(
            f"In the paper's form SpectralUCB-DS is faster by more than a twentieth at {faster} of "
            f"{len(ratios)} sizes, where the paper has it slightly faster at all of them."
        )
        return said
