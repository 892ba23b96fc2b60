"""`lotor runs prune`."""

import json
import time
from typing import Annotated

import msgspec
import typer

from lotor.cli.derive import JsonOption
from lotor.cli.moments import moment
from lotor.cli.serve import KitOption
from lotor.core.errors import InputError
from lotor.core.wording import counted
from lotor.runtime.daemon.local.interface import LocalInterface, PruningWanted
from lotor.runtime.daemon.local.run_document import is_served
from lotor.runtime.daemon.open_kit import OpenKit
from lotor.runtime.daemon.prune_runs import PruningReport
from lotor.runtime.daemon.serving import open_kit

LOOK_SECONDS = 0.1


def prune_command(
    kit: KitOption,
    runs: Annotated[
        list[str] | None, typer.Argument(metavar="[RUN]...", help="Ids, or their beginnings.")
    ] = None,
    older_than: Annotated[
        str | None, typer.Option(help="All that have been over for so long, e.g. 90d, 12h, 2w.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show which runs would be removed.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Remove runs that are over from the journal, for good: decisions, outcomes, results, notes.

    What they have cost still counts: `lotor budget` goes on to show it.
    """
    with open_kit(kit) as at:
        here, wanted = LocalInterface(at), PruningWanted(tuple(runs or ()), older_than)
        report = here.prune(msgspec.structs.replace(wanted, dry_run=True))
        for kept in report.kept:
            typer.echo(f"run {kept.run} stays, since it {kept.why}", err=True)
        if not dry_run and report.pruned:
            if not yes:
                _confirm(report)
            chosen = tuple(one.run for one in report.pruned)
            here.prune(PruningWanted(chosen))
            _wait(at, chosen)
    _print(report, as_json=as_json)
    done = "would be removed" if dry_run else "removed"
    typer.echo(f"{counted(len(report.pruned), 'run')} {done}", err=True)


def _confirm(report: PruningReport) -> None:
    for one in report.pruned:
        typer.echo(_line(one.run, one.state, one.since), err=True)
    typer.echo("Remove these runs for good? [y/N]", err=True)
    answer = typer.get_text_stream("stdin").readline()
    if answer.strip().lower() not in {"y", "yes"}:
        raise InputError(
            "nothing was removed, because nobody said yes: answer y, or use --yes where nobody "
            "can be asked"
        )


def _wait(at: OpenKit, runs: tuple[str, ...]) -> None:
    """Wait until the process that serves the party has seen to it."""
    while any(map(at.journal.commands.asks_for, runs)) and is_served(at.journal):
        time.sleep(LOOK_SECONDS)
    if left := [run for run in runs if at.journal.find(run) is not None]:
        raise InputError(
            f"{counted(len(left), 'run')} could not be removed now: {', '.join(left)}; try again"
        )


def _print(report: PruningReport, *, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps(msgspec.to_builtins(report)))
        return
    for one in report.pruned:
        typer.echo(_line(one.run, one.state, one.since))


def _line(run: str, state: str, since: float) -> str:
    return f"{run}\t{state}\t{moment(since)}"
