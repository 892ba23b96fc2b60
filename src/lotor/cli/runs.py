"""`lotor runs`: the runs of a party, and what its operator decides about them."""

import json
from typing import Annotated

import typer
from rich.console import Console

from lotor.cli.derive import JsonOption, whole_number
from lotor.cli.runs_prune import prune_command
from lotor.cli.runs_show import print_list, print_run
from lotor.cli.serve import KitOption, LevelOption, LogOption
from lotor.cli.start import watch
from lotor.core.errors import InputError
from lotor.core.wording import counted
from lotor.runtime.daemon import logs
from lotor.runtime.daemon.local.interface import (
    Excluding,
    LocalInterface,
    Reason,
    Receipt,
    Resolution,
    RoundsWanted,
)
from lotor.runtime.daemon.serving import open_kit

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    help="Follow, approve, pause, stop, show and prune the runs of a party.",
)
RunArgument = Annotated[str, typer.Argument(help="The run's id, or its beginning.")]


@app.command("list")
def list_command(kit: KitOption, as_json: JsonOption = False) -> None:
    """List this party's runs, with who is missing and who waits for approval."""
    with open_kit(kit) as at:
        rows = list(LocalInterface(at).runs())
    if as_json:
        typer.echo(json.dumps(rows))
    else:
        print_list(Console(highlight=False), rows)


@app.command("show")
def show_command(run: RunArgument, kit: KitOption, as_json: JsonOption = False) -> None:
    """Show one run: how it stands, who holds it up, who takes part, and what only you may see."""
    with open_kit(kit) as at:
        document = LocalInterface(at).run(run)
    if as_json:
        typer.echo(json.dumps(document))
    else:
        print_run(Console(highlight=False), document, at.kit.path)


@app.command()
def follow(
    run: RunArgument,
    kit: KitOption,
    as_json: JsonOption = False,
    log: LogOption = "text",
    log_level: LevelOption = "warning",
) -> None:
    """Wait for a run's end, driving this party if no other process does."""
    with open_kit(kit) as at:
        logs.configure(at.kit.subject.name, at.kit.subject.role, log, log_level)
        watch(at, at.journal.run(run).id, as_json=as_json, progress=log == "text")


def _say(receipt: Receipt) -> None:
    typer.echo(receipt.done, err=True)


@app.command()
def approve(run: RunArgument, kit: KitOption) -> None:
    """Let a run start that waits because this party's [consent] does not allow it by itself."""
    with open_kit(kit) as at:
        _say(LocalInterface(at).approve(run))


@app.command()
def refuse(
    run: RunArgument,
    kit: KitOption,
    reason: Annotated[str, typer.Option(help="Told to all parties.")] = "no reason given",
) -> None:
    """Do not take part in a waiting run; it ends for all parties."""
    with open_kit(kit) as at:
        _say(LocalInterface(at).refuse(run, Reason(reason)))


@app.command()
def stop(
    run: RunArgument,
    kit: KitOption,
    reason: Annotated[str, typer.Option(help="Told to all parties.")] = "no reason given",
) -> None:
    """End a run on all sides, without a result.

    A run that has finished here keeps its last messages for peers that have not received them; this
    drops them, and those peers end without a result.
    """
    with open_kit(kit) as at:
        _say(LocalInterface(at).stop(run, Reason(reason)))


@app.command("next")
def next_command(
    run: RunArgument,
    kit: KitOption,
    count: Annotated[int, typer.Option(parser=whole_number, help="How many rounds.")] = 1,
    as_json: JsonOption = False,
) -> None:
    """Let the next round begin, in a run that was started with --on-demand."""
    with open_kit(kit) as at:
        name, found = at.journal.run(run).id, LocalInterface(at).next(run, RoundsWanted(count))
    if as_json:
        about = {"granted": found.granted, "last_round": found.last, "left": found.left}
        typer.echo(json.dumps({"run": name, **about}))
    else:
        rounds = f"{counted(count, 'more round')} may begin, up to round {found.last}"
        typer.echo(f"run {name}: {rounds}", err=True)


@app.command()
def pause(run: RunArgument, kit: KitOption) -> None:
    """Let no more rounds begin; the one that has begun goes on to its end."""
    with open_kit(kit) as at:
        _say(LocalInterface(at).pause(run))


@app.command()
def resume(run: RunArgument, kit: KitOption) -> None:
    """Go on with a run that you have paused."""
    with open_kit(kit) as at:
        _say(LocalInterface(at).resume(run))


@app.command()
def exclude(
    run: RunArgument,
    owner: Annotated[str, typer.Argument(help="The owner that is lost, by its name.")],
    kit: KitOption,
) -> None:
    """Agree that a run goes on without an owner that is lost for good.

    Once it has been away for as long as the run's --exclude-after says, and all others have
    agreed, its arms leave the run. What it had counted stays in the total, which says so. It cannot
    come back into that run.
    """
    with open_kit(kit) as at:
        _say(LocalInterface(at).exclude(run, Excluding(owner)))


@app.command()
def resolve(
    run: RunArgument,
    decision: Annotated[
        str, typer.Argument(help="The decision in doubt, as `runs show` names it.")
    ],
    kit: KitOption,
    reward: Annotated[
        str | None,
        typer.Option(
            help="The decision was carried out, and this was its reward; '-' reads it from stdin, "
            "so that no list of processes shows it."
        ),
    ] = None,
    features: Annotated[
        str | None,
        typer.Option(help="The features of its context, e.g. '0.1,-0.2', or '-' for stdin."),
    ] = None,
    lost: Annotated[
        bool,
        typer.Option(
            "--lost",
            help="Nobody knows. Counts as a pull with the lowest reward, or as carried out if "
            "another party gets the reward.",
        ),
    ] = False,
    again: Annotated[
        bool,
        typer.Option("--again", help="The decision was not carried out: call the function again."),
    ] = False,
) -> None:
    """Say what became of a decision in doubt, so that the run goes on."""
    if (reward is not None) + (features is not None) + lost + again != 1:
        raise InputError("give exactly one of --reward -, --features -, --lost and --again")
    with open_kit(kit) as at:
        paid, values = _reward(reward), _numbers("--features", features)
        resolution = Resolution(decision, paid, values, lost, again)
        _say(LocalInterface(at).resolve(run, resolution))


app.command("prune")(prune_command)


def _reward(text: str | None) -> float | None:
    found = _numbers("--reward", text)
    if found is not None and len(found) != 1:
        raise InputError("--reward takes one number, or - to read it from stdin")
    return None if found is None else found[0]


def _numbers(option: str, text: str | None) -> tuple[float, ...] | None:
    """The numbers that were given; an error does not show them, since they may be secret."""
    if text == "-":
        stdin = typer.get_text_stream("stdin")
        if stdin.isatty():
            typer.echo(f"{option.removeprefix('--')}: ", err=True, nl=False)
        text = stdin.readline()
    try:
        return None if text is None else tuple(float(word) for word in text.split(","))
    except ValueError:
        raise InputError(
            f"{option} takes numbers with commas between them, or - to read them from stdin"
        ) from None
