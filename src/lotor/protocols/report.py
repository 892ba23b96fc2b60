"""What a form says of its runs, as data: forecasts, comparisons and tables."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from lotor.core.result import Result
from lotor.environments.base import Environment


@dataclass(frozen=True, slots=True)
class ReportTable:
    """A table for people, as data."""

    title: str
    columns: tuple[str, ...]
    rows: Sequence[Sequence[str]]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Comparison:
    """A run, the same run in plain, and any others on the same draws."""

    environment: Environment
    secure: Result
    plain: Result
    others: Mapping[str, Result] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Forecast:
    """What a run will cost: for people (`rows`) and for programs (`figures`)."""

    title: str
    rows: Mapping[str, str]
    figures: Mapping[str, object]
    seconds: float | None = None
    note: str = ""


Counts = Mapping[str, Mapping[str, int | str]]
