"""`lotor decisions`: what is to be carried out at a party, and has no outcome yet."""

import json
import time
from typing import Annotated

import msgspec
import typer
from rich.console import Console

from lotor.cli.derive import JsonOption, whole_number
from lotor.cli.serve import KitOption
from lotor.cli.show import small_table
from lotor.core.durations import in_words
from lotor.runtime.daemon.local.interface import GivingBack, LocalInterface, Taking
from lotor.runtime.daemon.serving import open_kit
from lotor.runtime.durable.open_decisions import OpenDecision

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    help="List and take the decisions that wait at a party for their outcomes.",
)
RunArgument = Annotated[
    str, typer.Argument(help="The run's id, or its beginning; all runs without it.")
]


@app.command("list")
def list_command(kit: KitOption, run: RunArgument = "", as_json: JsonOption = False) -> None:
    """List the decisions that have no outcome yet, the oldest first."""
    with open_kit(kit) as at:
        found = LocalInterface(at).decisions(run)
    if as_json:
        typer.echo(json.dumps([msgspec.to_builtins(one) for one in found]))
    elif found:
        _print(found)
    else:
        typer.echo("no decision waits for its outcome", err=True)


@app.command()
def take(
    kit: KitOption,
    run: RunArgument = "",
    count: Annotated[
        int, typer.Option(parser=whole_number, help="How many at most, the oldest first.")
    ] = 1,
    as_json: JsonOption = False,
) -> None:
    """Take decisions to carry out: nobody else is given them. Their ids go to stdout."""
    with open_kit(kit) as at:
        found = LocalInterface(at).take(Taking(count, run))
    if as_json:
        typer.echo(json.dumps([msgspec.to_builtins(one) for one in found]))
        return
    for one in found:
        typer.echo(f"{one.id}\t{_arm(one)}")
    if not found:
        typer.echo("no decision waits to be carried out", err=True)


@app.command("give-back")
def give_back(
    decision: Annotated[str, typer.Argument(help="The decision's id.")], kit: KitOption
) -> None:
    """A decision that was taken was not carried out: let somebody else, or the function, do it."""
    with open_kit(kit) as at:
        receipt = LocalInterface(at).give_back(GivingBack(decision))
    typer.echo(receipt.done, err=True)


def _print(found: list[OpenDecision]) -> None:
    table = small_table("Decisions without an outcome")
    for heading in ("decision", "round", "arm", "since", ""):
        table.add_column(heading)
    for one in found:
        stands = "to be carried out" if one.taken is None else f"taken {_ago(one.taken)}"
        table.add_row(one.id, str(one.round), _arm(one), _ago(one.since), stands)
    Console(highlight=False).print(table)


def _arm(one: OpenDecision) -> str:
    return "hidden here" if one.arm is None else f"arm {one.arm}"


def _ago(moment: float) -> str:
    return f"{in_words(max(0.0, time.time() - moment))} ago"
