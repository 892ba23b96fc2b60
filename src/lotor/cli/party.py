"""Commands of one party: `lotor serve`, and `lotor start` for the customer."""

import asyncio
import json
import secrets
import signal
import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from lotor.cli.exit_codes import INTERRUPTED
from lotor.cli.progress import RunProgress
from lotor.cli.start_options import PROTOCOLS, order_options
from lotor.core.errors import (
    ConsentError,
    InputError,
    MissingPartyError,
    RunEndedError,
    StoppedError,
)
from lotor.protocols.party import RUN_ID_BYTES
from lotor.runtime.daemon import commands, logs
from lotor.runtime.daemon.serving import Desk, desk, follow, serve
from lotor.runtime.durable.journal import FINISHED, REFUSED, STOPPED, RunRow

KitOption = Annotated[Path, typer.Option("--kit", help="The party's folder: keys and party.toml.")]
LogOption = Annotated[
    Literal["text", "json"], typer.Option("--log", help="How log lines on stderr look.")
]
LevelOption = Annotated[
    str, typer.Option("--log-level", help="debug, info, warning, error or critical.")
]


def serve_command(kit: KitOption, log: LogOption = "text", log_level: LevelOption = "info") -> None:
    """Run one party: its role and name are in its certificate. Stop it with ctrl-C or SIGTERM."""
    with desk(kit) as at:
        logs.configure(at.kit.subject.name, at.kit.subject.role, log, log_level)
        asyncio.run(_until_stopped(at))


async def _until_stopped(at: Desk) -> None:
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    await serve(at, stop)


def start_command(
    protocol: Annotated[
        str, typer.Argument(help=f"What to run: {', '.join(PROTOCOLS)}.", show_default=False)
    ],
    kit: KitOption,
    budget: Annotated[int, typer.Option(help="How many pulls, the paper's N.")],
    policy: Annotated[
        str | None,
        typer.Option(
            help="As `lotor policies` lists them, e.g. 'softmax:tau=0.02'.  [default: ucb, linucb "
            "or spectral-ucb]"
        ),
    ] = None,
    owners: Annotated[
        str | None,
        typer.Option(help="Who takes part, e.g. 'lyon,porto'.  [default: [members] of party.toml]"),
    ] = None,
    selection: Annotated[
        Literal["bits", "position"] | None,
        typer.Option(help="samba: how owners learn who is pulled.  [default: bits]"),
    ] = None,
    slot_bits: Annotated[
        int | None,
        typer.Option(help="linucb-ds: how wide a score is, 64 or 96.  [default: 64]"),
    ] = None,
    key_bits: Annotated[
        int | None, typer.Option(help="Paillier: 2048, 3072 or 4096.  [default: 3072]")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON on stdout.")] = False,
    log: LogOption = "text",
    log_level: LevelOption = "warning",
) -> None:
    """Start a run as the customer, wait for it, and print the total.

    A run that was cut off goes on with `lotor runs follow RUN`.
    """
    options = order_options(
        protocol, policy=policy, selection=selection, slot_bits=slot_bits, key_bits=key_bits
    )
    with desk(kit) as at:
        logs.configure(at.kit.subject.name, at.kit.subject.role, log, log_level)
        members = {role: list(names) for role, names in at.config.members.items()}
        if owners is not None:
            members["owner"] = [name.strip() for name in owners.split(",")]
        run = secrets.token_hex(RUN_ID_BYTES)
        at.journal.ask(run, commands.to_bytes(commands.Order(protocol, budget, options, members)))
        watch(at, run, as_json=as_json, progress=log == "text")


def watch(at: Desk, run: str, *, as_json: bool, progress: bool) -> None:
    """Follow a run to its end and print what came of it."""
    try:
        row = asyncio.run(_watch(at, run, progress=progress))
    except KeyboardInterrupt:
        if at.journal.withdraw(run):
            typer.echo("lotor: interrupted before the run began; nothing was started", err=True)
            raise typer.Exit(INTERRUPTED) from None
        typer.echo(
            f"lotor: no longer watching. Without its customer the run waits: go on with `lotor "
            f"runs follow {run[:8]} --kit {at.kit.path}`, or end it with `lotor runs stop`",
            err=True,
        )
        raise typer.Exit(INTERRUPTED) from None
    if row is None:
        raise InputError(str(at.journal.impossible(run)))
    if row.state != FINISHED:
        raise _ended(row)
    total = at.journal.output(run)
    if as_json:
        typer.echo(json.dumps({"run": run, "reward": total}))
    elif total is not None:
        typer.echo(f"total reward {total:g} (run {run})")
    else:
        typer.echo(f"run {run} is finished; its customer has the total")


async def _watch(at: Desk, run: str, *, progress: bool) -> RunRow | None:
    if not progress:  # JSON lines, and nothing between them
        return await follow(at, run, lambda _row: None)
    with RunProgress(at.journal, run, sys.stderr) as shown:
        return await follow(at, run, shown.show)


def _ended(row: RunRow) -> RunEndedError:
    kind = {REFUSED: ConsentError, STOPPED: StoppedError}.get(row.state, RunEndedError)
    if "stayed away" in row.note:
        kind = MissingPartyError
    return kind(f"run {row.id} ended without a result: {row.note}")
