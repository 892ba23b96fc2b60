"""The `lotor` command. Data goes to stdout, progress and errors to stderr."""

import sys
import warnings
from typing import Annotated

import typer

import lotor
from lotor.cli import exit_codes
from lotor.cli.demo import demo_command
from lotor.cli.doctor import doctor_command
from lotor.cli.keys import keys_app
from lotor.cli.party import serve_command, start_command
from lotor.cli.policies import policies_command
from lotor.cli.run import run_command
from lotor.cli.runs import runs_app
from lotor.core.errors import LotorError

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Bandits over several organisations' data that none of them shows.",
    epilog=exit_codes.EPILOG,
)
app.add_typer(keys_app, name="keys")
app.add_typer(runs_app, name="runs")
app.command("demo")(demo_command)
app.command("serve")(serve_command)
app.command("start")(start_command)
app.command("doctor")(doctor_command)
app.command("run")(run_command)
app.command("policies")(policies_command)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"lotor {lotor.__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run the command; every expected failure is one line on stderr and an exit code."""
    warnings.simplefilter("default", UserWarning)
    warnings.showwarning = _warn
    try:
        app()
    except LotorError as error:
        typer.echo(f"lotor: {error}", err=True)
        sys.exit(exit_codes.of(error))


def _warn(message: Warning | str, *_: object, **__: object) -> None:
    """One line on stderr, without the place in the program."""
    typer.echo(f"lotor: warning: {message}", err=True)
