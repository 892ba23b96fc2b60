"""Contexts of arms that change with the round, from a file.

An npz file holds `contexts` (rounds, arms, d) and `theta` (d). A CSV file has the heading
`round,arm,x1,…,xd`, a row `theta,,…` and a row for each arm of each round:

    round,arm,x1,x2
    theta,,0.5,-0.25
    1,0,1.0,0.0
    1,1,0.0,1.0
"""

import csv
import io
import zipfile
from typing import Final

import numpy as np

from lotor.core.errors import DataError, InputError
from lotor.core.fixed_point import Floats
from lotor.environments.linear_contexts import LinearContexts
from lotor.environments.rating_files import FilePath, read_verified

_SOURCE: Final = "whoever made it"
_NOISE_SD: Final = 0.5


def contexts_from_npz(
    path: FilePath, *, noise_sd: float = _NOISE_SD, sha256: str | None = None
) -> LinearContexts:
    """From a file that numpy.savez(path, contexts=…, theta=…) has written."""
    data, _ = read_verified(path, sha256, _SOURCE)
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as found:
            contexts, theta = found["contexts"], found["theta"]
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, TypeError):
        raise DataError(
            f"{path} is not an npz file with arrays of numbers called contexts and theta: write it "
            "with numpy.savez(path, contexts=contexts, theta=theta)"
        ) from None
    return _made(path, contexts, theta, noise_sd)


def contexts_from_csv(
    path: FilePath, *, noise_sd: float = _NOISE_SD, sha256: str | None = None
) -> LinearContexts:
    """From a table with a row for each arm of each round."""
    data, _ = read_verified(path, sha256, _SOURCE)
    try:
        rows = list(csv.reader(io.StringIO(data.decode("utf-8-sig")), strict=True))
    except (UnicodeDecodeError, csv.Error):
        raise DataError(f"{path} is not a CSV file in UTF-8: save it as one") from None
    d = len(rows[0]) - 2 if rows else 0
    if d < 1 or rows[0][:2] != ["round", "arm"]:
        raise DataError(f"{path} does not begin with round,arm,x1,…: give it this heading")
    table = _Table(path, d)
    for line, row in enumerate(rows[1:], 2):
        if row:
            table.read(line, row)
    return _made(path, table.contexts(), table.theta(), noise_sd)


class _Table:
    """The rows of a CSV file; an error names the line of a bad one."""

    def __init__(self, path: FilePath, d: int) -> None:
        self._path = path
        self._d = d
        self._theta: list[float] | None = None
        self._rows: dict[tuple[int, int], list[float]] = {}

    def read(self, line: int, row: list[str]) -> None:
        if len(row) != self._d + 2:
            raise self._bad(line, f"has {len(row)} fields where the heading has {self._d + 2}")
        try:
            values = [float(text) for text in row[2:]]
            place = None if row[0] == "theta" else (int(row[0]), int(row[1]))
        except ValueError:
            raise self._bad(line, "holds something that is not a number") from None
        if (self._theta if place is None else self._rows.get(place)) is not None:
            raise self._bad(line, f"gives {'theta' if place is None else 'this arm'} again")
        if place is None:
            self._theta = values
        else:
            self._rows[place] = values

    def theta(self) -> list[float]:
        if self._theta is None:
            raise DataError(
                f"{self._path} has no row theta,,…: add one that says what contexts pay"
            )
        return self._theta

    def contexts(self) -> Floats:
        rounds = max((t for t, _ in self._rows), default=0)
        arms = 1 + max((arm for _, arm in self._rows), default=-1)
        wanted = [(t, arm) for t in range(1, rounds + 1) for arm in range(arms)]
        if not wanted or len(wanted) != len(self._rows) or set(wanted) != set(self._rows):
            raise DataError(
                f"{self._path} does not have each arm from 0 once in each round from 1: complete "
                "it, or leave the last rounds out"
            )
        return np.array([self._rows[place] for place in wanted]).reshape(rounds, arms, self._d)

    def _bad(self, line: int, what: str) -> DataError:
        return DataError(f"{self._path}, line {line} {what}: correct it")


def _made(
    path: FilePath, contexts: Floats, theta: Floats | list[float], sd: float
) -> LinearContexts:
    try:
        return LinearContexts(contexts, theta, noise_sd=sd)
    except InputError as error:
        raise DataError(f"{path}: {error}") from None
