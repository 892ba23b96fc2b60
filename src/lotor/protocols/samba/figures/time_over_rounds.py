"""Figure 8(a): execution time against N."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from lotor.core.frames import Columns, number, rows_of, values_of
from lotor.core.plotting import new_figure, number_log_axis, plotting
from lotor.protocols.cell import AnyCell, Outcome
from lotor.protocols.figure import DataFiles, Figure, Size, mean_rows
from lotor.protocols.samba.figures.setting import (
    KEY_BITS,
    PURSUIT,
    UCB_NAME,
    best,
    data_said,
    rating_sets,
)
from lotor.protocols.samba.figures.timing import (
    PAPER,
    PLAIN,
    SHARED,
    TIMES,
    add_form_legend,
    draw_lines,
    overheads,
    protocols_of,
    range_said,
    timed,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture

ARMS: dict[Size, int] = {"quick": 20, "full": 100}
ROUNDS: dict[Size, tuple[int, ...]] = {
    "quick": (500, 1_000, 2_000),
    "full": (50_000, 75_000, 100_000),
}
SHARED_ROUNDS: dict[Size, tuple[int, ...]] = {"quick": (250, 500), "full": (5_000, 10_000)}


class SambaTimeOverRounds(Figure):
    """Figure 8(a)."""

    name: ClassVar[str] = "samba-8a"
    title: ClassVar[str] = "execution time against N, six policies"
    paper: ClassVar[str] = (
        "Figure 8(a) has the time of six policies against N from 50,000 to 100,000, K = 100: it is "
        "linear in N, and SAMBA takes at most an order of magnitude more than plain. At the "
        "largest size most policies take around 15 minutes, and Pursuit, which has two iterations "
        "a round, twice as long. Shapes and order are the same on MovieLens and Jester."
    )
    differs: ClassVar[str] = (
        f"{TIMES} The shared form has fewer rounds, since its time is linear in N as well. Time "
        "does not depend on what arms pay, so that all policies run on one data set, and UCB on "
        "the other, too."
    )

    def cells(self, size: Size, data: DataFiles) -> Sequence[AnyCell]:
        found: list[AnyCell] = []
        budgets = {PAPER: ROUNDS[size], SHARED: SHARED_ROUNDS[size]}
        budgets[PLAIN] = (*SHARED_ROUNDS[size], *ROUNDS[size])
        for place, (ratings, path) in enumerate(rating_sets(data)):
            arms = best(ratings.all_arms(path), ARMS[size])
            policies = ratings.policies()
            for name in policies if place == 0 else (UCB_NAME,):
                for form, protocol in protocols_of(policies[name]).items():
                    if place == 0 or form == PAPER:
                        labels = {"data": ratings.called(path), "policy": name, "form": form}
                        found += [timed(labels, protocol, arms, n) for n in budgets[form]]
        return found

    def setting(self, size: Size, data: DataFiles) -> str:
        return (
            f"{data_said(data)}; K = {ARMS[size]}, N from {ROUNDS[size][0]:,} to "
            f"{ROUNDS[size][-1]:,}, in the shared form from {SHARED_ROUNDS[size][0]:,} to "
            f"{SHARED_ROUNDS[size][-1]:,}; the customer's key has {KEY_BITS} bits."
        )

    def table(self, outcomes: Sequence[Outcome]) -> Columns:
        return mean_rows(outcomes, ("rounds", "cpu_seconds", "seconds", "bytes_sent"))

    def draw(self, table: Columns) -> "Picture":
        data = values_of(table, "data")[0]
        with plotting():
            figure = new_figure()
            (axes,) = figure.axes
            draw_lines(axes, table, data, "N", "cpu_seconds")
            add_form_legend(axes)
            axes.set_xscale("log")
            number_log_axis(axes.xaxis)
            axes.set_yscale("log")
            k = number(table["K"][0])
            axes.set(title=f"{data}, K = {k:.0f}", xlabel="N", ylabel="CPU seconds of a run")
            figure.legend(loc="outside right center")
        figure.set_size_inches(7.6, figure.get_figheight())
        return figure

    def found(self, table: Columns) -> Sequence[str]:
        main, other = values_of(table, "data")
        own = {
            (str(row["policy"]), number(row["N"])): number(row["cpu_seconds"])
            for row in rows_of(table, data=main, form=PAPER)
        }
        first, last = (f(n for _, n in own) for f in (min, max))
        paper = overheads(table, PAPER, "cpu_seconds", data=main)
        shared = overheads(table, SHARED, "cpu_seconds", data=main)
        ucb = own[UCB_NAME, last]
        jester = [
            number(row["cpu_seconds"]) for row in rows_of(table, data=other, form=PAPER, N=last)
        ]
        grew, rounds = ucb / own[UCB_NAME, first], last / first
        both = [
            f"Overhead of the {name}: {range_said(list(ratios.values()))} times plain (UCB "
            f"{ratios[UCB_NAME]:.0f}); the paper has at most an order of magnitude."
            for name, ratios in (("paper's form", paper), ("shared form", shared))
        ]
        return [
            (
                f"At N = {last:,.0f} UCB takes {ucb:.3g} s in the paper's form, and Pursuit "
                f"{own[PURSUIT, last] / ucb:.1f} times as long. From N = {first:,.0f} on, UCB's "
                f"time grew {grew:.2f} times, and N {rounds:.2f} times: the encryption of the "
                "total at the end does not grow."
            ),
            *both,
            f"UCB on the {other} takes {jester[0] / ucb:.2f} times what it takes on the {main}.",
        ]
