"""What came of a comparison: means over the seeds, with bands, as tables and plots."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias, overload

from lotor.core.errors import InputError
from lotor.core.frames import Cell, Columns, Frame, FrameKind, to_frame, write_csv
from lotor.core.plotting import save_figure
from lotor.core.wording import counted
from lotor.protocols.cell import Label, Outcome
from lotor.studies.statistics import MeanBand, mean_band

if TYPE_CHECKING:
    import pandas
    import polars
    from matplotlib.figure import Figure

Measure: TypeAlias = Literal["reward", "regret"]
MEASURES: tuple[Measure, ...] = ("reward", "regret")
GROUP = ("protocol", "environment", "budget")

_COSTS = ("rounds", "seconds", "cpu_seconds", "bytes_sent")
_OF_PARTIES = ("cpu of ", "bytes of ")


@dataclass(frozen=True, slots=True)
class RunGroup:
    """The runs that differ in their seed alone."""

    protocol: str
    environment: str
    budget: int
    outcomes: list[Outcome] = field(default_factory=list)

    def figure(self, name: str) -> MeanBand | None:
        """A figure's mean; None where these runs do not have it."""
        values = [one.figures[name] for one in self.outcomes if name in one.figures]
        return mean_band(values) if len(values) == len(self.outcomes) else None

    def band(self, name: str) -> MeanBand:
        """The mean of a figure that these runs have, with its band."""
        return mean_band([one.figures[name] for one in self.outcomes])

    def mean(self, name: str) -> float:
        """The mean of a figure that these runs have."""
        return self.band(name).mean

    @property
    def reward_per_round(self) -> float:
        """The mean reward of a round; runs that end early have fewer of them."""
        return self.mean("reward") / max(self.mean("rounds"), 1.0)

    def curve(self, measure: Measure) -> dict[int, MeanBand]:
        """Means of the totals so far, at the rounds that are noted of all these runs."""
        totals = [dict(zip(one.at, _totals(one, measure), strict=False)) for one in self.outcomes]
        rounds = sorted(set.intersection(*map(set, totals)))
        return {t: mean_band([one[t] for one in totals]) for t in rounds}


