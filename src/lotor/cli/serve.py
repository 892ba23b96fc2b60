"""`lotor serve`: one party, until it is stopped."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from lotor.runtime.daemon.serving import serve_kit

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
    serve_kit(kit, log, log_level)
