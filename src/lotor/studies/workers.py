"""Cells on this machine: in processes side by side, or one after the other in this one."""

import signal
import warnings
from collections.abc import Iterator, Sequence
from multiprocessing import parent_process
from typing import TypeAlias

from lotor.core.errors import LotorError, StudyError
from lotor.protocols.cell import AnyCell, Outcome
from lotor.studies.cell_digest import cell_name
from lotor.studies.outcomes import outcome_of

Numbered: TypeAlias = tuple[int, AnyCell]


def finished(place: int, cell: AnyCell) -> tuple[int, Outcome]:
    """What came of a cell; an error names the cell."""
    try:
        return place, outcome_of(cell)
    except LotorError as error:
        error.args = (f"{cell_name(cell)}: {error}",)
        raise
    except Exception as error:
        error.add_note(f"This was in the cell {cell_name(cell)}.")
        raise


def on_this_machine(
    cells: Sequence[Numbered], workers: int | None
) -> Iterator[tuple[int, Outcome]]:
    """Outcomes as they come, with one thread for linear algebra in each process.

    More threads would take cores from other cells, and could round differently.
    """
    if workers == 1 or len(cells) < 2:
        yield from _here(cells)
        return
    from joblib import Parallel, delayed, parallel_config  # noqa: PLC0415
    from joblib.externals.loky.process_executor import BrokenProcessPool  # noqa: PLC0415

    with parallel_config(backend="loky", inner_max_num_threads=1):
        pool = Parallel(n_jobs=-1 if workers is None else workers, return_as="generator_unordered")
        outcomes = pool(delayed(_in_worker)(*one) for one in cells)
    try:
        for outcome in outcomes:  # noqa: UP028 (`yield from` would close it too early)
            yield outcome
    except BrokenProcessPool as error:
        if isinstance(error.__cause__, Exception) and "un-serialize" in str(error):
            last = str(error.__cause__).strip().strip('"').strip().splitlines()[-1]
            raise StudyError(
                f"a process could not load what it was to run ({last}): put your classes into a "
                "module that can be imported from anywhere, or give workers=1"
            ) from None
        raise StudyError(
            "a process that ran cells was killed, perhaps because memory ran out: give fewer "
            "workers, and a folder for finished cells, with which the sweep goes on"
        ) from None
    finally:
        with warnings.catch_warnings():
            # joblib warns of what an interrupted sweep leaves undone.
            warnings.simplefilter("ignore", UserWarning)
            outcomes.close()


def _here(cells: Sequence[Numbered]) -> Iterator[tuple[int, Outcome]]:
    from threadpoolctl import threadpool_limits  # noqa: PLC0415

    for one in cells:
        with threadpool_limits(1):
            outcome = finished(*one)
        yield outcome


def _in_worker(place: int, cell: AnyCell) -> tuple[int, Outcome]:
    if parent_process() is not None:
        # ctrl-C reaches all processes of a terminal, and the first one ends the others.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    return finished(place, cell)