@dataclass(frozen=True, slots=True, repr=False)
class ComparedRuns:
    """The outcomes of all runs of a comparison, and what they are on average.

    `to_frame()` has a row for each protocol, environment and budget; with `rounds=True`, one for
    each point of their curves. `reward_low` and `reward_high` are a 95 % band of the mean, by
    Student's t; `reward_sd` is the standard deviation of one run. Costs are means of a run.
    """

    outcomes: list[Outcome]

    def __repr__(self) -> str:
        """In one line."""
        counts = [
            counted(len(self._labels(name)), name) for name in ("protocol", "environment", "budget")
        ]
        per_round = " a round" if self.ends_differ else ""
        best = f"; most reward{per_round}: {self.best()}" if self.outcomes else ""
        return f"<ComparedRuns: {', '.join(counts)}, {counted(self.repeats, 'seed')}{best}>"

    def _labels(self, name: str) -> list[Label]:
        return list(dict.fromkeys(one.labels[name] for one in self.outcomes))

    @property
    def repeats(self) -> int:
        """How many seeds each of them ran with."""
        return len(self._labels("seed"))

    @property
    def groups(self) -> list[RunGroup]:
        """The runs that differ in their seed alone, in the order of the comparison."""
        found: dict[tuple[Label, ...], RunGroup] = {}
        for one in self.outcomes:
            key = tuple(one.labels[name] for name in GROUP)
            protocol, environment, budget = key
            new = RunGroup(str(protocol), str(environment), int(budget))
            found.setdefault(key, new).outcomes.append(one)
        return list(found.values())

    @property
    def knows_regret(self) -> bool:
        """Whether all environments know their means."""
        return all("regret" in one.figures for one in self.outcomes)

    @property
    def ends_differ(self) -> bool:
        """Whether some runs of a place were shorter than others, so that totals say little."""
        lengths: dict[tuple[str, int], set[float]] = {}
        for one in self.groups:
            lengths.setdefault((one.environment, one.budget), set()).add(one.mean("rounds"))
        return any(len(found) > 1 for found in lengths.values())

    def worth(self, group: RunGroup) -> float:
        """By what protocols are ranked: the total, or the mean of a round if `ends_differ`."""
        return group.reward_per_round if self.ends_differ else group.mean("reward")

    def best(self) -> str:
        """The protocol that is best on average most often, over environments and budgets."""
        wins: dict[str, int] = {}
        places = dict.fromkeys((one.environment, one.budget) for one in self.groups)
        for place in places:
            here = [one for one in self.groups if (one.environment, one.budget) == place]
            first = max(here, key=self.worth)
            wins[first.protocol] = wins.get(first.protocol, 0) + 1
        return max(wins, key=lambda name: wins[name])

    def columns(self, *, rounds: bool = False) -> Columns:
        """A row for each protocol, environment and budget, or for each point of their curves."""
        rows = [row for one in self.groups for row in (self._curve(one) if rounds else [_row(one)])]
        names = dict.fromkeys(name for row in rows for name in row)
        return {name: [row.get(name) for row in rows] for name in names}

    def _curve(self, group: RunGroup) -> Iterable[dict[str, Cell]]:
        rewards, regrets = (group.curve(measure) for measure in MEASURES)
        for t, reward in rewards.items():
            regret = regrets.get(t)
            yield {
                **_place(group),
                "round": t,
                "runs": len(group.outcomes),
                **_spread("reward", reward),
                **({} if regret is None else _spread("regret", regret)),
            }

    @overload
    def to_frame(self, kind: Literal["columns"], *, rounds: bool = False) -> Columns: ...
    @overload
    def to_frame(self, kind: Literal["pandas"], *, rounds: bool = False) -> "pandas.DataFrame": ...
    @overload
    def to_frame(self, kind: Literal["polars"], *, rounds: bool = False) -> "polars.DataFrame": ...
    @overload
    def to_frame(self, kind: None = None, *, rounds: bool = False) -> Frame: ...
    def to_frame(self, kind: FrameKind | None = None, *, rounds: bool = False) -> Frame:
        """A frame of pandas or polars, whichever is installed; else columns.

        `kind` asks for one of them: "pandas", "polars" or "columns".
        """
        return to_frame(self.columns(rounds=rounds), kind)

    def to_csv(self, path: Path | str, *, rounds: bool = False) -> None:
        """Write the same as comma-separated values."""
        write_csv(path, self.columns(rounds=rounds))

    def plot(self, path: Path | str | None = None, measure: Measure | None = None) -> "Figure":
        """Regret, or reward where regret is not known, with bands: a plot for each environment.

        One budget gives curves over the rounds, several give points over the budgets. Needs
        `pip install 'lotor[plot]'`. A `path` that ends in .svg, .png or .pdf is written.
        """
        from lotor.studies.comparison_plot import comparison_plot  # noqa: PLC0415

        chosen: Measure = measure or ("regret" if self.knows_regret else "reward")
        if chosen not in MEASURES:
            raise InputError(f"measure is {measure!r}: give 'reward' or 'regret'")
        if chosen == "regret" and not self.knows_regret:
            raise InputError(
                "an environment does not know what its arms pay on average, so that nobody knows "
                "the regret: plot the reward"
            )
        figure = comparison_plot(self.groups, chosen)
        if path is not None:
            save_figure(figure, path)
        return figure


def _totals(outcome: Outcome, measure: Measure) -> Sequence[float]:
    return outcome.rewards if measure == "reward" else outcome.regrets


def _place(group: RunGroup) -> dict[str, Cell]:
    return {
        "protocol": group.protocol,
        "environment": group.environment,
        "budget": group.budget,
    }


def _spread(name: str, found: MeanBand) -> dict[str, Cell]:
    return {
        name: found.mean,
        f"{name}_sd": found.sd,
        f"{name}_low": found.low,
        f"{name}_high": found.high,
    }


def _row(group: RunGroup) -> dict[str, Cell]:
    row: dict[str, Cell] = {**_place(group), "runs": len(group.outcomes)}
    for measure in MEASURES:
        if (found := group.figure(measure)) is not None:
            row |= _spread(measure, found)
    of_parties = [name for name in group.outcomes[0].figures if name.startswith(_OF_PARTIES)]
    for name in (*_COSTS, *of_parties):
        found = group.figure(name)
        row[name] = None if found is None else found.mean
    return row
