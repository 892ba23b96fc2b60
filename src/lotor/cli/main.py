"""The `lotor` command. Data goes to stdout, progress and errors to stderr."""

import sys
import warnings
from typing import Annotated, Any

import typer

from lotor.cli import exit_codes
from lotor.cli.lazy import LazyGroup
from lotor.cli.usage import explained
from lotor.core.errors import LotorError
from lotor.core.version import VERSION

app = typer.Typer(
    cls=LazyGroup,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Bandits that learn from several organisations' data without showing it to anybody.",
    epilog=exit_codes.EPILOG,
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"lotor {VERSION}")
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
        code = app(prog_name="lotor", standalone_mode=False)
    except LotorError as error:
        typer.echo(f"lotor: {error}", err=True)
        code = exit_codes.of(error)
    except typer.Abort:
        code = exit_codes.INTERRUPTED
    except Exception as error:
        # What typer raises has no class of its own in all versions.
        if not hasattr(error, "format_message"):
            raise
        code = _misused(error)
    sys.exit(code)


def _misused(error: Any) -> int:
    """Say what was wrong with the command; one that was given nothing shows its help."""
    if type(error).__name__ == "NoArgsIsHelpError":
        error.show()
    else:
        typer.echo(f"lotor: {explained(error)}", err=True)
    return exit_codes.INPUT


def _warn(message: Warning | str, *_: object, **__: object) -> None:
    """One line on stderr, without the place in the program."""
    typer.echo(f"lotor: warning: {message}", err=True)
