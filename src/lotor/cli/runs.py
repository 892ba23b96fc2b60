"""`lotor runs`: the runs of a party, and what its operator decides about them."""

import json
from typing import Annotated

import typer
from rich.console import Console

from lotor.cli.derive import JsonOption, whole_number
from lotor.cli.run_document import described, is_served, ordered
from lotor.cli.runs_show import print_list, print_run
from lotor.cli.serve import KitOption, LevelOption, LogOption
from lotor.cli.start import watch
from lotor.core.errors import InputError
from lotor.core.wording import counted
from lotor.runtime.daemon import commands, logs
from lotor.runtime.daemon.config_tables import OwnerTable
from lotor.runtime.daemon.round_orders import let_begin
from lotor.runtime.daemon.round_orders import pause as order_pause
from lotor.runtime.daemon.round_orders import resume as order_resume
from lotor.runtime.daemon.serving import OpenKit, open_kit
from lotor.runtime.durable.journal import FINISHED, RUNNING, WAITING, RunRow

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    help="Follow, approve, pause, stop and show the runs of a party.",
)
RunArgument = Annotated[str, typer.Argument(help="The run's id, or its beginning.")]


@app.command("list")
def list_command(kit: KitOption, as_json: JsonOption = False) -> None:
    """List this party's runs, with who is missing and who waits for approval."""
    with open_kit(kit) as at:
        served = is_served(at.journal)
        rows = [described(at, row, served=served) for row in at.journal.runs()]
        rows += [ordered(at, run, served=served) for run in at.journal.commands.new_runs()]
    if as_json:
        typer.echo(json.dumps(rows))
    else:
        print_list(Console(highlight=False), rows)


@app.command("show")
def show_command(run: RunArgument, kit: KitOption, as_json: JsonOption = False) -> None:
    """Show one run: how it stands, who holds it up, who takes part, and what only you may see."""
    with open_kit(kit) as at:
        document = _found(at, run)
    if as_json:
        typer.echo(json.dumps(document))
    else:
        print_run(Console(highlight=False), document, at.kit.path)


def _found(at: OpenKit, run: str) -> dict[str, object]:
    new = [order for order in at.journal.commands.new_runs() if order.startswith(run)]
    if len(new) == 1 and not any(row.id.startswith(run) for row in at.journal.runs()):
        return ordered(at, new[0], served=is_served(at.journal))
    return described(at, at.journal.run(run), served=is_served(at.journal))


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


def _ask(at: OpenKit, row: RunRow, command: commands.Command, done: str) -> None:
    at.journal.commands.add(row.id, commands.to_bytes(command))
    typer.echo(f"{done}{_when_served(at)}", err=True)


def _when_served(at: OpenKit) -> str:
    return "" if is_served(at.journal) else " as soon as this party runs again"


@app.command()
def approve(run: RunArgument, kit: KitOption) -> None:
    """Let a run start that waits because this party's [consent] does not allow it by itself."""
    with open_kit(kit) as at:
        row = at.journal.run(run)
        if row.state != WAITING:
            raise InputError(f"run {row.id} is {row.state}: only a waiting run can be approved")
        _ask(at, row, commands.Approve(), f"run {row.id} is approved and starts")


@app.command()
def refuse(
    run: RunArgument,
    kit: KitOption,
    reason: Annotated[str, typer.Option(help="Told to all parties.")] = "no reason given",
) -> None:
    """Do not take part in a waiting run; it ends for all parties."""
    with open_kit(kit) as at:
        row = at.journal.run(run)
        if row.state != WAITING:
            raise InputError(f"run {row.id} is {row.state}: only a waiting run can be refused")
        _ask(at, row, commands.Refuse(reason), f"run {row.id} is refused")


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
        for order in at.journal.commands.new_runs():
            if order.startswith(run) and at.journal.commands.withdraw(order):
                typer.echo(f"the order of run {order} is taken back", err=True)
                return
        row = at.journal.run(run)
        undelivered = row.state == FINISHED and row.id in at.journal.unsettled()
        if row.state not in (WAITING, RUNNING) and not undelivered:
            raise InputError(f"run {row.id} is {row.state} already")
        _ask(at, row, commands.Stop(reason), f"run {row.id} is stopped")


@app.command("next")
def next_command(
    run: RunArgument,
    kit: KitOption,
    count: Annotated[int, typer.Option(parser=whole_number, help="How many rounds.")] = 1,
    as_json: JsonOption = False,
) -> None:
    """Let the next round begin, in a run that was started with --on-demand."""
    with open_kit(kit) as at:
        row = at.journal.run(run)
        found = let_begin(at, row, count)
        if as_json:
            about = {"granted": found.granted, "last_round": found.last, "left": found.left}
            typer.echo(json.dumps({"run": row.id, **about}))
        else:
            rounds = f"{counted(count, 'more round')} may begin, up to round {found.last}"
            typer.echo(f"run {row.id}: {rounds}{_when_served(at)}", err=True)


@app.command()
def pause(run: RunArgument, kit: KitOption) -> None:
    """Let no more rounds begin; the one that has begun goes on to its end."""
    with open_kit(kit) as at:
        row = at.journal.run(run)
        order_pause(at, row)
        typer.echo(f"run {row.id} is paused{_when_served(at)}", err=True)


@app.command()
def resume(run: RunArgument, kit: KitOption) -> None:
    """Go on with a run that you have paused."""
    with open_kit(kit) as at:
        row = at.journal.run(run)
        order_resume(at, row)
        typer.echo(f"run {row.id} goes on{_when_served(at)}", err=True)


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
        row, owner = at.journal.run(run), at.config.owner
        if owner is None or row.state == FINISHED:
            raise InputError(
                f"no decision of run {row.id} can be in doubt at this party: it has no functions, "
                "or the run is finished"
            )
        paid, values = _reward(reward), _numbers("--features", features)
        _check_verdict(owner, paid, values, lost=lost)
        if decision not in row.note:
            raise InputError(
                f"decision {decision} is not in doubt in run {row.id}: `lotor runs show` names "
                "the one that is"
            )
        verdict = commands.Resolve(decision, paid, lost, values)
        _ask(at, row, verdict, f"decision {decision} is resolved")


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


def _check_verdict(
    owner: OwnerTable, reward: float | None, features: tuple[float, ...] | None, *, lost: bool
) -> None:
    """Refuse an answer of a kind that this party is never asked for."""
    low, high = owner.reward_range
    if reward is not None and owner.pull is None:
        raise InputError(
            "--reward is for a party that has `pull` in its party.toml; this one has not"
        )
    if reward is not None and not low <= reward <= high:
        raise InputError(
            f"the reward lies outside this party's reward_range ({low}, {high}): correct it"
        )
    if features is not None and len(features) != owner.dimensions:
        raise InputError(
            "--features needs as many numbers as owner.dimensions in party.toml says: "
            f"{owner.dimensions or 'none'}, not {len(features)}"
        )
    if lost and not owner.asked_for_arms:
        raise InputError("features cannot be lost: give --features - or --again")
