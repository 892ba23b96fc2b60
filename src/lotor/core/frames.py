"""Tables for data scientists: columns as a data frame of whichever library is installed."""

import csv
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias, TypeVar, overload

from lotor.core.errors import InputError

if TYPE_CHECKING:
    import pandas
    import polars

Cell: TypeAlias = str | int | float | None
Columns: TypeAlias = dict[str, list[Cell]]
Frame: TypeAlias = "pandas.DataFrame | polars.DataFrame | Columns"
FrameKind: TypeAlias = Literal["pandas", "polars", "columns"]

T = TypeVar("T", bound=Cell)


@overload
def to_frame(columns: Mapping[str, Sequence[T]], kind: Literal["columns"]) -> Columns: ...
@overload
def to_frame(columns: Mapping[str, Sequence[T]], kind: Literal["pandas"]) -> "pandas.DataFrame": ...
@overload
def to_frame(columns: Mapping[str, Sequence[T]], kind: Literal["polars"]) -> "polars.DataFrame": ...
@overload
def to_frame(columns: Mapping[str, Sequence[T]], kind: FrameKind | None = None) -> Frame: ...


def to_frame(columns: Mapping[str, Sequence[T]], kind: FrameKind | None = None) -> Frame:
    """The columns as a frame of pandas, or of polars where only that is installed.

    With neither, or with kind="columns", they are a dict of lists, which `pyarrow.table` and every
    library of frames takes.

    >>> to_frame({"round": [1, 2], "arm": [0, 1]}, "columns")
    {'round': [1, 2], 'arm': [0, 1]}
    """
    if kind is None:
        installed = [one for one in ("pandas", "polars") if find_spec(one) is not None]
        kind = "pandas" if "pandas" in installed else "polars" if installed else "columns"
    if kind == "columns":
        return {name: list(values) for name, values in columns.items()}
    if kind not in ("pandas", "polars"):
        raise InputError(f"kind is {kind!r}: give 'pandas', 'polars' or 'columns'")
    if find_spec(kind) is None:
        raise InputError(f"{kind} is not installed: run `pip install {kind}`, or leave kind out")
    if kind == "pandas":
        import pandas  # noqa: PLC0415

        return pandas.DataFrame(dict(columns))
    import polars  # noqa: PLC0415

    return polars.DataFrame(dict(columns))


def add_row(columns: Columns, row: Mapping[str, Cell]) -> None:
    """Append a row to columns; the first one names them."""
    for name, value in row.items():
        columns.setdefault(name, []).append(value)


def rows_of(columns: Mapping[str, Sequence[Cell]], **wanted: Cell) -> list[dict[str, Cell]]:
    """The columns row by row, only rows with the wanted values.

    >>> rows_of({"form": ["paper", "shared"], "seconds": [2.0, 1.0]}, form="paper")
    [{'form': 'paper', 'seconds': 2.0}]
    """
    rows = [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]
    return [row for row in rows if all(row[name] == value for name, value in wanted.items())]


def values_of(columns: Columns, name: str) -> list[str]:
    """The different texts of a column, in their order."""
    return list(dict.fromkeys(str(value) for value in columns[name]))


def number(cell: Cell) -> float:
    """A cell that holds a number."""
    if cell is None:
        raise ValueError("this cell of the table is empty")
    return float(cell)


def write_csv(path: Path | str, columns: Mapping[str, Sequence[T]]) -> None:
    """Write columns as comma-separated values, the names first; an empty cell means none."""
    try:
        with Path(path).open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(columns)
            writer.writerows(zip(*columns.values(), strict=True))
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}") from None
