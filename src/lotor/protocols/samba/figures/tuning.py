"""Appendix C: which parameters give the largest reward."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from lotor.core.frames import Columns, add_row, number, rows_of, values_of
from lotor.core.plotting import COLOURS, MARKERS, new_figure, plotting
from lotor.policies import EpsilonGreedy, Policy, Pursuit, Softmax
from lotor.protocols.cell import AnyCell, Label, Outcome, RunCell
from lotor.protocols.figure import DataFiles, Figure, Size, grouped, summary
from lotor.protocols.samba.figures.setting import FIXED, PURSUIT, SOFTMAX, data_said, rating_sets

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture

K = 100
ROUNDS: dict[Size, int] = {"quick": 10_000, "full": 100_000}
RUNS: dict[Size, int] = {"quick": 3, "full": 10}
SYMBOLS = {FIXED: "epsilon", SOFTMAX: "tau", PURSUIT: "beta"}


class SambaTuning(Figure):
    """Appendix C."""

    name: ClassVar[str] = "samba-c"
    title: ClassVar[str] = "reward against the parameters of three policies"
    paper: ClassVar[str] = (
        "Appendix C tries epsilon in 0, 0.1, …, 1, tau in 0, 0.01, …, 0.1 and Pursuit's rate in "
        "0, 0.1, …, 1, and takes what gives the largest reward: epsilon = 0.1 for both data sets, "
        "tau = 0.06 for MovieLens and 0.02 for Jester, Pursuit's rate 0.1 and 0.2."
    )
    differs: ClassVar[str] = (
        "The paper does not say how many rounds and runs it tuned with; here K = 100, as in "
        "Figure 8. With tau = 0 Softmax always takes the best mean, and with beta = 0 Pursuit "
        "never moves away from equal chances. Pursuit's rewards vary by "
        "thousands from run to run, because it may settle on a bad arm for good, so that its best "
        "rate is uncertain even with many runs."
    )
    published: ClassVar[Mapping[str, Sequence[Label]]] = {
        "data": ("MovieLens", "Jester") * 3,
        "policy": (FIXED, FIXED, SOFTMAX, SOFTMAX, PURSUIT, PURSUIT),
        "value": (0.1, 0.1, 0.06, 0.02, 0.1, 0.2),
    }

    def cells(self, size: Size, data: DataFiles) -> Sequence[AnyCell]:
        found: list[AnyCell] = []
        for ratings, path in rating_sets(data):
            arms = ratings.all_arms(path)
            for (name, value), policy in _tried().items():
                labels: dict[str, Label] = {
                    "data": ratings.called(path),
                    "policy": name,
                    "parameter": SYMBOLS[name],
                    "value": value,
                }
                found += [
                    RunCell(labels, policy, arms, ROUNDS[size], seed) for seed in range(RUNS[size])
                ]
        return found

    def setting(self, size: Size, data: DataFiles) -> str:
        return (
            f"{data_said(data)}; K = {K}, N = {ROUNDS[size]:,}; the mean of {RUNS[size]} runs each."
        )

    def table(self, outcomes: Sequence[Outcome]) -> Columns:
        table: Columns = {}
        for labels, runs in grouped(outcomes).items():
            rewards = np.array([one.figures["reward"] for one in runs])
            rounds = int(runs[0].figures["rounds"])
            add_row(table, {**dict(labels), "N": rounds, **summary("reward", rewards)})
        return table

    def draw(self, table: Columns) -> "Picture":
        with plotting():
            figure = new_figure(3, height=3.4)
            for axes, (policy, symbol) in zip(figure.axes, SYMBOLS.items(), strict=True):
                for i, data in enumerate(values_of(table, "data")):
                    rows = rows_of(table, data=data, policy=policy)
                    values = [number(row["value"]) for row in rows]
                    rewards = [number(row["reward"]) for row in rows]
                    errors = [number(row["standard error"]) for row in rows]
                    axes.errorbar(
                        values,
                        rewards,
                        [2 * error for error in errors],
                        marker=MARKERS[i],
                        color=COLOURS[i],
                        markersize=4,
                        label=data,
                    )
                    chosen = self._published(data, policy)
                    axes.axvline(
                        chosen, color=COLOURS[i], ls=(i, (2, 2)), lw=1, label=f"paper's, {data}"
                    )
                axes.set(title=policy, xlabel=symbol, ylabel="reward")
            handles, labels = figure.axes[0].get_legend_handles_labels()
            figure.legend(handles, labels, loc="outside lower center", ncols=4)
        return figure

    def _published(self, data: str, policy: str) -> float:
        """The paper's choice for a data set, or for the one that a look-alike resembles."""
        columns = zip(*self.published.values(), strict=True)
        (value,) = (one for name, its, one in columns if str(name) in data and its == policy)
        return float(value)

    def found(self, table: Columns) -> Sequence[str]:
        said = []
        for data in values_of(table, "data"):
            for policy, symbol in SYMBOLS.items():
                rows = rows_of(table, data=data, policy=policy)
                top = max(rows, key=lambda row: number(row["reward"]))
                published = self._published(data, policy)
                (theirs,) = (row for row in rows if row["value"] == published)
                said.append(
                    f"{data}, {policy}: {symbol} = {top['value']} is best with "
                    f"{number(top['reward']):,.0f} ± {number(top['standard error']):,.0f}; "
                    f"the paper's {published} gives {number(theirs['reward']):,.0f} ± "
                    f"{number(theirs['standard error']):,.0f}."
                )
        return said


def _tried() -> dict[tuple[str, float], Policy]:
    """Every policy with every value that the paper tried."""
    epsilons = {(FIXED, value): EpsilonGreedy(value) for value in EpsilonGreedy.grid["epsilon"]}
    taus = {(SOFTMAX, value): Softmax(value) for value in Softmax.grid["tau"]}
    betas = {(PURSUIT, value): Pursuit(value) for value in Pursuit.grid["beta"]}
    return {**epsilons, **taus, **betas}
