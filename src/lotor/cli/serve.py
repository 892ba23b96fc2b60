"""`lotor serve`: one party, until it is stopped."""

import asyncio
import signal
from pathlib import Path
from typing import Annotated, Literal

import typer

from lotor.runtime.daemon import logs
from lotor.runtime.daemon.serving import OpenKit, open_kit, serve

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)

KitOption = Annotated[Path, typer.Option("--kit", help="The party's folder: keys and party.toml.")]
LogOption = Annotated[
    Literal["text", "json"], typer.Option("--log", help="How log lines on stderr look.")
]
LevelOption = Annotated[
    str, typer.Option("--log-level", help="debug, info, warning, error or critical.")
]


@app.command()
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
