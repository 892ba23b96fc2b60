"""What `lotor run` simulates, whatever the protocol is: run it, compare it, write it as JSON."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Protocol as Interface

import typer
from rich.console import Console

import lotor
from lotor.cli import exit_codes
from lotor.cli.progress import progress_bar
from lotor.environments import Environment
from lotor.protocols.party import Protocol
from lotor.runtime import Result


class Finding(Interface):
    """What a role learns: as the paper says, and as measured."""

    @property
    def paper(self) -> str: ...

    @property
    def measured(self) -> str: ...


class Forecast(Interface):
    """What a run will take, known before it."""

    @property
    def seconds(self) -> float:
        """How long it may take."""

    def figures(self) -> Mapping[str, object]:
        """All of it, for programs."""

    def show(self, out: Console) -> None:
        """The same for people."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """A run, the same in plain, and whatever else was run on the same draws."""

    secure: Result
    plain: Result
    others: Mapping[str, Result]


@dataclass(frozen=True, slots=True)
class Wish:
    """What was asked for; None where nothing was said. `options` are by their names."""

    policy: str | None
    arms: str | None
    budget: int
    options: Mapping[str, str | int | float | None]

    def some(self, *names: str) -> dict[str, str | int | float | None]:
        return {name: self.options[name] for name in names}


@dataclass(frozen=True, slots=True)
class Study:
    """A protocol, where its rewards come from, and how to show it beside plain.

    `operations` are counts to hold the counted ones against, for JSON; `others` are run beside it;
    `judge` says whether its decisions may be what they are (else they must be plain's), and
    `details` more about them, for JSON; `forecast` says beforehand what it will take.
    """

    protocol: Protocol
    environment: Environment
    plain: Protocol | None = None
    show: Callable[[Console, Outcome], None] | None = None
    leakage: Mapping[str, Finding] = field(default_factory=dict)
    operations: Mapping[str, Mapping[str, int] | Mapping[str, str]] = field(default_factory=dict)
    others: Mapping[str, Protocol] = field(default_factory=dict)
    judge: Callable[[Outcome], bool] | None = None
    details: Callable[[Outcome], Mapping[str, object]] | None = None
    forecast: Callable[[], Forecast] | None = None

    def holds(self, outcome: Outcome) -> bool:
        if self.judge is not None:
            return self.judge(outcome)
        return outcome.secure.agrees_with(outcome.plain)


def simulate(
    protocol: Protocol,
    environment: Environment,
    budget: int,
    seed: int | None,
    *,
    trajectory: bool = True,
    expected: float | None = None,
) -> Result:
    """One run in this process, with a bar on a terminal."""
    try:
        with progress_bar(protocol.name, expected) as report:
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


def different_steps(one: list[int] | None, other: list[int] | None) -> list[int]:
    """The rounds, from 1, in which two trajectories do not have the same arm."""
    pairs = zip_longest(one or [], other or [])
    return [t for t, (arm, its) in enumerate(pairs, 1) if arm != its]


def report(study: Study, outcome: Outcome, *, trajectory: bool) -> dict[str, object]:
    """A comparison, for programs."""
    secure, plain = outcome.secure, outcome.plain
    compared: dict[str, object] = {
        "secure": document(secure, trajectory=trajectory),
        "plain": document(plain, trajectory=trajectory),
        "same": secure.agrees_with(plain),
        "different_arms": len(different_steps(secure.arms, plain.arms)),
        "overhead": secure.cpu_seconds / max(plain.cpu_seconds, 1e-9),
        "leakage": {
            role: {"paper": finding.paper, "measured": finding.measured}
            for role, finding in study.leakage.items()
        },
    }
    if study.operations:
        compared["operations"] = {"counted": secure.operations, **study.operations}
    if study.details is not None:
        compared |= study.details(outcome)
    return compared


def document(result: Result, *, trajectory: bool) -> dict[str, object]:
    """One run, for programs."""
    found: dict[str, object] = json.loads(result.to_json())
    if not trajectory:
        found["arms"] = None
    return found
