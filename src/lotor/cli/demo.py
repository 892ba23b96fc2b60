"""`lotor demo`: a federation of processes on this machine, beside plain."""

import json
import shutil
import signal
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from types import FrameType
from typing import Annotated

import typer
from rich.console import Console

from lotor.cli import exit_codes
from lotor.cli.demo_run import DemoRun, Outcome
from lotor.cli.demo_trials import BUDGET, BUDGETS, HOSPITALS, TRIALS, DemoTrial
from lotor.cli.demo_view import DemoView, pace, show_parties
from lotor.cli.study import different_steps
from lotor.core.errors import InputError, RunEndedError, StoppedError
from lotor.runtime import Result

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
NEXT = (
    "Next: README.md says what this is for, docs/federation.md sets up such a federation on "
    "machines of your own, and `lotor keys --help` makes its keys."
)


def demo_command(
    protocol: Annotated[str, typer.Option(help=f"What to run: {', '.join(TRIALS)}.")] = "samba",
    policy: Annotated[
        str | None,
        typer.Option(
            help="As `lotor policies` lists them, e.g. 'softmax:tau=0.02'.",
            show_default="ucb, linucb, spectral-ucb, linear-epsilon-greedy or batched-oful",
        ),
    ] = None,
    budget: Annotated[
        int | None,
        typer.Option(
            help="How many patients, travellers or pulls.",
            show_default=f"{BUDGET}; helba {BUDGETS['helba']}",
        ),
    ] = None,
    hospitals: Annotated[
        int | None,
        typer.Option(
            min=2, max=len(HOSPITALS), help="samba: how many hospitals.", show_default="3"
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Fixes outcomes and choices.")] = 7,
    kill: Annotated[
        bool, typer.Option("--kill", help="Crash random parties while it runs.")
    ] = False,
    keep: Annotated[
        bool, typer.Option("--keep", help="Keep the folder with keys, journals and logs.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON on stdout.")] = False,
) -> None:
    """Organisations learn together, every party a process of its own on this machine."""
    if protocol not in TRIALS:
        raise InputError(f"no protocol is called {protocol!r}: choose one of {', '.join(TRIALS)}")
    if budget is None:
        budget = BUDGETS.get(protocol, BUDGET)
    trial = TRIALS[protocol](policy, budget, seed, hospitals)
    try:
        with _interruptible() as look:
            plain = trial.plain(lambda _done, _budget: look())
            with _folder(keep=keep) as folder, DemoView(budget) as view:
                outcome = DemoRun(folder, trial, look, view).run(kill=kill)
    except StoppedError as error:
        typer.echo(f"lotor: {error}", err=True)
        raise typer.Exit(exit_codes.INTERRUPTED) from None
    except RunEndedError as error:
        typer.echo(f"lotor: {error}\nlotor: `lotor demo --keep` keeps all logs", err=True)
        raise typer.Exit(exit_codes.FAILED) from None
    same_arms = outcome.arms == plain.arms
    if as_json:
        typer.echo(json.dumps(_document(protocol, trial, outcome, plain)))
    else:
        _show(trial, outcome, plain, kill=kill)
    if outcome.reward != plain.reward or not same_arms:
        raise typer.Exit(exit_codes.DIFFERENT)


@contextmanager
def _interruptible() -> Iterator[Callable[[], None]]:
    """A function that raises once somebody has asked to stop.

    An exception out of a signal handler could come between the start of a process and the moment
    from which it is known.
    """
    asked: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
        asked.append(number)

    def look() -> None:
        if asked:
            raise StoppedError("interrupted; all processes are ended")

    heeded = [number for number in SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, note) for number in heeded}
    try:
        yield look
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _folder(*, keep: bool) -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="lotor-demo-"))
    try:
        yield folder
    finally:
        if keep:
            typer.echo(f"keys, journals and logs are in {folder}", err=True)
        else:
            shutil.rmtree(folder)


def _document(
    protocol: str, trial: DemoTrial, outcome: Outcome, plain: Result
) -> dict[str, object]:
    return {
        "reward": outcome.reward,
        "plain_reward": plain.reward,
        "same_arms": outcome.arms == plain.arms,
        "rounds_per_second": trial.budget / outcome.seconds,
        "seconds": outcome.seconds,
        "kills": outcome.kills,
        "parties": {name: asdict(report) for name, report in outcome.parties.items()},
        "protocol": protocol,
        "policy": plain.options["policy"],
        "budget": trial.budget,
        "seed": trial.seed,
        "run": outcome.run,
    }


def _difference(trial: DemoTrial, outcome: Outcome, plain: Result) -> str:
    steps = different_steps(outcome.arms, plain.arms)
    if trial.exact or outcome.arms is None or not steps:
        return "please report this"
    return (
        f"{len(steps)} of {trial.budget} arms, the first in round {steps[0]}. The two best scores "
        "there were closer than what is rounded away; please report it if it happens again"
    )


def _show(trial: DemoTrial, outcome: Outcome, plain: Result, *, kill: bool) -> None:
    out = Console()
    out.print(
        f"{trial.story(str(plain.options['policy']))} Each party was a process of its own; they "
        "talked over TLS 1.3 with certificates on both sides.\n",
        highlight=False,
    )
    same = outcome.reward == plain.reward and outcome.arms == plain.arms
    out.print(
        f"total reward [bold]{outcome.reward:g}[/bold] in {trial.budget} rounds", highlight=False
    )
    out.print(f"in plain     [bold]{plain.reward:g}[/bold]", highlight=False)
    out.print(
        "[green]equal, and the same arm in every round[/green]"
        if same
        else f"[bold red]DIFFERENT: {_difference(trial, outcome, plain)}[/bold red]"
    )
    if kill:
        starts = sum(report.starts for report in outcome.parties.values())
        out.print(
            f"{outcome.kills} times a party was killed (kill -9) before the end; "
            f"{starts} processes were started for {len(outcome.parties)} parties",
            highlight=False,
        )
    out.print(
        f"{pace(trial.budget / outcome.seconds)}: {outcome.seconds:.1f} s from the first "
        "round to the last\n",
        highlight=False,
    )
    show_parties(out, outcome.parties)
    trial.show_leakage(out)
    out.print(NEXT, highlight=False)
