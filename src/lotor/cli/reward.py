"""`lotor reward`: what decisions have paid."""

from pathlib import Path
from typing import Annotated

import typer

from lotor.cli.serve import KitOption
from lotor.core.errors import InputError
from lotor.core.wording import counted
from lotor.runtime.daemon.local.interface import LocalInterface, Telling, TellingMany
from lotor.runtime.daemon.serving import open_kit
from lotor.runtime.durable.open_decisions import read_outcomes

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
STDIN = "-"


@app.command()
def reward_command(
    run: Annotated[str, typer.Argument(help="The run's id, or its beginning.")],
    kit: KitOption,
    decision: Annotated[
        str | None,
        typer.Argument(
            help="The decision, as `lotor decisions list` names it.", show_default=False
        ),
    ] = None,
    file: Annotated[
        str,
        typer.Option(
            help="A file with the outcome, and nothing else; without it, the outcome is read from "
            "stdin, or asked for, so that no list of processes shows it."
        ),
    ] = STDIN,
    csv: Annotated[
        str | None,
        typer.Option(
            help="A CSV file with the columns `decision` and `reward` ('-': stdin), for many; an "
            "empty reward is a lost one. All lines count, or none."
        ),
    ] = None,
    lost: Annotated[
        bool,
        typer.Option(
            "--lost",
            help="Nobody will ever know the outcome. It counts as no pull where outcomes may come "
            "late, and as the lowest reward where the run waits for each.",
        ),
    ] = False,
) -> None:
    """Tell what a decision has paid: once, when it is known, in any order."""
    if (decision is None) == (csv is None):
        raise InputError("give the id of one decision, or --csv with a file of many")
    if lost and (csv is not None or file != STDIN):
        raise InputError("--lost stands for the outcome, so give it without a file")
    with open_kit(kit) as at:
        found = at.journal.run(run).id
        if csv is not None:
            told = read_outcomes(_text(csv).splitlines(), csv)
        else:
            told = [(str(decision), None if lost else _reward(file, str(decision)))]
        outcomes = [
            Telling(_full(found, name), reward, lost=reward is None) for name, reward in told
        ]
        done = LocalInterface(at).tell_many(TellingMany(tuple(outcomes)))
    typer.echo(
        f"{counted(done.new, 'outcome')} of run {found} written down"
        + (f"; {done.known} had been told before, as the same" if done.known else ""),
        err=True,
    )


def _full(run: str, decision: str) -> str:
    """A decision by its whole id, also where it is given without its run."""
    return decision if decision.startswith(f"{run}/") else f"{run}/{decision}"


def _reward(name: str, decision: str) -> float:
    """One number; an error does not show what was read, since it may be secret."""
    stdin = typer.get_text_stream("stdin")
    if name == STDIN and stdin.isatty():
        typer.echo(f"outcome of {decision}: ", err=True, nl=False)
    text = stdin.readline() if name == STDIN else _text(name)
    try:
        return float(text)
    except ValueError:
        where = "stdin" if name == STDIN else name
        raise InputError(f"{where} does not hold one number: give the outcome alone") from None


def _text(name: str) -> str:
    if name == STDIN:
        return typer.get_text_stream("stdin").read()
    try:
        return Path(name).read_text(encoding="utf-8-sig")  # as some spreadsheets write it
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"{name} cannot be read ({type(error).__name__}): give the path of a text file"
        ) from None
