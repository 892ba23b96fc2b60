"""Figure 8(d): the shares of a run's time that its participants take."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from lotor.core.frames import Columns, add_row, number, rows_of
from lotor.core.plotting import COLOURS, new_figure, plotting
from lotor.policies import UCB
from lotor.protocols.cell import AnyCell, Outcome, RunCell
from lotor.protocols.figure import DataFiles, Figure, Size
from lotor.protocols.samba.figures.setting import KEY_BITS, MOVIELENS, best, data_said
from lotor.protocols.samba.protocol import Samba

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture

PAPER, SHARED = "paper", "shared"
ARMS = (10, 100)
ROUNDS: dict[Size, dict[str, int]] = {
    "quick": {PAPER: 1_000, SHARED: 150},
    "full": {PAPER: 100_000, SHARED: 1_000},
}
COMP, CONTROLLER, OWNERS, CUSTOMER = "Comp", "Controller", "all owners", "customer"
ROLES = (COMP, CONTROLLER, OWNERS, CUSTOMER)
PARTIES = {"comp": COMP, "controller": CONTROLLER, "customer": CUSTOMER}


class SambaShares(Figure):
    """Figure 8(d)."""

    name: ClassVar[str] = "samba-8d"
    title: ClassVar[str] = "shares of the time that participants take"
    paper: ClassVar[str] = (
        "Figure 8(d) has the participants' shares of the time for N = 100,000, K = 10 and K = 100: "
        "Comp takes most, and the same share for both K; each owner takes an equal share, "
        "Controller about as much as one owner, and the customer next to nothing. There are no "
        "numbers in the text."
    )
    differs: ClassVar[str] = (
        "Here Controller costs about as much as Comp, or more, and far more than one of many "
        "owners, where the paper has Comp largest: parties exchange encoded messages, whose "
        "handling takes longer than AES-GCM itself, and every message passes through Controller. "
        "Comp makes as many AES-GCM operations as all owners together, but in one loop, without a "
        "message for each. Shares are of CPU time, with UCB and an owner for each arm, as in the "
        "paper; the shared form, Lotor's default, has fewer rounds and stands beside it."
    )

    def cells(self, size: Size, data: DataFiles) -> Sequence[AnyCell]:
        arms = MOVIELENS.all_arms(data.movielens)
        return [
            RunCell({"form": form, "K": k}, protocol, best(arms, k), budget, seed=7, alone=True)
            for k in ARMS
            for form, protocol, budget in (
                (PAPER, Samba(UCB(), form=PAPER, key_bits=KEY_BITS, owners=k), ROUNDS[size][PAPER]),
                (SHARED, Samba(UCB(), owners=k), ROUNDS[size][SHARED]),
            )
        ]

    def setting(self, size: Size, data: DataFiles) -> str:
        rounds = ROUNDS[size]
        return (
            f"{data_said(DataFiles(movielens=data.movielens)).partition(' and ')[0]}; UCB, K = 10 "
            f"and 100, N = {rounds[PAPER]:,}, in the shared form {rounds[SHARED]:,}."
        )

    def table(self, outcomes: Sequence[Outcome]) -> Columns:
        table: Columns = {}
        for one in outcomes:
            costs = {
                name.removeprefix("cpu of "): seconds
                for name, seconds in one.figures.items()
                if name.startswith("cpu of ")
            }
            whole = sum(costs.values())
            roles = {name: PARTIES.get(name, OWNERS) for name in costs}
            for role in ROLES:
                own = [costs[name] for name, its in roles.items() if its == role]
                if not own:
                    raise ValueError(f"nobody measured the CPU time of {role}")
                add_row(
                    table,
                    {
                        **one.labels,
                        "N": int(one.figures["rounds"]),
                        "participant": role,
                        "parties": len(own),
                        "cpu_seconds": sum(own),
                        "share": sum(own) / whole,
                    },
                )
        return table

    def draw(self, table: Columns) -> "Picture":
        bars = list(dict.fromkeys(zip(table["form"], table["K"], strict=True)))
        bars.sort(key=lambda bar: (bar[0] != PAPER, number(bar[1])))
        with plotting():
            figure = new_figure(height=3.2)
            (axes,) = figure.axes
            left = [0.0] * len(bars)
            for colour, role in zip(COLOURS, ROLES, strict=False):
                shares = [
                    100 * number(row["share"])
                    for form, k in bars
                    for row in rows_of(table, form=form, K=k, participant=role)
                ]
                axes.barh(range(len(bars)), shares, left=left, color=colour, label=role)
                for place, share in enumerate(shares):
                    if share >= 4:
                        middle = left[place] + share / 2
                        axes.text(
                            middle, place, f"{share:.0f} %", ha="center", va="center", color="white"
                        )
                left = [one + share for one, share in zip(left, shares, strict=True)]
            axes.set_yticks(range(len(bars)), [f"{form}, K = {k}" for form, k in bars])
            axes.invert_yaxis()
            axes.set(xlabel="per cent of the CPU time of all parties", xlim=(0, 100))
            axes.grid(visible=False, axis="y")
            figure.legend(loc="outside lower center", ncols=4)
        return figure

    def found(self, table: Columns) -> Sequence[str]:
        said = []
        for form in (PAPER, SHARED):
            for k in ARMS:
                rows = {row["participant"]: row for row in rows_of(table, form=form, K=k)}
                shares = {name: number(row["share"]) for name, row in rows.items()}
                owner = shares[OWNERS] / number(rows[OWNERS]["parties"])
                said.append(
                    f"Form {form}, K = {k}: Comp {shares[COMP]:.1%}, Controller "
                    f"{shares[CONTROLLER]:.1%}, each owner {owner:.2%}, the customer "
                    f"{shares[CUSTOMER]:.2%}. Controller takes "
                    f"{shares[CONTROLLER] / shares[COMP]:.2f} times what Comp takes, and "
                    f"{shares[CONTROLLER] / owner:.1f} times what an owner takes."
                )
        return said
