"""Runs all cells of a study: on all cores or a cluster, and on from where it was interrupted."""

from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from pathlib import Path
from typing import TypeAlias

from lotor.core.errors import InputError
from lotor.protocols.cell import AnyCell, Outcome
from lotor.studies.kept_cells import KeptCells
from lotor.studies.workers import Numbered, on_this_machine

CellProgress: TypeAlias = Callable[[int, int], None]


def sweep(
    cells: Sequence[AnyCell],
    *,
    kept: Path | None = None,
    workers: int | None = None,
    cluster: str | None = None,
    progress: CellProgress | None = None,
) -> list[Outcome]:
    """What came of each cell, in their order, however many workers there are.

    `kept` is a folder for finished cells: a sweep that was interrupted, or in which a cell failed,
    goes on from there. `workers` processes (as many as there are cores by default, none but this
    one if 1) run cells side by side; those that must be alone come after the others, one at a time.
    `cluster` is the address of a Ray cluster, whose nodes then run them. `progress` is called with
    (cells done, all cells) at first and after each one.

    >>> import lotor
    >>> from lotor.protocols.cell import RunCell
    >>> arms = lotor.BernoulliArms([0.9, 0.1])
    >>> cells = [RunCell({"seed": seed}, lotor.UCB(), arms, 20, seed) for seed in range(3)]
    >>> [outcome.figures["reward"] for outcome in sweep(cells, workers=1)]
    [14.0, 17.0, 16.0]
    """
    if workers is not None and (type(workers) is not int or workers < 1):
        raise InputError(f"workers is {workers!r}: give a whole number of at least 1")
    given = list(cells)
    store = None if kept is None else KeptCells(kept, given)
    found = {} if store is None else store.found()
    report = progress or _silent
    report(len(found), len(given))
    missing = [(place, cell) for place, cell in enumerate(given) if place not in found]
    with closing(_spread(missing, workers, cluster)) as finished:
        for place, outcome in finished:
            if store is not None:
                store.keep(place, outcome)
            found[place] = outcome
            report(len(found), len(given))
    return [found[place] for place in range(len(given))]


def _spread(
    cells: Sequence[Numbered], workers: int | None, cluster: str | None
) -> Generator[tuple[int, Outcome]]:
    """Outcomes as they come: first of the cells that may run side by side, then of the others."""
    together = [one for one in cells if not one[1].alone]
    alone = [one for one in cells if one[1].alone]
    if cluster is None:
        yield from on_this_machine(together, workers)
        yield from on_this_machine(alone, 1)
    elif cells:
        from lotor.studies.cluster import RayCluster  # noqa: PLC0415

        with RayCluster(cluster) as nodes:
            yield from nodes.run(together, workers)
            yield from nodes.run(alone, 1)


def _silent(done: int, total: int) -> None:
    del done, total
