"""Runs in this process, with a progress bar: what `lotor run` and `lotor demo` share."""

import json
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

import typer

from lotor.cli import exit_codes
from lotor.cli.progress import busy, progress_bar
from lotor.core.errors import InputError
from lotor.core.output_files import check_output_file
from lotor.core.plotting import check_picture
from lotor.core.result import Result
from lotor.environments.base import Environment
from lotor.protocols.protocol import Protocol, SecureProtocol
from lotor.protocols.report import Forecast
from lotor.runtime.run import run


def simulate(
    protocol: Protocol,
    environment: Environment,
    budget: int,
    seed: int | None,
    *,
    trajectory: bool = True,
    expected: float | None = None,
    partial: bool = False,
) -> Result:
    """One run in this process, with a bar on a terminal."""
    try:
        with progress_bar(protocol.name, expected) as report:
            return run(
                protocol,
                environment,
                budget=budget,
                seed=seed,
                trajectory=trajectory,
                progress=report,
                partial=partial,
            )
    except KeyboardInterrupt:
        typer.echo("lotor: interrupted; nothing was kept", err=True)
        raise typer.Exit(exit_codes.INTERRUPTED) from None


def forecast_of(protocol: SecureProtocol, environment: Environment, budget: int) -> Forecast:
    """What a run will cost; finding that out may take some seconds."""
    with busy("finding out what the run will cost on this machine"):
        return protocol.in_form().forecast(protocol, environment, budget)


def different_rounds(one: list[int] | None, other: list[int] | None) -> list[int]:
    """The rounds, from 1, in which two trajectories do not have the same arm."""
    pairs = zip_longest(one or [], other or [])
    return [t for t, (arm, its) in enumerate(pairs, 1) if arm != its]


def document(result: Result, *, trajectory: bool) -> dict[str, object]:
    """One run, for programs."""
    found: dict[str, object] = json.loads(result.to_json())
    if not trajectory:
        found |= {"arms": None, "rewards": None, "regrets": None}
    return found


def check_outputs(csv: Path | None, plot: Path | None) -> None:
    """Refuse files that cannot be written or drawn, before anything is computed for them."""
    if csv is not None:
        check_output_file(csv)
    if plot is not None:
        check_picture(plot)


@dataclass(frozen=True, slots=True)
class Outputs:
    """What the user wants to have of a run, besides the table on stdout."""

    as_json: bool
    trajectory: bool
    csv: Path | None
    plot: Path | None
    partial: bool

    def __post_init__(self) -> None:
        if self.trajectory and not self.as_json:
            raise InputError("--trajectory needs --json: give both, or leave it out")
        check_outputs(self.csv, self.plot)

    @property
    def rounds(self) -> bool:
        """Whether each round is to be kept."""
        return self.trajectory or self.csv is not None or self.plot is not None

    def write(self, result: Result) -> None:
        """Write the files that were asked for."""
        if self.csv is not None:
            result.to_csv(self.csv)
        if self.plot is not None:
            result.plot(self.plot)


def leave_if_interrupted(result: Result) -> None:
    """Say that a run was cut short, and with an exit code, too."""
    if result.ended == "interrupted":
        typer.echo(
            f"lotor: interrupted after {result.rounds} of {result.budget} rounds; this is what "
            "was done so far",
            err=True,
        )
        raise typer.Exit(exit_codes.INTERRUPTED)
