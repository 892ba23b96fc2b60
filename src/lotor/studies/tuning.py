"""What came of tuning: the reward at each point, and the best one."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, overload

from lotor.core.frames import Cell, Columns, Frame, FrameKind, to_frame, write_csv
from lotor.core.plotting import COLOURS, new_figure, plotting, save_figure
from lotor.core.wording import counted
from lotor.policies import POLICIES, AnyPolicy
from lotor.protocols.protocol import Protocol
from lotor.studies.compared_runs import ComparedRuns, RunGroup
from lotor.studies.statistics import MeanBand

if TYPE_CHECKING:
    import pandas
    import polars
    from matplotlib.figure import Figure


@dataclass(frozen=True, slots=True, repr=False)
class Tuning:
    """The points that were tried, in their order, and what they paid.

    `to_frame()` has a row for each: its parameters, the mean reward, its 95 % band and the
    standard deviation of one run, and the same of the regret where it is known.
    """

    policy: AnyPolicy
    points: Mapping[str, Mapping[str, float]]
    tuned: Mapping[str, Protocol | AnyPolicy]
    runs: ComparedRuns

    def __repr__(self) -> str:
        """In one line."""
        reward = self.best_reward
        return (
            f"<Tuning of {POLICIES.name_of(type(self.policy))}: best {self._best.protocol}, reward "
            f"{reward.mean:g} over {counted(reward.runs, 'run')}, "
            f"{counted(len(self.points), 'point')}>"
        )

    @property
    def _best(self) -> RunGroup:
        return max(self.runs.groups, key=lambda one: one.mean("reward"))

    @property
    def best(self) -> Protocol | AnyPolicy:
        """The policy, or the protocol, with the parameters of the largest mean reward."""
        return self.tuned[self._best.protocol]

    def is_best(self, point: str) -> bool:
        return point == self._best.protocol

    @property
    def best_parameters(self) -> dict[str, float]:
        return dict(self.points[self._best.protocol])

    @property
    def best_reward(self) -> MeanBand:
        return self._best.band("reward")

    def near_best(self) -> list[str]:
        """The other points whose band reaches the best mean: more runs might prefer them."""
        best = self._best
        bands = {one.protocol: one.band("reward") for one in self.runs.groups}
        reach = best.mean("reward")
        return [
            name
            for name, one in bands.items()
            if name != best.protocol and one.high is not None and one.high >= reach
        ]

    def columns(self) -> Columns:
        """A row for each point."""
        found = self.runs.columns()
        left_out = ("protocol", "environment", "budget")
        names = next(iter(self.points.values()))
        parameters: dict[str, list[Cell]] = {
            name: [self.points[str(point)][name] for point in found["protocol"]] for name in names
        }
        # A parameter may be called as a column is.
        own = {name: value for name, value in found.items() if name not in left_out}
        return {**parameters, **{name: own[name] for name in own if name not in parameters}}

    @overload
    def to_frame(self, kind: Literal["columns"]) -> Columns: ...
    @overload
    def to_frame(self, kind: Literal["pandas"]) -> "pandas.DataFrame": ...
    @overload
    def to_frame(self, kind: Literal["polars"]) -> "polars.DataFrame": ...
    @overload
    def to_frame(self, kind: None = None) -> Frame: ...
    def to_frame(self, kind: FrameKind | None = None) -> Frame:
        """A frame of pandas or polars, whichever is installed; else columns."""
        return to_frame(self.columns(), kind)

    def to_csv(self, path: Path | str) -> None:
        """Write the same as comma-separated values."""
        write_csv(path, self.columns())

    def plot(self, path: Path | str | None = None) -> "Figure":
        """The mean reward against each parameter, with bands; the best point is marked.

        Needs `pip install 'lotor[plot]'`. A `path` that ends in .svg, .png or .pdf is written.
        """
        names = list(self.best_parameters)
        figure = new_figure(len(names))
        with plotting():
            for axes, name in zip(figure.axes, names, strict=True):
                for one in self.runs.groups:
                    reward, x = one.band("reward"), self.points[one.protocol][name]
                    half = 0.0 if reward.high is None else reward.high - reward.mean
                    best = self.is_best(one.protocol)
                    axes.errorbar(
                        x, reward.mean, yerr=half, fmt="o", capsize=3, color=COLOURS[best]
                    )
                axes.set(xlabel=name, ylabel="total reward")
            runs = counted(self.best_reward.runs, "run")
            figure.suptitle(
                f"{POLICIES.name_of(type(self.policy))}: best {self._best.protocol} (mean of "
                f"{runs}, bands: 95 % of the mean)"
            )
        if path is not None:
            save_figure(figure, path)
        return figure
