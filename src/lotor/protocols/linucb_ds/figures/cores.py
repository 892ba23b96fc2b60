"""Figures 6(a) and 6(b): the time of a run against cores, split by step."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from lotor.core.frames import Columns, number, rows_of
from lotor.core.plotting import COLOURS, new_figure, plotting
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

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture

N = 200
P_CPU, COMP_CPU, ALL_CPU = "cpu of principal", "cpu of comp", "cpu_seconds"
PARTS = {
    P_CPU: "CPU of P: step (3).ii",
    COMP_CPU: "CPU of Comp: step (4).i",
    "rest": "CPU of everything else",
}


class LinUCBManyArms(Figure):
    """Figure 6(a)."""

    name: ClassVar[str] = "linucb-6a"
    k: ClassVar[int] = 50
    d: ClassVar[int] = 5
    title: ClassVar[str] = f"time against cores, by step: K = 50, d = 5, N = {N}"
    paper: ClassVar[str] = (
        "Figure 6(a) splits the time of LinUCB-DS into its three costliest steps, for K = 50, "
        "d = 5, N = 200 and keys of 2048 bits: P computes theta-hat* in (3).i and the scores in "
        "(3).ii, Comp decrypts them in (4).i. The time falls as cores are added. There are no "
        "numbers in the text."
    )
    differs: ClassVar[str] = (
        f"{STEPS}Bars are CPU seconds of each party, its helpers included; the marks are the time "
        "that passed, which is what more cores can make shorter. `workers` says how many "
        "processes each cloud uses. A round has only milliseconds of work, and handing parts of it "
        "to another process costs some of what is gained, or more than that where other programs "
        f"keep the cores busy. {TIMES}{CONSTANTS}"
    )

    def cells(self, size: Size, data: DataFiles) -> Sequence[AnyCell]:
        arms = movie_arms(data, self.k, self.d)
        cores, repeats = ((1, 2), 2) if size == "quick" else ((1, 2, 4), 3)
        found: list[RunCell] = []
        for count in cores:
            protocol = LinUCBDS(LINUCB, key_bits=KEY_BITS, workers=count, form="paper")
            found += timed({"form": "paper", "cores": count}, protocol, arms, N, repeats)
        for form, other in forms_beside(LinUCBDS(LINUCB)).items():
            found += timed({"form": form, "cores": 1}, other, arms, N, repeats)
        return in_turns(found)

    def setting(self, size: Size, data: DataFiles) -> str:
        runs = "the mean of two runs each" if size == "quick" else "the mean of three runs each"
        return (
            f"{data_said(data)}; K = {self.k}, d = {self.d}, N = {N}, keys of {KEY_BITS} bits; "
            f"{runs}."
        )

    def table(self, outcomes: Sequence[Outcome]) -> Columns:
        return mean_rows(outcomes, ("rounds", "seconds", ALL_CPU, P_CPU, COMP_CPU))

    def draw(self, table: Columns) -> "Picture":
        rows = rows_of(table)
        names = [
            f"{row['form']}\n{row['cores']} {'core' if row['cores'] == 1 else 'cores'}"
            for row in rows
        ]
        # Plain has neither P nor Comp.
        parts = {
            name: [0.0 if row["form"] == "plain" else number(row[name]) for row in rows]
            for name in (P_CPU, COMP_CPU)
        }
        parts["rest"] = [
            max(0.0, number(row[ALL_CPU]) - of_p - of_comp)
            for row, of_p, of_comp in zip(rows, parts[P_CPU], parts[COMP_CPU], strict=True)
        ]
        with plotting():
            figure = new_figure()
            (axes,) = figure.axes
            base = [0.0] * len(rows)
            for colour, (part, text) in zip(COLOURS, PARTS.items(), strict=False):
                axes.bar(range(len(rows)), parts[part], 0.6, base, color=colour, label=text)
                base = [low + more for low, more in zip(base, parts[part], strict=True)]
            elapsed = [number(row["seconds"]) for row in rows]
            axes.plot([i + 0.3 for i in range(len(rows))], elapsed, "kD", label="time that passed")
            for place, value in enumerate(elapsed):
                axes.annotate(f"   {short(value)} s", (place + 0.3, value), va="center")
            axes.set_xticks(range(len(rows)), names)
            axes.set_xlim(-0.5, len(rows) - 0.3)
            axes.margins(y=0.15)
            rounds = number(rows[0]["rounds"])
            axes.set(ylabel="seconds", title=f"K = {self.k}, d = {self.d}, N = {rounds:.0f}")
            axes.grid(visible=False, axis="x")
            axes.legend()
        return figure

    def found(self, table: Columns) -> Sequence[str]:
        rows = rows_of(table)
        encrypted = {row["cores"]: row for row in rows if row["form"] == "paper"}
        one = encrypted[1]
        seconds = number(one["seconds"])
        beside = {str(row["form"]): number(row["seconds"]) for row in rows if row is not one}
        of_p, of_comp = (short(number(one[name])) for name in (P_CPU, COMP_CPU))
        said = [
            (
                f"With one core the paper's form takes {short(seconds)} s, of which P computes for "
                f"{of_p} s and Comp for {of_comp} s (CPU); the shared form takes "
                f"{short(beside['shared'])} s and plain {short(beside['plain'])} s."
            )
        ]
        if warning := disturbed([row for row in rows if row["cores"] == 1]):
            return said + warning
        for cores, row in encrypted.items():
            ratio = number(row["seconds"]) / seconds
            if cores != 1:
                verdict = "not faster than one" if ratio > 0.95 else "faster than one"
                busy = number(row[ALL_CPU]) / number(one[ALL_CPU])
                said.append(
                    f"With {cores} workers at each cloud the same takes "
                    f"{short(number(row['seconds']))} s, {ratio:.2f} times as long, and {busy:.2f} "
                    f"times the CPU: {verdict} at this size. In the paper the time falls."
                )
        return said


class LinUCBManyDimensions(LinUCBManyArms):
    """Figure 6(b)."""

    name: ClassVar[str] = "linucb-6b"
    k: ClassVar[int] = 6
    d: ClassVar[int] = 18
    title: ClassVar[str] = f"time against cores, by step: K = 6, d = 18, N = {N}"
    paper: ClassVar[str] = (
        "Figure 6(b) is Figure 6(a) for K = 6, d = 18 and N = 200, where step (3).i, which depends "
        "on d alone, takes a larger part. There are no numbers in the text."
    )
