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
from lotor.cli.demo_run import DemoOutcome, DemoRun
from lotor.cli.demo_view import DemoView, pace, show_parties
from lotor.cli.derive import seed_number, whole_number
from lotor.cli.show import show_account, show_leakage
from lotor.cli.simulate import different_rounds
from lotor.core.errors import InputError, RunEndedError, StoppedError
from lotor.core.registry import is_class_name
from lotor.core.result import Result
from lotor.policies.registry import split_text
from lotor.protocols.protocol import PROTOCOLS, SecureProtocol, shown_first
from lotor.runtime.run import run
from lotor.sandbox import Federation

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
NEXT = (
    "Next: README.md says what this is for, docs/federation.md sets up such a federation on "
    "machines of your own, and `lotor keys --help` makes its keys."
)

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command()
def demo_command(
    protocol: Annotated[
        str | None,
        typer.Option(
            help="The protocol to run; `lotor run --help` lists them.", show_default="samba"
        ),
    ] = None,
    form: Annotated[
        str | None,
        typer.Option(
            help="The form of the protocol; `lotor run PROTOCOL --help` lists them.",
            show_default="the protocol's default",
        ),
    ] = None,
    policy: Annotated[
        str | None,
        typer.Option(
            help="E.g. 'softmax:tau=0.02'; `lotor policies` lists them.",
            show_default="the protocol's default",
        ),
    ] = None,
    budget: Annotated[
        int | None,
        typer.Option(
            parser=whole_number,
            help="How many rounds: patients, travellers or pulls.",
            show_default="the form's default",
        ),
    ] = None,
    hospitals: Annotated[
        int | None,
        typer.Option(
            parser=whole_number,
            help="How many hospitals, from 2 up, if the protocol's demo has any.",
            show_default="3",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(parser=seed_number, help="Fixes outcomes and choices.")] = 7,
    kill: Annotated[
        bool, typer.Option("--kill", help="Crash random parties while it runs.")
    ] = False,
    keep: Annotated[
        bool, typer.Option("--keep", help="Keep the folder with keys, journals and logs.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON on stdout.")] = False,
) -> None:
    """Show organisations that learn together, each party as a process on this machine."""
    kind = PROTOCOLS[_offered(protocol) or shown_first(PROTOCOLS)]
    _offered(policy and split_text(policy)[0])
    chosen = kind.configured(policy, {} if form is None else {"form": form})
    rounds = chosen.demo_rounds if budget is None else budget
    try:
        with _interruptible() as look, _folder(keep=keep) as folder, DemoView(rounds) as view:
            federation = Federation.of(folder, chosen, budget=rounds, seed=seed, size=hospitals)
            plain = run(
                chosen.plain(),
                federation.cast.environment,
                budget=rounds,
                seed=seed,
                progress=lambda _done, _budget: look(),
            )
            outcome = DemoRun(federation, chosen, rounds, look, view).run(kill=kill)
    except StoppedError as error:
        typer.echo(f"lotor: {error}", err=True)
        raise typer.Exit(exit_codes.INTERRUPTED) from None
    except RunEndedError as error:
        typer.echo(f"lotor: {error}\nlotor: `lotor demo --keep` keeps all logs", err=True)
        raise typer.Exit(exit_codes.FAILED) from None
    if as_json:
        typer.echo(json.dumps(_document(chosen, outcome, plain)))
    else:
        _show(chosen, federation, outcome, plain, kill=kill)
    if outcome.reward != plain.reward or outcome.arms != plain.arms:
        raise typer.Exit(exit_codes.DIFFERENT)


def _offered(name: str | None) -> str | None:
    """Refuse a class without a name: every party of the demo is a process that must find it."""
    if name is not None and is_class_name(name):
        raise InputError(
            f"{name} is not offered by an installed package, so the demo's processes cannot find "
            "it: give it an entry point (docs/policies.md), or try it with `lotor run`"
        )
    return name


@contextmanager
def _interruptible() -> Iterator[Callable[[], None]]:
    """A function that raises once somebody has asked to stop.

    The signal handler itself does not raise: its exception could come just after a process has
    started and before we know of it, and the process would never be ended.
    """
    asked: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
        asked.append(number)

    def look() -> None:
        if asked:
            raise StoppedError("interrupted; all processes were ended")

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


def _document(protocol: SecureProtocol, outcome: DemoOutcome, plain: Result) -> dict[str, object]:
    return {
        "reward": outcome.reward,
        "plain_reward": plain.reward,
        "same_arms": outcome.arms == plain.arms,
        "rounds_per_second": plain.budget / outcome.seconds,
        "seconds": outcome.seconds,
        "kills": outcome.kills,
        "parties": {name: asdict(report) for name, report in outcome.parties.items()},
        "protocol": protocol.name,
        "form": protocol.form,
        "policy": plain.options["policy"],
        "budget": plain.budget,
        "seed": plain.seed,
        "run": outcome.run,
    }


def _difference(protocol: SecureProtocol, outcome: DemoOutcome, plain: Result) -> str:
    rounds = different_rounds(outcome.arms, plain.arms)
    if protocol.exact or outcome.arms is None or not rounds:
        return "please report this"
    return (
        f"{len(rounds)} of {plain.budget} arms, the first in round {rounds[0]}. The two best "
        "scores of that round differ by less than the rounding; please report it if it happens "
        "again"
    )


def _show(
    protocol: SecureProtocol,
    federation: Federation,
    outcome: DemoOutcome,
    plain: Result,
    *,
    kill: bool,
) -> None:
    out = Console()
    out.print(
        f"{federation.cast.story} Each party was a process of its own; they talked over TLS 1.3 "
        "with certificates on both sides.\n",
        highlight=False,
    )
    same = outcome.reward == plain.reward and outcome.arms == plain.arms
    out.print(
        f"total reward [bold]{outcome.reward:g}[/bold] in {plain.budget} rounds", highlight=False
    )
    out.print(f"in plain     [bold]{plain.reward:g}[/bold]", highlight=False)
    out.print(
        "[green]equal, and the same arm in every round[/green]"
        if same
        else f"[bold red]DIFFERENT: {_difference(protocol, outcome, plain)}[/bold red]"
    )
    if kill:
        starts = sum(report.starts for report in outcome.parties.values())
        out.print(
            f"{outcome.kills} times a party was killed (kill -9) before the end; "
            f"{starts} processes were started for {len(outcome.parties)} parties",
            highlight=False,
        )
    out.print(
        f"{pace(plain.budget / outcome.seconds)}: {outcome.seconds:.1f} s from the first "
        "round to the last\n",
        highlight=False,
    )
    show_parties(out, outcome.parties)
    if outcome.account is not None:
        show_account(out, outcome.account)
    show_leakage(out, federation.form, protocol.reveals)
    for note in federation.form.notes(protocol):
        out.print(f"{note}\n", highlight=False)
    out.print(NEXT, highlight=False)
