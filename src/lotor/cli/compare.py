"""`lotor compare`: several policies or protocols on the same arms, over many seeds."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.console import Console

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
from lotor.cli.subjects import (
    SUBJECT_HELP,
    TextSubject,
    common_source,
    environment_of,
    to_subjects,
)
from lotor.core.errors import InputError
from lotor.core.options import options_of
from lotor.core.wording import counted
from lotor.protocols.cell import RunCell
from lotor.protocols.plain import AGENTS
from lotor.studies.compare import CURVE_POINTS, comparison_cells
from lotor.studies.compared_runs import ComparedRuns, RunGroup
from lotor.studies.statistics import MeanBand
from lotor.studies.sweep import sweep

SubjectsArgument = Annotated[
    list[str], typer.Argument(metavar="WHAT", help=f"{SUBJECT_HELP}.", show_default=False)
]
ArmsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--arms",
        help="Where rewards come from, as for `lotor run`; give it several times for several arms.",
        show_default="those of the first",
        rich_help_panel=ARMS_PANEL,
    ),
]
BudgetsOption = Annotated[
    list[int] | None,
    typer.Option(
        "--budget",
        parser=whole_number,
        help="How many pulls; give it several times for several budgets.",
        show_default=str(DEFAULT_BUDGET),
    ),
]
PlotOption = Annotated[
    Path | None,
    typer.Option(
        "--plot",
        metavar="FILE",
        help="Draw curves with bands, or with several budgets, points: a .svg, .png or .pdf file.",
    ),
]
MeasureOption = Annotated[
    Literal["reward", "regret"] | None,
    typer.Option("--measure", help="What --plot draws.", show_default="regret, where it is known"),
]
CurvesOption = Annotated[
    bool, typer.Option("--curves", help="With --csv or --json: a row for each point of a curve.")
]
PointsOption = Annotated[
    int, typer.Option(parser=whole_number, help="How many points a curve has.")
]
_TEXT = (
    "Compare policies and protocols over many seeds: means, bands and costs. In simulations, runs "
    "of one seed see the same rewards, whatever runs."
)


def _app() -> typer.Typer:
    def body(
        what: SubjectsArgument,
        arms: ArmsOption = None,
        budget: BudgetsOption = None,
        repeat: RepeatOption = REPEAT,
        seed: FirstSeedOption = 0,
        plot: PlotOption = None,
        measure: MeasureOption = None,
        csv: CsvOption = None,
        curves: CurvesOption = False,
        points: PointsOption = CURVE_POINTS,
        workers: WorkersOption = None,
        cluster: ClusterOption = None,
        keep: KeepOption = None,
        as_json: JsonOption = False,
        *,
        options: Mapping[str, Any],
    ) -> None:
        check_outputs(csv, plot)
        if curves and csv is None and not as_json:
            raise InputError("--curves needs --csv or --json: give one of them, or leave it out")
        if measure is not None and plot is None:
            raise InputError("--measure needs --plot: give both, or leave it out")
        seeds = seeds_of(repeat, seed)
        subjects, budgets = to_subjects(what), budget or [DEFAULT_BUDGET]
        cells = _cells(subjects, _texts(subjects, arms), budgets, seeds, points, options)
        work = Work(keep, workers, cluster)
        with study_progress("comparison", work) as report:
            outcomes = sweep(cells, kept=keep, workers=workers, cluster=cluster, progress=report)
        found = ComparedRuns(outcomes)
        if csv is not None:
            found.to_csv(csv, rounds=curves)
        if plot is not None:
            found.plot(plot, measure)
        if as_json:
            typer.echo(json.dumps(_document(found, curves=curves)))
        else:
            show_compared(Console(), found)

    own = [(one, ARMS_PANEL) for agent in AGENTS for one in options_of(agent.arms)]
    return command(body, own, {}, _TEXT)


def _texts(subjects: Sequence[TextSubject], arms: Sequence[str] | None) -> list[str]:
    """The arms that were asked for, each once."""
    texts = list(arms or [common_source(subjects).default_text()])
    if twice := sorted({text for text in texts if texts.count(text) > 1}):
        raise InputError(f"--arms {twice[0]} is given twice: give it once")
    return texts


def _cells(
    subjects: Sequence[TextSubject],
    arms: Sequence[str],
    budgets: Sequence[int],
    seeds: Sequence[int],
    points: int,
    options: Mapping[str, Any],
) -> list[RunCell]:
    """The runs, whose arms may depend on the budget."""
    source = common_source(subjects)
    if len(set(budgets)) < len(budgets):
        raise InputError("--budget gives the same budget twice: give different ones")
    cells: list[RunCell] = []
    for budget in budgets:
        for text in arms:
            environment = environment_of(source, text, budget, options)
            suited = {one.text: one.suited(environment) for one in subjects}
            cells += comparison_cells(suited, {text: environment}, [budget], seeds, points)
    return cells


def _document(found: ComparedRuns, *, curves: bool) -> list[dict[str, object]]:
    """A row for each protocol, arms and budget, or for each point of a curve."""
    columns = found.columns(rounds=curves)
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def show_compared(out: Console, found: ComparedRuns) -> None:
    """A table for each environment and budget, the best on average first."""
    groups = found.groups
    for place in dict.fromkeys((one.environment, one.budget) for one in groups):
        here = [one for one in groups if (one.environment, one.budget) == place]
        _show_place(out, found, here)
    if found.ends_differ:
        out.print(
            "Some runs ended earlier than others, so that totals cannot be compared: the best is "
            "the one with the most reward a round.",
            highlight=False,
        )
    out.print(
        f"Means of {counted(found.repeats, 'run')}; ± is the half of a 95 % band of the mean, sd "
        "the standard deviation of one run.\n"
        if found.repeats > 1
        else "One run each: --repeat gives bands.\n",
        highlight=False,
    )


def _show_place(out: Console, found: ComparedRuns, groups: Sequence[RunGroup]) -> None:
    first = groups[0]
    table = small_table(f"{first.environment}, {counted(first.budget, 'pull')}")
    table.add_column("", overflow="fold", min_width=18)
    rounds = ("rounds", "a round") if found.ends_differ else ()
    for heading in ("reward", "sd", *rounds, "regret", "CPU", "sent"):
        table.add_column(heading, justify="right", no_wrap=True)
    for one in sorted(groups, key=found.worth, reverse=True):
        reward, regret = one.band("reward"), one.figure("regret")
        ends = (f"{one.mean('rounds'):,.0f}", f"{one.reward_per_round:.4g}") if rounds else ()
        table.add_row(
            one.protocol,
            shown_mean(reward),
            "" if reward.sd is None else f"{reward.sd:.4g}",
            *ends,
            shown_mean(regret),
            f"{one.mean('cpu_seconds'):.3g} s",
            f"{one.mean('bytes_sent') / 1000:,.0f} kB",
        )
    out.print(table)


def shown_mean(found: MeanBand | None) -> str:
    """A mean and the half of its band."""
    if found is None:
        return ""
    half = "" if found.high is None else f" ± {found.high - found.mean:.1f}"
    return f"{found.mean:,.1f}{half}"


app = _app()
