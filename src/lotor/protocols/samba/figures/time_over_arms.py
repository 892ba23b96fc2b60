"""Figure 8(b): execution time against K."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from lotor.core.frames import Columns, number, rows_of
from lotor.core.plotting import COLOURS, new_figure, plotting
from lotor.protocols.cell import AnyCell, Outcome
from lotor.protocols.figure import DataFiles, Figure, Size, mean_rows
from lotor.protocols.samba.figures.setting import (
    KEY_BITS,
    MOVIELENS,
    POLICIES,
    UCB_NAME,
    best,
    data_said,
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
from lotor.protocols.samba.protocol import Samba

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture

ARMS: dict[Size, tuple[int, ...]] = {"quick": (10, 20, 40), "full": (10, 25, 50, 75, 100)}
ROUNDS: dict[Size, int] = {"quick": 1_000, "full": 100_000}
SHORT: dict[Size, int] = {"quick": 200, "full": 2_000}
OWNERS = "paper, an owner for each arm"
PER_ROUND = "CPU milliseconds a round"


class SambaTimeOverArms(Figure):
    """Figure 8(b)."""

    name: ClassVar[str] = "samba-8b"
    title: ClassVar[str] = "execution time against K, six policies"
    paper: ClassVar[str] = (
        "Figure 8(b) has the time of six policies against K from 10 to 100, N = 100,000: it is "
        "linear in K, steeper than in N because of the K Paillier encryptions at the end, and "
        "SAMBA takes at most an order of magnitude more than plain."
    )
    differs: ClassVar[str] = (
        f"{TIMES} Drawn is the time of a round, the total at the end included, so that forms with "
        "different N can stand side by side: the shared form, and UCB with an owner for each arm "
        "as in the paper, have fewer rounds. At the quick size the Paillier operations at the end "
        "are spread over few rounds and weigh more. Times do not depend on what arms pay "
        "(samba-8a compares), so that one data set is enough."
    )

    def cells(self, size: Size, data: DataFiles) -> Sequence[AnyCell]:
        arms = MOVIELENS.all_arms(data.movielens)
        budgets = {
            PLAIN: (ROUNDS[size], SHORT[size]),
            PAPER: (ROUNDS[size],),
            SHARED: (SHORT[size],),
        }
        called = MOVIELENS.called(data.movielens)
        found: list[AnyCell] = []
        for k in ARMS[size]:
            some = best(arms, k)
            for name, policy in MOVIELENS.policies().items():
                labels = {"data": called, "policy": name}
                for form, protocol in protocols_of(policy).items():
                    found += [
                        timed({**labels, "form": form}, protocol, some, n) for n in budgets[form]
                    ]
                if name == UCB_NAME:
                    apart = Samba(policy, form="paper", key_bits=KEY_BITS, owners=k)
                    found.append(timed({**labels, "form": OWNERS}, apart, some, SHORT[size]))
        return found

    def setting(self, size: Size, data: DataFiles) -> str:
        return (
            f"{data_said(DataFiles(movielens=data.movielens)).partition(' and ')[0]}; K from "
            f"{ARMS[size][0]} to {ARMS[size][-1]}, N = {ROUNDS[size]:,}, and {SHORT[size]:,} in "
            f"the shared form and with many owners; the customer's key has {KEY_BITS} bits."
        )

    def table(self, outcomes: Sequence[Outcome]) -> Columns:
        table = mean_rows(outcomes, ("rounds", "cpu_seconds", "seconds", "bytes_sent"))
        table[PER_ROUND] = [
            1e3 * number(seconds) / number(rounds)
            for seconds, rounds in zip(table["cpu_seconds"], table["rounds"], strict=True)
        ]
        return table

    def draw(self, table: Columns) -> "Picture":
        data = str(table["data"][0])
        short = min(number(n) for n in table["N"])
        shown = [row for row in rows_of(table) if row["form"] != PLAIN or row["N"] != short]
        drawn: Columns = {name: [row[name] for row in shown] for name in table}
        with plotting():
            figure = new_figure()
            (axes,) = figure.axes
            draw_lines(axes, drawn, data, "K", PER_ROUND)
            rows = rows_of(drawn, form=OWNERS)
            axes.plot(
                [number(row["K"]) for row in rows],
                [number(row[PER_ROUND]) for row in rows],
                "-.",
                color=COLOURS[POLICIES.index(UCB_NAME)],
                label="UCB, paper,\nan owner for each arm",
            )
            add_form_legend(axes)
            axes.set_xscale("log")
            axes.set_yscale("log")
            ticks = sorted({int(number(k)) for k in table["K"]})
            axes.set_xticks(ticks, [str(k) for k in ticks])
            axes.minorticks_off()
            axes.set(title=data, xlabel="K", ylabel=PER_ROUND)
            figure.legend(loc="outside right center")
        figure.set_size_inches(7.6, figure.get_figheight())
        return figure

    def found(self, table: Columns) -> Sequence[str]:
        own = {number(row["K"]): row for row in rows_of(table, policy=UCB_NAME, form=PAPER)}
        first, last = min(own), max(own)
        said = [
            (
                f"From K = {first:.0f} to {last:.0f} the time of a round of UCB grows "
                f"{number(own[last][PER_ROUND]) / number(own[first][PER_ROUND]):.1f} times in the "
                f"paper's form, and K {last / first:.0f} times."
            )
        ]
        for form in (PAPER, SHARED):
            ratios = {
                k: list(overheads(table, form, "cpu_seconds", K=int(k)).values())
                for k in (first, last)
            }
            said.append(
                f"Overhead of the form {form}: {range_said(ratios[first])} times plain at K = "
                f"{first:.0f}, {range_said(ratios[last])} times at K = {last:.0f}. The paper has "
                "at most an order of magnitude."
            )
        (apart,) = rows_of(table, form=OWNERS, K=int(last))
        (plain,) = rows_of(table, form=PLAIN, policy=UCB_NAME, K=int(last), N=apart["N"])
        said.append(
            f"With an owner for each of {last:.0f} arms, as in the paper, UCB takes "
            f"{number(apart['cpu_seconds']) / number(plain['cpu_seconds']):.0f} times plain: "
            "scores are then no longer computed as one vector, and plain's still are."
        )
        return said
