"""Figures made of runs that are as short as can be."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest

from lotor.protocols.cell import AnyCell, RunCell
from lotor.protocols.figure import DataFiles, Figure, Size
from lotor.studies.reproduce import load_figure

ROUNDS, RUNS = 12, 2


def shortened(monkeypatch: pytest.MonkeyPatch, name: str) -> Figure:
    """A figure that has short runs until the test ends, also where others load it."""
    figure = load_figure(name)
    whole = type(figure).cells

    def cells(self: Figure, size: Size, data: DataFiles) -> list[AnyCell]:
        return list(_short(whole(self, size, data)))

    monkeypatch.setattr(type(figure), "cells", cells)
    return figure


def _short(cells: Sequence[AnyCell]) -> Iterator[AnyCell]:
    """Few runs for the same point, and of each only so many rounds as policies need."""
    seen: dict[tuple[object, ...], int] = {}
    for cell in cells:
        point = tuple(cell.labels.values())
        seen[point] = seen.get(point, 0) + 1
        if seen[point] > RUNS:
            continue
        if isinstance(cell, RunCell):
            yield replace(cell, budget=min(cell.budget, max(ROUNDS, cell.environment.k)))
        else:
            yield replace(cell, task=cell.task.small())
