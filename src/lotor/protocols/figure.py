"""A figure or a table of a paper, as data: what to run, and how to show what came of it.

A protocol lists its paper's figures (`SecureProtocol.figures`); `lotor reproduce` makes them.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias

import numpy as np

from lotor.core.fixed_point import Floats
from lotor.core.frames import Cell, Columns, add_row
from lotor.protocols.cell import AnyCell, Label, Outcome

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture

Size: TypeAlias = Literal["quick", "full"]


@dataclass(frozen=True, slots=True)
class DataFiles:
    """Where the user has the data sets; look-alikes stand in for those that are None."""

    movielens: Path | None = None
    """u.data of MovieLens 100K."""
    jester: Path | None = None
    """A Jester table as comma-separated values."""
    mnist: Path | None = None
    """The folder with MNIST's four files."""


class Figure(ABC):
    """One figure or table of a paper.

    Its cells are run, in any order and on any machine; `table` turns their outcomes into tidy
    columns, which become the CSV file, and `draw` draws those.
    """

    name: ClassVar[str]
    """As on the command line, such as "samba-8a"."""

    title: ClassVar[str]
    """What it shows, in half a sentence."""

    paper: ClassVar[str]
    """What the paper shows and says."""

    differs: ClassVar[str]
    """What is done differently here, and why."""

    published: ClassVar[Mapping[str, Sequence[Label]]] = {}
    """Numbers that were published, as columns; `draw` shows them beside ours."""

    @abstractmethod
    def cells(self, size: Size, data: DataFiles) -> Sequence[AnyCell]:
        """What to run, for at most a minute on two cores if the size is "quick"."""

    def setting(self, size: Size, data: DataFiles) -> str:  # noqa: ARG002
        """The data and sizes that these cells have, in a sentence; look-alikes must be named."""
        return ""

    @abstractmethod
    def table(self, outcomes: Sequence[Outcome]) -> Columns:
        """One row for each point that is drawn."""

    @abstractmethod
    def draw(self, table: Columns) -> "Picture":
        """The figure, made by `core.plotting.new_figure`."""

    @abstractmethod
    def found(self, table: Columns) -> Sequence[str]:
        """What came out, in sentences with numbers that are computed from the table."""


def grouped(outcomes: Iterable[Outcome]) -> dict[tuple[tuple[str, Label], ...], list[Outcome]]:
    """Outcomes that differ by their seeds alone, together, by what they are labelled."""
    groups: dict[tuple[tuple[str, Label], ...], list[Outcome]] = {}
    for one in outcomes:
        groups.setdefault(tuple(one.labels.items()), []).append(one)
    return groups


def summary(name: str, values: Floats) -> dict[str, Cell]:
    """The mean of runs under a name, and their spread, of which one run alone says nothing."""
    spread = float(values.std(ddof=1)) if len(values) > 1 else None
    return {
        "runs": len(values),
        name: float(values.mean()),
        "standard deviation": spread,
        "standard error": None if spread is None else spread / len(values) ** 0.5,
    }


def mean_rows(outcomes: Iterable[Outcome], names: Sequence[str]) -> Columns:
    """A row for each set of labels: how many outcomes it had, and the mean of each figure.

    A figure that none of them has, as plain has no keys, is an empty cell.
    """
    table: Columns = {}
    for labels, found in grouped(outcomes).items():
        row: dict[str, Cell] = {**dict(labels), "runs": len(found)}
        for name in names:
            values = [one.figures[name] for one in found if name in one.figures]
            if values and len(values) < len(found):
                raise ValueError(f"only {len(values)} of {len(found)} outcomes have {name!r}")
            row[name] = float(np.mean(values)) if values else None
        add_row(table, row)
    return table
