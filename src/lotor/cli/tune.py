"""`lotor tune`: the parameters of a policy that pay most."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from lotor.cli.compare import shown_mean
from lotor.cli.derive import JsonOption, command, whole_number
from lotor.cli.run import ARMS_PANEL, DEFAULT_BUDGET
from lotor.cli.show import small_table
from lotor.cli.simulate import check_outputs
from lotor.cli.study import (
    REPEAT,
    ClusterOption,
    CsvOption,
    FirstSeedOption,
    KeepOption,
    RepeatOption,
    Work,
    WorkersOption,
    seeds_of,
    study_progress,
)
from lotor.cli.subjects import SUBJECT_HELP, environment_of, to_subject
from lotor.core.errors import InputError
from lotor.core.options import options_of, to_number
from lotor.policies import to_text
from lotor.protocols.plain import AGENTS
from lotor.studies.tune import SearchRange, policy_of, tune
from lotor.studies.tuning import Tuning

_TRIALS = 30

SubjectArgument = Annotated[str, typer.Argument(metavar="WHAT", help=f"{SUBJECT_HELP}.")]
GridOption = Annotated[
    list[str] | None,
    typer.Option(
        "--grid",
        metavar="NAME=VALUE,VALUE,...",
        help="The values to try of a parameter; give it several times to try all combinations.",
        show_default="what the policy's paper tried",
    ),
]
SearchOption = Annotated[
    list[str] | None,
    typer.Option(
        "--search",
        metavar="NAME=LOW:HIGH[:log]",
        help="Search in a range instead, by optuna (pip install 'lotor[tune]').",
    ),
]
TrialsOption = Annotated[
    int | None,
    typer.Option(
        parser=whole_number,
        help="How many points --search tries.",
        show_default=str(_TRIALS),
    ),
]
ArmsOption = Annotated[
    str | None,
    typer.Option(
        "--arms",
        help="Where rewards come from, as for `lotor run`.",
        show_default="those of the policy",
        rich_help_panel=ARMS_PANEL,
    ),
]
BudgetOption = Annotated[int, typer.Option("--budget", parser=whole_number, help="How many pulls.")]
PlotOption = Annotated[
    Path | None,
    typer.Option(
        "--plot",
        metavar="FILE",
        help="Draw the reward at each point, with bands: a .svg, .png or .pdf file.",
    ),
]


def _app() -> typer.Typer:
    def body(
        what: SubjectArgument,
        grid: GridOption = None,
        search: SearchOption = None,
        trials: TrialsOption = None,
        arms: ArmsOption = None,
        budget: BudgetOption = DEFAULT_BUDGET,
        repeat: RepeatOption = REPEAT,
        seed: FirstSeedOption = 0,
        plot: PlotOption = None,
        csv: CsvOption = None,
        workers: WorkersOption = None,
        cluster: ClusterOption = None,
        keep: KeepOption = None,
        as_json: JsonOption = False,
        *,
        options: Mapping[str, Any],
    ) -> None:
        check_outputs(csv, plot)
        if trials is not None and not search:
            raise InputError("--trials needs --search: give both, or leave it out")
        chosen = to_subject(what)
        environment = environment_of(chosen.arms, arms, budget, options)
        seeds, ranges = seeds_of(repeat, seed), {}
        for text in search or ():
            name, one = _range(text)
            ranges[name] = one
        with study_progress("tuning", Work(keep, workers, cluster)) as report:
            found = tune(
                chosen.suited(environment),
                environment,
                budget,
                grid=_grid(grid) if grid else None,
                search=ranges or None,
                trials=_TRIALS if trials is None else trials,
                seeds=seeds,
                kept=keep,
                workers=workers,
                cluster=cluster,
                progress=report,
            )
        if csv is not None:
            found.to_csv(csv)
        if plot is not None:
            found.plot(plot)
        if as_json:
            typer.echo(json.dumps(_document(found)))
        else:
            show_tuning(Console(), found)

    own = [(one, ARMS_PANEL) for agent in AGENTS for one in options_of(agent.arms)]
    text = "Find the parameters of a policy that pay most. Every point runs with the same seeds."
    return command(body, own, {}, text)


def _grid(texts: Sequence[str]) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    for text in texts:
        name, equals, values = text.partition("=")
        if not equals or not values or name in found:
            raise InputError(
                f"--grid {text!r} is not understood: write NAME=VALUE,VALUE,..., each parameter "
                "once, such as tau=0.01,0.02,0.05"
            )
        found[name] = [to_number(value) for value in values.split(",")]
    return found


def _range(text: str) -> tuple[str, SearchRange]:
    name, equals, bounds = text.partition("=")
    parts = bounds.split(":")
    if not equals or len(parts) not in (2, 3) or parts[2:] not in ([], ["log"]):
        raise InputError(
            f"--search {text!r} is not understood: write NAME=LOW:HIGH, such as tau=0.01:1, or "
            "tau=0.01:1:log to search evenly in the logarithm"
        )
    return name, SearchRange(to_number(parts[0]), to_number(parts[1]), log=len(parts) == 3)


def _document(found: Tuning) -> dict[str, object]:
    columns = found.columns()
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    return {
        "best": found.best_parameters,
        "policy": to_text(policy_of(found.best)),
        "near_best": [dict(found.points[name]) for name in found.near_best()],
        "points": rows,
    }


def show_tuning(out: Console, found: Tuning) -> None:
    """A row for each point, and the best one."""
    table = small_table("Reward at each point")
    table.add_column("", overflow="fold", min_width=18)
    for heading in ("reward", "sd", "regret"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("")
    near = found.near_best()
    for one in found.runs.groups:
        reward, regret = one.band("reward"), one.figure("regret")
        mark = "best" if found.is_best(one.protocol) else "near" if one.protocol in near else ""
        table.add_row(
            one.protocol,
            shown_mean(reward),
            "" if reward.sd is None else f"{reward.sd:.4g}",
            shown_mean(regret),
            mark,
        )
    out.print(table)
    out.print(
        f"best: [bold]{to_text(policy_of(found.best))}[/bold], reward "
        f"{shown_mean(found.best_reward)}",
        highlight=False,
    )
    if near:
        out.print(
            "The 95 % bands of the points marked near hold the best mean: --repeat tells them "
            "apart.",
            highlight=False,
        )


app = _app()
