"""Figure 8(c): the cumulative reward against N."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from lotor.core.frames import Cell, Columns, add_row, number, rows_of, values_of
from lotor.core.plotting import COLOURS, MARKERS, new_figure, plotting
from lotor.protocols.cell import AnyCell, Label, Outcome, RunCell
from lotor.protocols.figure import DataFiles, Figure, Size, grouped, summary
from lotor.protocols.samba.figures.setting import (
    DECREASING,
    FIXED,
    POLICIES,
    PURSUIT,
    SOFTMAX,
    THOMPSON,
    UCB_NAME,
    data_said,
    rating_sets,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Picture

K, N = 100, 100_000
ROUNDS: dict[Size, int] = {"quick": 30_000, "full": N}
RUNS: dict[Size, int] = {"quick": 2, "full": 50}


class SambaReward(Figure):
    """Figure 8(c)."""

    name: ClassVar[str] = "samba-8c"
    title: ClassVar[str] = f"cumulative reward against N, K = {K}"
    paper: ClassVar[str] = (
        f"Figure 8(c) shows the cumulative reward of six policies against N, K = {K}, as means "
        "over 50 runs on MovieLens and Jester. The data sets rank the policies differently; "
        "Thompson Sampling is the best on both. The numbers drawn here are from the results that "
        f"the authors published with their program, MovieLens at N = {N:,}."
    )
    differs: ClassVar[str] = (
        "Runs here are independent. In the authors' program all arms share one uniform draw a "
        "round, and Thompson Sampling's Beta draws are seeded alike for all arms, so that their "
        "means differ from those of independent draws, most of all Thompson Sampling's and "
        "Pursuit's. The decreasing epsilon is 1/log2 t, as in the program that made the published "
        "numbers; the text has 1/ln t. Runs are in plain: SAMBA gives literally the same rewards "
        "(Theorem 2), which the tests check arm by arm. Arms are the published ones: ratings of at "
        "least 4 (MovieLens) or 4.5 (Jester) divided by the number of users, where the text "
        "divides by the number of ratings."
    )
    published: ClassVar[Mapping[str, Sequence[Label]]] = {
        "data": ("MovieLens",) * 6,
        "policy": (FIXED, DECREASING, SOFTMAX, UCB_NAME, THOMPSON, PURSUIT),
        "N": (N,) * 6,
        "reward": (48021, 49569, 47811, 47955, 52593, 45181),
    }

    def cells(self, size: Size, data: DataFiles) -> Sequence[AnyCell]:
        rounds = ROUNDS[size]
        at = tuple(range(rounds // 2, rounds + 1, rounds // 10))
        found: list[AnyCell] = []
        for ratings, path in rating_sets(data):
            arms = ratings.all_arms(path)
            for name, policy in ratings.policies().items():
                labels = {"data": ratings.called(path), "policy": name}
                found += [
                    RunCell(labels, policy, arms, rounds, seed, at=at) for seed in range(RUNS[size])
                ]
        return found

    def setting(self, size: Size, data: DataFiles) -> str:
        return (
            f"{data_said(data)}; K = {K}, N up to {ROUNDS[size]:,}; the mean of {RUNS[size]} runs "
            "each."
        )

    def table(self, outcomes: Sequence[Outcome]) -> Columns:
        table: Columns = {}
        for labels, runs in grouped(outcomes).items():
            totals = np.array([one.rewards for one in runs])
            for place, rounds in enumerate(runs[0].at):
                rewards = summary("reward", totals[:, place])
                add_row(table, {**dict(labels), "N": rounds, **rewards})
        return table

    def draw(self, table: Columns) -> "Picture":
        sets = values_of(table, "data")
        with plotting():
            figure = new_figure(len(sets))
            for axes, data in zip(figure.axes, sets, strict=True):
                self._draw_one(axes, table, data)
            handles, labels = figure.axes[0].get_legend_handles_labels()
            figure.legend(handles, labels, loc="outside lower center", ncols=4)
        return figure

    def _draw_one(self, axes: "Axes", table: Columns, data: str) -> None:
        for i, policy in enumerate(POLICIES):
            rows = rows_of(table, data=data, policy=policy)
            rounds = [number(row["N"]) for row in rows]
            means = np.array([number(row["reward"]) for row in rows])
            axes.plot(rounds, means, marker=MARKERS[i], markersize=4, label=policy)
            if rows[0]["standard error"] is not None:
                errors = 2 * np.array([number(row["standard error"]) for row in rows])
                axes.fill_between(
                    rounds, means - errors, means + errors, alpha=0.15, color=COLOURS[i], lw=0
                )
        axes.set(title=data, xlabel="N", ylabel="cumulative reward")
        last = max(number(row["N"]) for row in rows_of(table, data=data))
        for place, row in enumerate(rows_of(self.published, data=data, N=last)):
            axes.plot(
                last * 1.03,
                number(row["reward"]),
                marker="_",
                markersize=12,
                markeredgewidth=2,
                color=COLOURS[POLICIES.index(str(row["policy"]))],
                label=None if place else "published, with draws that arms share",
                linestyle="none",
            )

    def found(self, table: Columns) -> Sequence[str]:
        said = []
        for data in values_of(table, "data"):
            last = max(number(row["N"]) for row in rows_of(table, data=data))
            rows = rows_of(table, data=data, N=last)
            rows.sort(key=lambda row: -number(row["reward"]))
            ranks = ", ".join(f"{row['policy']} {_with_error(row)}" for row in rows)
            said.append(f"{data}, N = {last:,.0f}, best first, with standard errors: {ranks}.")
            said += self._beside(data, rows, last)
        return said

    def _beside(self, data: str, rows: Sequence[Mapping[str, Cell]], rounds: float) -> list[str]:
        """Ours beside what was published of the same data and size."""
        ours = {row["policy"]: number(row["reward"]) for row in rows}
        return [
            f"{one['policy']}: {ours[one['policy']]:,.0f} here, "
            f"{number(one['reward']):,.0f} published."
            for one in rows_of(self.published, data=data, N=rounds)
        ]


def _with_error(row: Mapping[str, object]) -> str:
    text = f"{row['reward']:,.0f}"
    return text if row["standard error"] is None else f"{text} ± {row['standard error']:,.0f}"
