"""`lotor audit`: attack recorded views, and hold what they give away against what is stated."""

from collections.abc import Mapping
from typing import Annotated, Any

import typer
from rich.console import Console

from lotor.auditing.audit import LEVEL, REPEAT, audit
from lotor.auditing.report import AuditReport
from lotor.cli import exit_codes
from lotor.cli.audit_show import show_audit
from lotor.cli.derive import (
    JsonOption,
    PolicyOption,
    SeedOption,
    command,
    foreign_options,
    number,
    protocol_app,
    whole_number,
)
from lotor.cli.progress import progress_bar
from lotor.cli.run import ARMS_PANEL, BudgetOption, arms_option, configured, source_options
from lotor.core.options import options_of
from lotor.environments.base import Environment
from lotor.protocols.protocol import SecureProtocol

BUDGET = 100

RepeatOption = Annotated[
    int,
    typer.Option(parser=whole_number, help="How many runs in each of two worlds."),
]
OtherArmsOption = Annotated[
    str | None,
    typer.Option(
        "--other-arms",
        help="The arms of the second world, as for --arms; if absent, derived if possible.",
        rich_help_panel=ARMS_PANEL,
    ),
]
LevelOption = Annotated[
    float,
    typer.Option(parser=number, help="With which probability a form that is right passes."),
]

DaemonsOption = Annotated[
    int,
    typer.Option(
        parser=whole_number,
        help="Also time the answers of processes, for so many rounds without a tick, with "
        "one, and with an inbox.",
    ),
]


def _app(kind: type[SecureProtocol]) -> typer.Typer:
    def body(
        policy: PolicyOption = None,
        arms: arms_option(kind.arms.text, kind.arms.default) = None,  # type: ignore[valid-type]
        other_arms: OtherArmsOption = None,
        budget: BudgetOption = None,
        repeat: RepeatOption = REPEAT,
        level: LevelOption = LEVEL,
        daemons: DaemonsOption = 0,
        seed: SeedOption = None,
        as_json: JsonOption = False,
        *,
        options: Mapping[str, Any],
    ) -> None:
        rounds = min(BUDGET, kind.default_budget) if budget is None else budget
        protocol, environment, n = configured(kind, policy, arms, rounds, options)
        other = None
        if other_arms is not None:
            other = configured(kind, policy, other_arms, rounds, options)[1]
        report = _audited(
            protocol,
            environment,
            other,
            budget=n,
            repeat=repeat,
            level=level,
            daemons=daemons,
            seed=seed,
        )
        if as_json:
            typer.echo(report.to_json())
        else:
            show_audit(Console(highlight=False), report)
        if not report.holds:
            raise typer.Exit(exit_codes.DIFFERENT)

    own = [(one, "Options") for one in kind.simulated_options()]
    own += [(one, ARMS_PANEL) for one in options_of(kind.arms)]
    text = f"Attack what parties of {kind.name} see ({kind.summary})."
    return command(body, own, foreign_options(source_options, "audit"), text)


def _audited(
    protocol: SecureProtocol, environment: Environment, other: Environment | None, **settings: Any
) -> AuditReport:
    """An audit with a bar on a terminal."""
    try:
        with progress_bar(f"audit of {protocol.name}", unit="runs") as report:
            return audit(protocol, environment, other=other, progress=report, **settings)
    except KeyboardInterrupt:
        typer.echo("lotor: interrupted; nothing was kept", err=True)
        raise typer.Exit(exit_codes.INTERRUPTED) from None


app = protocol_app(_app, "Attack what parties see, and compare what leaks with what is stated.")
