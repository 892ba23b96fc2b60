"""The paper's experiments: its arms, policies and parameters, and how runs become rows."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from lotor.core.frames import Cell, Columns
from lotor.environments.bernoulli import BernoulliArms
from lotor.environments.lookalike import lookalike
from lotor.environments.rating_files import FilePath
from lotor.environments.ratings import PUBLISHED_ITEMS, RatingArms
from lotor.policies import UCB, EpsilonGreedy, Policy, Pursuit, Softmax, ThompsonSampling
from lotor.protocols.cell import Outcome
from lotor.protocols.figure import DataFiles

KEY_BITS: Final = 2048
EPSILON: Final = 0.1
FIXED, DECREASING = "epsilon-greedy", "decreasing epsilon-greedy"
SOFTMAX, PURSUIT = "Softmax", "Pursuit"
UCB_NAME, THOMPSON = "UCB", "Thompson Sampling"
POLICIES: Final = (FIXED, DECREASING, SOFTMAX, PURSUIT, UCB_NAME, THOMPSON)


@dataclass(frozen=True, slots=True)
class RatingSet:
    """A data set of ratings, with the parameters that Appendix C found for it."""

    name: str
    lookalike: str
    tau: float
    beta: float
    read: Callable[[FilePath], BernoulliArms]

    def all_arms(self, path: FilePath | None) -> BernoulliArms:
        """The arms of the published figures, best first, or a look-alike's."""
        return lookalike(self.lookalike, PUBLISHED_ITEMS) if path is None else self.read(path)

    def called(self, path: FilePath | None) -> str:
        """As figures name it; a look-alike is named as one."""
        return self.name if path is not None else f"look-alike of {self.name}"

    def policies(self) -> dict[str, Policy]:
        """The paper's six, in its order."""
        return {
            FIXED: EpsilonGreedy(EPSILON),
            DECREASING: EpsilonGreedy("1/log2"),
            SOFTMAX: Softmax(self.tau),
            PURSUIT: Pursuit(self.beta),
            UCB_NAME: UCB(),
            THOMPSON: ThompsonSampling(),
        }


def _movielens(path: FilePath) -> BernoulliArms:
    return RatingArms.movielens(path, k=PUBLISHED_ITEMS, choose="published")


def _jester(path: FilePath) -> BernoulliArms:
    return RatingArms.jester(path, k=PUBLISHED_ITEMS, choose="published")


MOVIELENS: Final = RatingSet("MovieLens", "movielens-like", 0.06, 0.1, _movielens)
JESTER: Final = RatingSet("Jester", "jester-like", 0.02, 0.2, _jester)


def rating_sets(data: DataFiles) -> list[tuple[RatingSet, FilePath | None]]:
    """Both data sets of the paper, each with its file if the user has it."""
    return [(MOVIELENS, data.movielens), (JESTER, data.jester)]


def best(arms: BernoulliArms, k: int) -> BernoulliArms:
    """The k best of arms that are sorted."""
    return BernoulliArms(arms.means[:k])


def data_said(data: DataFiles) -> str:
    """Where the arms come from."""
    names = [one.called(path) for one, path in rating_sets(data)]
    text = f"Arms: {' and '.join(names)}"
    if data.movielens is None or data.jester is None:
        text += " (means are quantiles of a Beta law that resembles the data)"
    return text


def mean_rows(outcomes: Sequence[Outcome], names: Sequence[str]) -> Columns:
    """A row for each set of labels: how many runs it had, and the mean of each figure."""
    table: Columns = {}
    for labels, found in grouped(outcomes).items():
        row: dict[str, Cell] = {**dict(labels), "runs": len(found)}
        for name in names:
            row[name] = float(np.mean([one.figures[name] for one in found]))
        add_row(table, row)
    return table


def grouped(outcomes: Iterable[Outcome]) -> dict[tuple[tuple[str, Cell], ...], list[Outcome]]:
    """Outcomes that differ by their seeds alone, together."""
    groups: dict[tuple[tuple[str, Cell], ...], list[Outcome]] = {}
    for one in outcomes:
        groups.setdefault(tuple(one.labels.items()), []).append(one)
    return groups


def add_row(table: Columns, row: Mapping[str, Cell]) -> None:
    for name, value in row.items():
        table.setdefault(name, []).append(value)


def rows_of(table: Columns, **wanted: Cell) -> list[dict[str, Cell]]:
    """The table row by row, only those with the wanted values."""
    rows = [dict(zip(table, values, strict=True)) for values in zip(*table.values(), strict=True)]
    return [row for row in rows if all(row[name] == value for name, value in wanted.items())]


def number(value: Cell) -> float:
    """A cell that holds a number."""
    if value is None:
        raise ValueError("this cell of the table is empty")
    return float(value)


def values_of(table: Columns, name: str) -> list[str]:
    """The different texts of a column, in their order."""
    return list(dict.fromkeys(str(value) for value in table[name]))
