"""The `lotor` command. Data goes to stdout, progress and errors to stderr."""

import json
import sys
import warnings
from typing import Annotated, Literal

import typer
from rich.console import Console
from rich.padding import Padding

import lotor
from lotor.cli import exit_codes
from lotor.cli.demo import demo_command
from lotor.cli.doctor import doctor_command
from lotor.cli.keys import keys_app
from lotor.cli.options import environment_from, samba_from
from lotor.cli.party import serve_command, start_command
from lotor.cli.progress import progress_bar
from lotor.cli.runs import runs_app
from lotor.cli.show import (
    show_comparison,
    show_costs,
    show_leakage,
    show_operations,
    show_result,
)
from lotor.core.errors import InputError, LotorError
from lotor.environments import Environment
from lotor.policies import CATALOGUE, check_genericity, from_text, to_text
from lotor.protocols.party import Protocol
from lotor.protocols.plain import Plain
from lotor.protocols.samba import complexity
from lotor.protocols.samba.leakage import MEASURED
from lotor.runtime import Result

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


@app.command("run")
def run_command(
    protocol: Annotated[
        Literal["samba", "plain"],
        typer.Argument(help="'samba' (each arm's data stays with its owner) or 'plain'."),
    ],
    policy: Annotated[
        str, typer.Option(help="As `lotor policies` lists them, e.g. 'softmax:tau=0.02'.")
    ] = "ucb",
    arms: Annotated[str, typer.Option(help="Where rewards come from.")] = "movielens-like",
    k: Annotated[
        int | None, typer.Option(help="How many arms, unless --arms lists means.  [default: 10]")
    ] = None,
    budget: Annotated[int, typer.Option(help="How many pulls, the paper's N.")] = 1000,
    seed: Annotated[
        int | None, typer.Option(help="Fixes arms and rewards; drawn and shown if absent.")
    ] = None,
    owners: Annotated[
        int | None, typer.Option(help="Spread the arms over so many parties.  [default: 1]")
    ] = None,
    selection: Annotated[
        Literal["bits", "position"] | None,
        typer.Option(help="How owners learn who is pulled: docs/samba.md.  [default: bits]"),
    ] = None,
    key_bits: Annotated[
        int | None, typer.Option(help="Paillier: 2048, 3072 or 4096.  [default: 3072]")
    ] = None,
    threshold: Annotated[
        float | None, typer.Option(help="Rating files: the lowest rating that counts as 1.")
    ] = None,
    minimum_ratings: Annotated[
        int | None, typer.Option(help="Rating files: leave out items with fewer.  [default: 20]")
    ] = None,
    choose: Annotated[
        Literal["top", "first"] | None,
        typer.Option(help="Rating files: best k items, or lowest k ids.  [default: top]"),
    ] = None,
    sha256: Annotated[
        str | None, typer.Option(help="Rating files: the digest that the file must have.")
    ] = None,
    compare: Annotated[
        bool, typer.Option("--compare", help="Also run plain, and show what leaks.")
    ] = False,
    trajectory: Annotated[
        bool, typer.Option("--trajectory", help="With --json: include the arm of each round.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON on stdout.")] = False,
) -> None:
    """Simulate a run here, in one process."""
    if trajectory and not as_json:
        raise InputError("--trajectory goes with --json")
    environment = environment_from(
        arms, k, threshold=threshold, minimum_ratings=minimum_ratings, choose=choose, sha256=sha256
    )
    if protocol == "plain":
        if compare or (owners, selection, key_bits) != (None, None, None):
            raise InputError(
                "--compare, --owners, --selection and --key-bits belong to `lotor run samba`"
            )
        result = _run(Plain(from_text(policy)), environment, budget, seed, trajectory=trajectory)
        if as_json:
            typer.echo(json.dumps(_document(result, trajectory=trajectory)))
        else:
            show_result(Console(), result)
        return
    samba = samba_from(policy, owners=owners, selection=selection, key_bits=key_bits)
    kept = compare or trajectory
    secure = _run(samba, environment, budget, seed, trajectory=kept)
    plain = _run(samba.plain(), environment, budget, secure.seed) if compare else None
    if as_json:
        typer.echo(json.dumps(_report(secure, plain, trajectory=trajectory)))
    else:
        _show_samba(samba, secure, plain)
    if plain is not None and not secure.agrees_with(plain):
        raise typer.Exit(exit_codes.DIFFERENT)


def _run(
    protocol: Protocol,
    environment: Environment,
    budget: int,
    seed: int | None,
    *,
    trajectory: bool = True,
) -> Result:
    try:
        with progress_bar(protocol.name) as report:
            return lotor.run(
                protocol,
                environment,
                budget=budget,
                seed=seed,
                trajectory=trajectory,
                progress=report,
            )
    except KeyboardInterrupt:
        typer.echo("lotor: interrupted; nothing was kept", err=True)
        raise typer.Exit(exit_codes.INTERRUPTED) from None


def _document(result: Result, *, trajectory: bool) -> dict[str, object]:
    document: dict[str, object] = json.loads(result.to_json())
    if not trajectory:
        document["arms"] = None
    return document


def _report(secure: Result, plain: Result | None, *, trajectory: bool) -> dict[str, object]:
    if plain is None:
        return _document(secure, trajectory=trajectory)
    return {
        "secure": _document(secure, trajectory=trajectory),
        "plain": _document(plain, trajectory=trajectory),
        "same": secure.agrees_with(plain),
        "overhead": secure.cpu_seconds / max(plain.cpu_seconds, 1e-9),
        "leakage": {
            role: {"paper": finding.paper, "measured": finding.measured}
            for role, finding in MEASURED.items()
        },
    }


def _show_samba(samba: lotor.Samba, secure: Result, plain: Result | None) -> None:
    out = Console()
    if plain is None:
        show_result(out, secure)
        return
    show_comparison(out, [(secure, plain)])
    show_costs(out, secure)
    expected = complexity.operations(
        secure.k,
        secure.budget,
        samba.policy.iterations,
        owners=samba.owners,
        selection=samba.selection,
    )
    show_operations(out, secure, expected)
    show_leakage(out, samba.selection)


@app.command()
def policies(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON on stdout.")] = False,
) -> None:
    """List the policies, their parameters and whether they fit SAMBA."""
    rows = []
    for kind in CATALOGUE.values():
        found = check_genericity(kind())
        reason = found.arm_score_locality or found.oblivious_selection
        summary = (kind.__doc__ or "").split("\n")[0]
        rows.append((to_text(kind()), reason, summary))
    if as_json:
        keys = ("policy", "why_not_samba", "summary")
        typer.echo(json.dumps([dict(zip(keys, row, strict=True)) for row in rows]))
        return
    out = Console()
    for text, reason, summary in rows:
        out.print(f"[bold]{text}[/bold]", highlight=False)
        out.print(Padding(summary, (0, 0, 0, 4)), highlight=False)
        if reason is not None:
            out.print(Padding(f"[red]not under SAMBA[/red]: {reason}", (0, 0, 0, 4)))


def main() -> None:
    """Run the command; every expected failure is one line on stderr and an exit code."""
    warnings.simplefilter("default", UserWarning)
    try:
        app()
    except LotorError as error:
        typer.echo(f"lotor: {error}", err=True)
        sys.exit(exit_codes.of(error))
