"""Figures 2 and 5: the average reward against the privacy of one step."""

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from lotor.core.frames import Cell, Columns, add_row, number, rows_of
from lotor.core.plotting import COLOURS, MARKERS, new_figure, plotting
from lotor.environments import ContextualArms
from lotor.policies.contextual import LinearEpsilonGreedy
from lotor.privacy import Accountant
from lotor.protocols.cell import AnyCell, Label, Outcome, RunCell
from lotor.protocols.figure import DataFiles, Figure, Size, grouped, summary
from lotor.protocols.ppcb.figures.setting import (
    CLUSTERS,
    DIGITS,
    PLAIN_RUNS,
    called,
    clusters,
    data_said,
    digits,
    in_order,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Picture

TRIED = (0.0, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
"""The epsilons; with 0 nothing is explored, and η is infinite."""
RUNS = 5
LENGTHS: dict[Size, tuple[int, ...]] = {
    "quick": (1_000, 3_000, 10_000),
    "full": (1_000, 10_000, 60_000),
}
ARMS = (10, 20, 50, 100)
CLUSTERED_IMAGES: dict[Size, int] = {"quick": 5_000, "full": 60_000}
CLUSTERED_RUNS: dict[Size, int] = {"quick": 2, "full": 5}
GAP = 1.5
"""How far to the right of the last η infinity is drawn."""
OF_ONE_STEP = (
    "η is that of a single step, as in the paper; what the arms of a whole run tell is far more, "
    "see docs/privacy.md. "
)


class RewardAgainstPrivacy(Figure):
    """A curve of the average reward against η for each T or each number of arms."""

    curve: ClassVar[str]
    """Which of the two, as columns are called."""

    def table(self, outcomes: Sequence[Outcome]) -> Columns:
        table: Columns = {}
        for labels, runs in grouped(outcomes).items():
            totals = np.array([one.rewards for one in runs])
            for place, rounds in enumerate(runs[0].at):
                averages = totals[:, place] / rounds
                add_row(
                    table,
                    {
                        **dict(labels),
                        **_etas(dict(labels)),
                        "T": rounds,
                        **summary("average reward", averages),
                    },
                )
        return table

    def draw(self, table: Columns) -> "Picture":
        infinity = max(number(eta) for eta in table["η"] if eta is not None) + GAP
        with plotting():
            figure = new_figure()
            (axes,) = figure.axes
            for i, (name, rows) in enumerate(self._curves(table).items()):
                _draw_one(axes, rows, infinity, name, i)
            ticks = [*range(0, int(infinity), 2), infinity]
            axes.set_xticks(ticks, [*map(str, ticks[:-1]), "∞"])
            axes.set_ylim(bottom=0)
            axes.set(
                xlabel="η = log(A/ε) of one step; less privacy to the right",
                ylabel="reward per round",
                title=str(table["data"][0]),
            )
            axes.legend(loc="lower right")
        return figure

    def found(self, table: Columns) -> Sequence[str]:
        return [_best_said(name, rows) for name, rows in self._curves(table).items()]

    def _curves(self, table: Columns) -> dict[str, list[dict[str, Cell]]]:
        """The rows of each curve by its name, privacy falling."""
        curves: dict[str, list[dict[str, Cell]]] = {}
        for row in rows_of(table):
            curves.setdefault(f"{self.curve} = {number(row[self.curve]):,.0f}", []).append(row)
        return {
            name: sorted(rows, key=lambda row: -number(row["epsilon"]))
            for name, rows in curves.items()
        }


class PPCBPrivacy(RewardAgainstPrivacy):
    """Figure 2."""

    name: ClassVar[str] = "ppcb-2"
    title: ClassVar[str] = "average reward against privacy, at three T"
    curve: ClassVar[str] = "T"
    paper: ClassVar[str] = (
        "Figure 2 shows the average reward over 5 runs against η = log(A/ε) for three sizes T of "
        "the data. At some levels of privacy the reward is higher than that of the algorithm "
        "without any, η = ∞; with more privacy it falls rapidly. There are no numbers in the text."
    )
    differs: ClassVar[str] = (
        f"The three T are only in the paper's picture. {PLAIN_RUNS}{OF_ONE_STEP}A run with a "
        "smaller T is the beginning of one with a larger, each run with its own order of the "
        "images."
    )

    def cells(self, size: Size, data: DataFiles) -> Sequence[AnyCell]:
        lengths = LENGTHS[size]
        arms = digits(data.mnist, lengths[-1])
        labels: dict[str, Label] = {"data": called(data), "arms": DIGITS}
        orders = [in_order(arms, seed) for seed in range(RUNS)]
        return _swept(labels, orders, lengths)

    def setting(self, size: Size, data: DataFiles) -> str:
        return (
            f"{data_said(data, LENGTHS[size][-1])}; {RUNS} runs for each of {len(TRIED)} epsilons. "
            "Bars are standard deviations of runs."
        )


class PPCBPrivacyByArms(RewardAgainstPrivacy):
    """Figure 5."""

    name: ClassVar[str] = "ppcb-5"
    title: ClassVar[str] = "average reward against privacy, by the number of arms"
    curve: ClassVar[str] = "arms"
    paper: ClassVar[str] = (
        "Figure 5 shows the average reward against η = log(A/ε) for several numbers of arms, which "
        "are clusters of MNIST by K-means and pay 1 with a probability that falls with the "
        "distance from their centre, σ = 1/2. η grows with the logarithm of A, but more "
        "exploration is needed as well, so that the best η grows only slightly. There are no "
        "numbers in the text."
    )
    differs: ClassVar[str] = (
        f"The numbers of arms are only in the paper's picture. {CLUSTERS}{PLAIN_RUNS}"
        f"{OF_ONE_STEP}Runs take the images in the same order and differ in what they draw."
    )

    def cells(self, size: Size, data: DataFiles) -> Sequence[AnyCell]:
        images = CLUSTERED_IMAGES[size]
        contexts = digits(data.mnist, images)
        found: list[AnyCell] = []
        for k in ARMS:
            labels: dict[str, Label] = {"data": called(data), "arms": k}
            found += _swept(labels, [clusters(contexts, k)] * CLUSTERED_RUNS[size], (images,))
        return found

    def setting(self, size: Size, data: DataFiles) -> str:
        images = CLUSTERED_IMAGES[size]
        return (
            f"{data_said(data, images)}; T = {images:,}, {CLUSTERED_RUNS[size]} runs for each of "
            f"{len(TRIED)} epsilons. Bars are standard deviations of runs."
        )

    def found(self, table: Columns) -> Sequence[str]:
        best = {number(rows[0]["arms"]): _best(rows)["η"] for rows in self._curves(table).values()}
        etas = ", ".join(f"{_eta_said(eta)} with {arms:.0f} arms" for arms, eta in best.items())
        return [*super().found(table), f"The best η is {etas}."]


def _swept(
    labels: Mapping[str, Label], runs: Sequence[ContextualArms], lengths: Sequence[int]
) -> list[AnyCell]:
    """The runs with every epsilon."""
    return [
        RunCell(
            {**labels, "epsilon": epsilon},
            LinearEpsilonGreedy(epsilon),
            arms,
            lengths[-1],
            seed,
            at=tuple(lengths),
        )
        for epsilon in TRIED
        for seed, arms in enumerate(runs)
    ]


def _etas(labels: Mapping[str, Label]) -> dict[str, Cell]:
    """η as the paper has it, and what is exact for one step; none where they are infinite."""
    accountant = Accountant(int(labels["arms"]), float(labels["epsilon"]))
    etas = {"η": accountant.paper_per_step, "exact η": accountant.per_step}
    return {name: eta if isfinite(eta) else None for name, eta in etas.items()}


def _draw_one(
    axes: "Axes", rows: Sequence[Mapping[str, Cell]], infinity: float, name: str, i: int
) -> None:
    means = [number(row["average reward"]) for row in rows]
    spreads = [number(row["standard deviation"]) for row in rows]
    etas = [infinity if row["η"] is None else number(row["η"]) for row in rows]
    private = sum(row["η"] is not None for row in rows)
    colour = COLOURS[i]
    axes.plot(etas[:private], means[:private], color=colour, marker=MARKERS[i], label=name)
    axes.plot(etas[private - 1 :], means[private - 1 :], ":", color=colour, marker=MARKERS[i])
    axes.errorbar(etas, means, spreads, color=colour, linestyle="none", capsize=2)


def _best(rows: Sequence[Mapping[str, Cell]]) -> Mapping[str, Cell]:
    return max(rows, key=lambda row: number(row["average reward"]))


def _best_said(name: str, rows: Sequence[Mapping[str, Cell]]) -> str:
    best = _best(rows)
    (without,) = (row for row in rows if row["η"] is None)
    strict = next(row for row in rows if number(row["epsilon"]) < 1)
    return (
        f"{name}: the largest reward is {_reward_said(best)} a round at η = "
        f"{_eta_said(best['η'])} (ε = {best['epsilon']}); without exploration, η = ∞, it is "
        f"{_reward_said(without)}, and at η = {_eta_said(strict['η'])} {_reward_said(strict)}."
    )


def _reward_said(row: Mapping[str, Cell]) -> str:
    return f"{number(row['average reward']):.3f} ± {number(row['standard deviation']):.3f}"


def _eta_said(eta: Cell) -> str:
    return "∞" if eta is None else f"{number(eta):.1f}"
