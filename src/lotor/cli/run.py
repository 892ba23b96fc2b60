"""`lotor run`: simulate a run here."""

import json
from typing import Annotated, Literal

import typer
from rich.console import Console

from lotor.cli import exit_codes
from lotor.cli.show import show_result
from lotor.cli.studies import Wish, study_of
from lotor.cli.study import report, simulate
from lotor.core.errors import InputError

ARMS_HELP = (
    "Where rewards come from: 'movielens-like', 'jester-like', 'movielens:PATH' (u.data), "
    "'jester:PATH' (csv), or means such as '0.9,0.5,0.1'. Linear: 'linear:K,D' or 'graph:K' (made "
    "up), 'movielens-factors-like' or 'movielens:PATH'.  [default: movielens-like, linear:10,5 or "
    "graph:10]"
)


def run_command(
    protocol: Annotated[
        Literal["samba", "linucb-ds", "spectral-ucb-ds", "plain"],
        typer.Argument(
            help="'samba' (each arm's data stays with its owner), 'linucb-ds' or "
            "'spectral-ucb-ds' (a linear bandit at two clouds), or 'plain'."
        ),
    ],
    policy: Annotated[
        str | None,
        typer.Option(
            help="As `lotor policies` lists them, e.g. 'softmax:tau=0.02'.  [default: ucb, linucb "
            "or spectral-ucb]"
        ),
    ] = None,
    arms: Annotated[str | None, typer.Option(help=ARMS_HELP)] = None,
    k: Annotated[
        int | None, typer.Option(help="How many arms, unless --arms says it.  [default: 10]")
    ] = None,
    budget: Annotated[int, typer.Option(help="How many pulls, the paper's N.")] = 1000,
    seed: Annotated[
        int | None, typer.Option(help="Fixes arms and rewards; drawn and shown if absent.")
    ] = None,
    owners: Annotated[
        int | None, typer.Option(help="samba: spread the arms over so many.  [default: 1]")
    ] = None,
    selection: Annotated[
        Literal["bits", "position"] | None,
        typer.Option(help="samba: how owners learn who is pulled.  [default: bits]"),
    ] = None,
    key_bits: Annotated[
        int | None, typer.Option(help="Paillier: 2048, 3072 or 4096.  [default: 3072]")
    ] = None,
    slot_bits: Annotated[
        int | None, typer.Option(help="Linear: how wide a score is, 64 or 96.  [default: 64]")
    ] = None,
    workers: Annotated[
        int | None, typer.Option(help="Linear: processes of each cloud.  [default: 1]")
    ] = None,
    user: Annotated[
        int | None, typer.Option(help="Linear MovieLens: whose taste.  [default: 1]")
    ] = None,
    dimensions: Annotated[
        int | None, typer.Option(help="Linear MovieLens: of an arm, d.  [default: 5]")
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
    if compare and protocol == "plain":
        raise InputError("--compare belongs to secure protocols: plain has nothing to compare with")
    options = {
        "k": k,
        "owners": owners,
        "selection": selection,
        "key_bits": key_bits,
        "slot_bits": slot_bits,
        "workers": workers,
        "user": user,
        "dimensions": dimensions,
        "threshold": threshold,
        "minimum_ratings": minimum_ratings,
        "choose": choose,
        "sha256": sha256,
    }
    study = study_of(protocol, Wish(policy, arms, budget, options))
    kept, where = compare or trajectory, study.environment
    secure = simulate(study.protocol, where, budget, seed, trajectory=kept)
    compared = study.plain if compare else None
    plain = None if compared is None else simulate(compared, where, budget, secure.seed)
    if as_json:
        typer.echo(json.dumps(report(study, secure, plain, trajectory=trajectory)))
    elif plain is None or study.show is None:
        show_result(Console(), secure)
    else:
        study.show(Console(), secure, plain)
    if plain is not None and not secure.agrees_with(plain):
        raise typer.Exit(exit_codes.DIFFERENT)
