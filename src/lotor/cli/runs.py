"""`lotor runs`: the runs of a party, and what its operator decides about them."""

import json
from datetime import UTC, datetime
from typing import Annotated

import msgspec
import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table as Grid

from lotor.cli.derive import JsonOption
from lotor.cli.serve import KitOption, LevelOption, LogOption
from lotor.cli.show import show_account
from lotor.cli.start import watch
from lotor.core.errors import InputError, LotorError
from lotor.protocols.protocol import PROTOCOLS
from lotor.runtime.daemon import announcement, commands, logs
from lotor.runtime.daemon.config_tables import OwnerTable
from lotor.runtime.daemon.frames import Status
from lotor.runtime.daemon.serving import OpenKit, open_kit
from lotor.runtime.durable.journal import FINISHED, RUNNING, WAITING, Journal, RunRow

app = typer.Typer(no_args_is_help=True, help="Follow, approve, stop and show the runs of a party.")
RunArgument = Annotated[str, typer.Argument(help="The run's id, or its beginning.")]


def described(at: OpenKit, row: RunRow) -> dict[str, object]:
    """What this party knows of a run; an owner's own pulls are in its own journal only."""
    t, messages, size = at.journal.progress(row.id)
    document: dict[str, object] = {
        "run": row.id,
        "state": row.state,
        "note": row.note,
        "seat": row.seat,
        "created": _moment(row.created),
        "changed": _moment(row.changed),
        "version": row.version,
        "round": t,
        "messages_sent": messages,
        "bytes_sent": size,
    }
    try:
        agreement = announcement.check(
            row.announcement, row.signature, protocols=PROTOCOLS, trust=None, key=at.kit.key
        )
    except LotorError as error:
        return {**document, "note": str(error)}
    plan = agreement.plan
    document |= {
        "protocol": agreement.announcement.protocol,
        "form": agreement.form.name,
        "code": [str(one) for one in agreement.announcement.code],
        "policy": plan.policy,
        "budget": plan.budget,
        "arms": plan.k,
        "members": {
            seat: {"name": one.subject.name, "role": one.subject.role, "key": one.key_bytes.hex()}
            for seat, one in agreement.members.items()
        },
        "others": {seat: _status(data) for seat, data in at.journal.statuses(row.id).items()},
    }
    if at.config.owner is not None:
        document |= _own(at.config.owner, *at.journal.pulled(row.id))
    if row.seat == agreement.form.opener:
        document["reward"] = at.journal.output(row.id)
    if plan.account is not None:
        document["privacy"] = dict(plan.account)
    return document


def _own(owner: OwnerTable, asked: int, mean: float | None) -> dict[str, object]:
    """How often this party was asked for each kind of answer."""
    if owner.pull is None and owner.act is not None:
        return {"own_acts": asked}
    if owner.pull is None and owner.features is not None:
        return {"own_contexts": asked}
    return {"own_pulls": asked, "own_mean": mean}


def _status(data: bytes) -> dict[str, object]:
    status = msgspec.msgpack.decode(data, type=Status)
    return {
        "state": status.state,
        "text": status.text,
        "round": status.round,
        "time": _moment(status.time),
    }


def _moment(when: float) -> str:
    return datetime.fromtimestamp(when, UTC).isoformat(timespec="seconds")


def _ordered(run: str) -> dict[str, object]:
    """A run that was asked for and has not been opened."""
    note = "waits for its members: `lotor runs stop` takes it back"
    return {"run": run, "state": "ordered", "seat": "", "round": 0, "changed": "", "note": note}


@app.command("list")
def list_command(kit: KitOption, as_json: JsonOption = False) -> None:
    """List this party's runs."""
    with open_kit(kit) as at:
        rows = [described(at, row) for row in at.journal.runs()]
        rows += [_ordered(run) for run in at.journal.commands.new_runs()]
    if as_json:
        typer.echo(json.dumps(rows))
        return
    grid = Grid(box=None, header_style="bold")
    for heading in ("run", "state", "seat", "policy", "budget", "round", "since", "note"):
        grid.add_column(heading, overflow="fold")
    for row in rows:
        cells = (row["run"], row["state"], row["seat"], row.get("policy", ""))
        counts = (row.get("budget", ""), row["round"], row["changed"], row["note"])
        grid.add_row(*(escape(str(cell)) for cell in (*cells, *counts)))
    Console().print(grid if rows else "no runs yet")


@app.command("show")
def show_command(run: RunArgument, kit: KitOption, as_json: JsonOption = False) -> None:
    """Show one run: who takes part, how it stands, and what this party alone may see."""
    with open_kit(kit) as at:
        document = described(at, at.journal.run(run))
    if as_json:
        typer.echo(json.dumps(document))
        return
    out = Console(highlight=False)
    account = document.pop("privacy", None)
    for key, value in document.items():
        if isinstance(value, dict):
            out.print(f"[bold]{key}[/bold]")
            for seat, about in value.items():
                words = ", ".join(f"{k} {v}" for k, v in about.items() if v not in ("", None))
                out.print(f"  {seat}: {words}", markup=False)
        elif value not in ("", None):
            text = ", ".join(value) if isinstance(value, list) else str(value)
            out.print(f"[bold]{key}[/bold] {escape(text)}")
    if isinstance(account, dict):
        show_account(out, account)


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
    when = "" if _served(at.journal) else " as soon as this party runs again"
    typer.echo(f"{done}{when}", err=True)


def _served(journal: Journal) -> bool:
    if journal.lock():
        journal.unlock()
        return False
    return True


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
    """End a run on all sides, without a result."""
    with open_kit(kit) as at:
        for order in at.journal.commands.new_runs():
            if order.startswith(run) and at.journal.commands.withdraw(order):
                typer.echo(f"the order of run {order} is taken back", err=True)
                return
        row = at.journal.run(run)
        if row.state not in (WAITING, RUNNING):
            raise InputError(f"run {row.id} is {row.state} already")
        _ask(at, row, commands.Stop(reason), f"run {row.id} is stopped")


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
        raise InputError("give exactly one of --reward X, --features X,Y, --lost and --again")
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
        raise InputError("features cannot be lost: give --features X,Y or --again")
