"""Commands of one party: `lotor serve`, and `lotor start` for the one that orders runs."""

import asyncio
import json
import secrets
import signal
import sys
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.console import Console

from lotor.cli import run_options as o
from lotor.cli.account import account_of
from lotor.cli.exit_codes import INTERRUPTED
from lotor.cli.progress import RunProgress
from lotor.cli.show_privacy import show_account
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
from lotor.runtime.daemon.serving import OpenKit, follow, open_kit, serve
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
    with open_kit(kit) as at:
        logs.configure(at.kit.subject.name, at.kit.subject.role, log, log_level)
        asyncio.run(_until_stopped(at))


async def _until_stopped(at: OpenKit) -> None:
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    await serve(at, stop)


def start_command(
    protocol: Annotated[
        str, typer.Argument(help=f"What to run: {', '.join(PROTOCOLS)}.", show_default=False)
    ],
    kit: KitOption,
    budget: o.BudgetOption,
    policy: o.PolicyOption = None,
    owners: Annotated[
        str | None,
        typer.Option(
            help="Who takes part, e.g. 'lyon,porto'.", show_default="[members] of party.toml"
        ),
    ] = None,
    selection: o.SelectionOption = None,
    key_bits: o.KeyBitsOption = None,
    slot_bits: o.SlotBitsOption = None,
    epsilon: o.EpsilonOption = None,
    bits: o.BitsOption = None,
    delay: o.DelayOption = None,
    privacy_budget: o.PrivacyBudgetOption = None,
    delta: o.DeltaOption = None,
    index: o.IndexOption = None,
    switch: o.SwitchOption = None,
    eta: o.EtaOption = None,
    security: o.SecurityOption = None,
    stages: o.StagesOption = None,
    noise_bits: o.NoiseBitsOption = None,
    mean_bound: o.MeanBoundOption = None,
    rms_length: o.RmsLengthOption = None,
    as_json: o.JsonOption = False,
    log: LogOption = "text",
    log_level: LevelOption = "warning",
) -> None:
    """Start a run, wait for it, and print the total, as the party that learns it.

    That is the customer, in ppcb the receiver, in helba the user. A run that was cut off goes on
    with `lotor runs follow RUN`.
    """
    options = order_options(
        protocol,
        policy=policy,
        selection=selection,
        key_bits=key_bits,
        slot_bits=slot_bits,
        epsilon=epsilon,
        bits=bits,
        delay=delay,
        privacy_budget=privacy_budget,
        delta=delta,
        index=index,
        C=switch,
        eta=eta,
        security=security,
        stages=stages,
        noise_bits=noise_bits,
        mean_bound=mean_bound,
        rms_length=rms_length,
    )
    with open_kit(kit) as at:
        logs.configure(at.kit.subject.name, at.kit.subject.role, log, log_level)
        members = {role: list(names) for role, names in at.config.members.items()}
        if owners is not None:
            members["owner"] = [name.strip() for name in owners.split(",")]
        run = secrets.token_hex(RUN_ID_BYTES)
        at.journal.commands.add(
            run, commands.to_bytes(commands.StartRun(protocol, budget, options, members))
        )
        watch(at, run, as_json=as_json, progress=log == "text")


def watch(at: OpenKit, run: str, *, as_json: bool, progress: bool) -> None:
    """Follow a run to its end and print what came of it."""
    try:
        row = asyncio.run(_watch(at, run, progress=progress))
    except KeyboardInterrupt:
        if at.journal.commands.withdraw(run):
            typer.echo("lotor: interrupted before the run began; nothing was started", err=True)
            raise typer.Exit(INTERRUPTED) from None
        typer.echo(
            f"lotor: no longer watching. Without this party the run waits: go on with `lotor "
            f"runs follow {run[:8]} --kit {at.kit.path}`, or end it with `lotor runs stop`",
            err=True,
        )
        raise typer.Exit(INTERRUPTED) from None
    if row is None:
        raise InputError(str(at.journal.commands.impossible(run)))
    if row.state != FINISHED:
        raise _ended(row)
    _say_what_came(row, at.journal.output(run), as_json=as_json)


def _say_what_came(row: RunRow, total: object, *, as_json: bool) -> None:
    account = account_of(row)
    if as_json:
        privacy = {} if account is None else {"privacy": account}
        typer.echo(json.dumps({"run": row.id, "reward": total, **privacy}))
        return
    if isinstance(total, int | float):
        typer.echo(f"total reward {total:g} (run {row.id})")
    else:
        typer.echo(f"run {row.id} is finished; who started it has the total")
    if account is not None:
        show_account(Console(), account)


async def _watch(at: OpenKit, run: str, *, progress: bool) -> RunRow | None:
    if not progress:  # JSON lines, and nothing between them
        return await follow(at, run, lambda _row: None)
    with RunProgress(at.journal, run, sys.stderr) as shown:
        return await follow(at, run, shown.show)


def _ended(row: RunRow) -> RunEndedError:
    kind = {REFUSED: ConsentError, STOPPED: StoppedError}.get(row.state, RunEndedError)
    if "stayed away" in row.note:
        kind = MissingPartyError
    return kind(f"run {row.id} ended without a result: {row.note}")
