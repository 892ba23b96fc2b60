"""What `lotor compare` and `lotor tune` share: options, a bar, and what ctrl-C leaves behind."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from lotor.cli import exit_codes
from lotor.cli.derive import seed_number, whole_number
from lotor.cli.progress import progress_bar
from lotor.core.errors import InputError
from lotor.studies.sweep import CellProgress

WORK_PANEL = "Work"
REPEAT = 10

RepeatOption = Annotated[
    int, typer.Option("--repeat", parser=whole_number, help="How many runs, each with a seed.")
]
FirstSeedOption = Annotated[
    int,
    typer.Option(
        "--seed", parser=seed_number, help="The seed of the first run; the others follow it."
    ),
]
CsvOption = Annotated[
    Path | None, typer.Option("--csv", metavar="FILE", help="Write means and bands to a CSV file.")
]
WorkersOption = Annotated[
    int | None,
    typer.Option(
        parser=whole_number,
        help="How many runs at once.",
        show_default="one for each core",
        rich_help_panel=WORK_PANEL,
    ),
]
ClusterOption = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        metavar="HOST:PORT",
        help="Run on a Ray cluster, which needs pip install 'lotor[cluster]'.",
        rich_help_panel=WORK_PANEL,
    ),
]
KeepOption = Annotated[
    Path | None,
    typer.Option(
        "--keep",
        metavar="FOLDER",
        help="Keep finished runs there: the same command goes on after an interruption.",
        rich_help_panel=WORK_PANEL,
    ),
]


@dataclass(frozen=True, slots=True)
class Work:
    """Where the runs of a study are made, and where finished ones are kept."""

    keep: Path | None
    workers: int | None
    cluster: str | None


def seeds_of(repeat: int, first: int) -> range:
    """The seeds of so many runs."""
    if repeat < 1:
        raise InputError(f"--repeat is {repeat}: give a whole number of at least 1")
    return range(first, first + repeat)


@contextmanager
def study_progress(label: str, work: Work) -> Iterator[CellProgress]:
    """A bar of runs on a terminal; ctrl-C says what is left."""
    done = 0
    try:
        with progress_bar(label, unit="runs") as report:

            def noted(finished: int, total: int) -> None:
                nonlocal done
                done = finished
                report(finished, total)

            yield noted
    except KeyboardInterrupt:
        kept = (
            "nothing was kept: with --keep FOLDER the same command goes on"
            if work.keep is None
            else f"{done} runs are kept in {work.keep}: the same command goes on"
        )
        typer.echo(f"lotor: interrupted; {kept}", err=True)
        raise typer.Exit(exit_codes.INTERRUPTED) from None
