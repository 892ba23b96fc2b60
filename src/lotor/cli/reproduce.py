"""`lotor reproduce`: the figures and tables of the papers."""

import json
from dataclasses import fields
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from lotor.cli import exit_codes
from lotor.cli.derive import JsonOption
from lotor.cli.study import WORK_PANEL, Work, WorkersOption, study_progress
from lotor.core.errors import InputError, LotorError
from lotor.protocols.figure import DataFiles, Figure, Size
from lotor.studies.report_page import write_page, write_report
from lotor.studies.reproduce import (
    Reproduced,
    check_folder,
    figure_names,
    forget_times,
    load_figure,
    reproduce,
)

DATA_PANEL = "Data, look-alikes if absent"
FOLDER = Path("reproduction")

NamesArgument = Annotated[
    list[str] | None,
    typer.Argument(metavar="[NAME]...", help="The figures to make; without any, they are listed."),
]
MovieLensOption = Annotated[
    Path | None,
    typer.Option(
        "--movielens",
        metavar="FILE",
        help="u.data of MovieLens 100K.",
        rich_help_panel=DATA_PANEL,
    ),
]
JesterOption = Annotated[
    Path | None,
    typer.Option(
        "--jester",
        metavar="FILE",
        help="A Jester table as comma-separated values.",
        rich_help_panel=DATA_PANEL,
    ),
]
MnistOption = Annotated[
    Path | None,
    typer.Option(
        "--mnist",
        metavar="FOLDER",
        help="The folder with MNIST's four files.",
        rich_help_panel=DATA_PANEL,
    ),
]
KeepOption = Annotated[
    Path | None,
    typer.Option(
        "--keep",
        metavar="FOLDER",
        help="Keep finished runs there: the same command goes on after an interruption. Once it "
        "has finished, runs that are timed are made anew.",
        show_default="cells in the folder of --out",
        rich_help_panel=WORK_PANEL,
    ),
]

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command()
def reproduce_command(
    names: NamesArgument = None,
    every: Annotated[bool, typer.Option("--all", help="Make all figures.")] = False,
    quick: Annotated[
        bool,
        typer.Option("--quick", help="A smaller size, at most a minute each on two cores."),
    ] = False,
    out: Annotated[
        Path, typer.Option("--out", metavar="FOLDER", help="Where pictures, data and pages go.")
    ] = FOLDER,
    movielens: MovieLensOption = None,
    jester: JesterOption = None,
    mnist: MnistOption = None,
    workers: WorkersOption = None,
    keep: KeepOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make figures and tables of the papers again, and say what differs."""
    if names and every:
        raise InputError("--all makes every figure: give names or --all, not both")
    if not names and not every:
        _list(as_json=as_json)
        return
    data = DataFiles(movielens=movielens, jester=jester, mnist=mnist)
    _check_data(data)
    figures = [load_figure(name) for name in dict.fromkeys(names or figure_names())]
    check_folder(out)
    kept = out / "cells" if keep is None else keep
    work = Work(kept, workers, None)
    made, failed = _make(figures, out, "quick" if quick else "full", data, work)
    report = write_report(out, made) if made else None
    forget_times(made, kept)
    if as_json:
        typer.echo(json.dumps([_document(one) for one in made]))
    else:
        _show(made, report)
    if failed:
        raise typer.Exit(exit_codes.FAILED)


def _list(*, as_json: bool) -> None:
    found = {name: load_figure(name).title for name in figure_names()}
    if as_json:
        typer.echo(json.dumps([{"name": name, "title": text} for name, text in found.items()]))
        return
    out = Console(highlight=False)
    for name, text in found.items():
        out.print(f"[bold]{escape(name)}[/bold]  {escape(text)}")


def _check_data(data: DataFiles) -> None:
    for one in fields(data):
        path: Path | None = getattr(data, one.name)
        if path is not None and not path.exists():
            raise InputError(
                f"--{one.name}: there is no {path}; check the path, or leave the option out to use "
                "a look-alike"
            )


def _make(
    figures: list[Figure], out: Path, size: Size, data: DataFiles, work: Work
) -> tuple[list[Reproduced], bool]:
    """The figures one after the other; one that fails does not keep the others from being made."""
    made, failed = [], False
    for figure in figures:
        try:
            with study_progress(figure.name, work) as report:
                one = reproduce(
                    figure,
                    out,
                    size=size,
                    data=data,
                    kept=work.keep,
                    workers=work.workers,
                    progress=report,
                )
            write_page(one)
        except LotorError as error:
            if len(figures) == 1:
                raise
            failed = True
            typer.echo(f"lotor: {figure.name} was not made: {error}", err=True)
        else:
            made.append(one)
    return made, failed


def _document(made: Reproduced) -> dict[str, object]:
    endings = ("svg", "png", "csv", "md")
    return {
        "name": made.figure.name,
        "title": made.figure.title,
        "size": made.size,
        "setting": made.setting,
        "found": list(made.found),
        "files": {ending: str(made.file(ending)) for ending in endings},
    }


def _show(made: list[Reproduced], report: Path | None) -> None:
    out = Console(highlight=False)
    for one in made:
        out.print(f"[bold]{escape(one.figure.name)}[/bold]  {escape(one.figure.title)}")
        for sentence in (one.setting, *one.found):
            if sentence:
                out.print(f"  {escape(sentence)}")
    if report is not None:
        out.print(f"{escape(str(report))} has the figures on one page.")
