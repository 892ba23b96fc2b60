"""`lotor run`: simulate a run here."""

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from lotor.cli import exit_codes
from lotor.cli.derive import (
    PLAIN,
    JsonOption,
    PolicyOption,
    SeedOption,
    allow_policy,
    command,
    foreign_options,
    homes,
    protocol_app,
    whole_number,
)
from lotor.cli.show import show_comparison, show_forecast, show_result
from lotor.cli.simulate import (
    Outputs,
    different_rounds,
    document,
    forecast_of,
    leave_if_interrupted,
    simulate,
)
from lotor.core.errors import InputError
from lotor.core.options import Option, flag, options_of
from lotor.environments.base import Environment
from lotor.environments.sources import ArmsSource
from lotor.policies import POLICIES, AnyPolicy, from_text, to_text
from lotor.policies.registry import given_parameters
from lotor.protocols.plain import AGENTS, Plain, agent_of
from lotor.protocols.protocol import PROTOCOLS, SecureProtocol
from lotor.protocols.report import Comparison, Forecast

DEFAULT_POLICY, DEFAULT_BUDGET = "ucb", 1000
ARMS_PANEL = "Arms"

BudgetOption = Annotated[
    int | None, typer.Option(parser=whole_number, help="How many pulls; the papers' N or T.")
]
TrajectoryOption = Annotated[
    bool, typer.Option("--trajectory", help="With --json: include each round's arm and reward.")
]
CsvOption = Annotated[
    Path | None, typer.Option("--csv", metavar="FILE", help="Write each round to a CSV file.")
]
PlotOption = Annotated[
    Path | None,
    typer.Option(
        "--plot", metavar="FILE", help="Draw reward, regret and pulls: a .svg, .png or .pdf file."
    ),
]
PartialOption = Annotated[
    bool, typer.Option("--partial", help="On ctrl-C, show what was done so far.")
]
CompareOption = Annotated[
    bool, typer.Option("--compare", help="Also run plain, and show what leaks.")
]


def arms_option(text: str, default: str) -> Any:
    return Annotated[
        str | None,
        typer.Option(
            "--arms",
            help=f"Where rewards come from: {text}.",
            show_default=default,
            rich_help_panel=ARMS_PANEL,
        ),
    ]


def source_options(kind: type[SecureProtocol]) -> tuple[Option, ...]:
    return (*kind.simulated_options(), *options_of(kind.arms))


def configured(
    kind: type[SecureProtocol],
    policy: str | None,
    arms: str | None,
    budget: int | None,
    options: Mapping[str, Any],
) -> tuple[SecureProtocol, Environment, int]:
    """The protocol, its arms and the budget that the options ask for."""
    allow_policy(policy)
    budget = kind.default_budget if budget is None else budget
    of_arms = {one.name for one in options_of(kind.arms)}
    source = kind.arms(**{name: options[name] for name in options if name in of_arms})
    # The arms come first: an error in them says most about what was meant.
    environment = source.environment(kind.arms.default_text() if arms is None else arms, budget)
    own = {name: value for name, value in options.items() if name not in of_arms}
    protocol = kind.configured(policy, own)
    suited = suited_policy(protocol.policy, environment, policy)
    if suited != protocol.policy:
        protocol = replace(protocol, policy=suited)  # type: ignore[type-var]
    return protocol, environment, budget


def suited_policy(policy: AnyPolicy, environment: Environment, text: str | None) -> AnyPolicy:
    """The policy with the bounds that simulated arms need, unless its text states others."""
    agent = agent_of(policy)
    given = set() if text is None else given_parameters(text)
    suited: AnyPolicy = policy if agent is None else agent.suited(policy, environment, given)
    if suited != policy:
        typer.echo(
            f"lotor: these arms break the policy's usual bounds, so it is {to_text(suited)}",
            err=True,
        )
    return suited


def _secure_app(kind: type[SecureProtocol]) -> typer.Typer:
    def body(
        policy: PolicyOption = None,
        arms: arms_option(kind.arms.text, kind.arms.default) = None,  # type: ignore[valid-type]
        budget: BudgetOption = None,
        seed: SeedOption = None,
        compare: CompareOption = False,
        trajectory: TrajectoryOption = False,
        csv: CsvOption = None,
        plot: PlotOption = None,
        partial: PartialOption = False,
        as_json: JsonOption = False,
        *,
        options: Mapping[str, Any],
    ) -> None:
        wanted = Outputs(as_json, trajectory, csv, plot, partial)
        protocol, environment, n = configured(kind, policy, arms, budget, options)
        _run_secure(protocol, environment, n, seed, wanted, compare=compare)

    own = [(one, "Options") for one in kind.simulated_options()]
    own += [(one, ARMS_PANEL) for one in options_of(kind.arms)]
    text = f"Simulate {kind.name} here: {kind.summary}."
    return command(body, own, foreign_options(source_options, "run"), text)


def _run_secure(
    protocol: SecureProtocol,
    environment: Environment,
    budget: int,
    seed: int | None,
    wanted: Outputs,
    *,
    compare: bool,
) -> None:
    """Run it, beside plain if wanted, and show what came of it."""
    out, form = Console(), protocol.in_form()
    forecast = forecast_of(protocol, environment, budget) if form.takes_long else None
    if forecast is not None and not wanted.as_json:
        show_forecast(out, protocol, forecast)
    expected = None if forecast is None else forecast.seconds
    secure = simulate(
        protocol,
        environment,
        budget,
        seed,
        trajectory=compare or wanted.rounds,
        expected=expected,
        partial=wanted.partial,
    )
    wanted.write(secure)
    if not compare or secure.ended == "interrupted":
        if wanted.as_json:
            found = document(secure, trajectory=wanted.trajectory)
            typer.echo(json.dumps(_planned(found, forecast)))
        else:
            show_result(out, secure)
        leave_if_interrupted(secure)
        return
    others = {
        name: simulate(other, environment, budget, secure.seed)
        for name, other in form.beside(protocol).items()
    }
    plain = simulate(protocol.plain(), environment, budget, secure.seed)
    comparison = Comparison(environment, secure, plain, others)
    if wanted.as_json:
        report = _report(protocol, comparison, trajectory=wanted.trajectory)
        typer.echo(json.dumps(_planned(report, forecast)))
    else:
        show_comparison(out, protocol, comparison)
    if not form.holds(protocol, comparison):
        raise typer.Exit(exit_codes.DIFFERENT)


def _planned(found: dict[str, object], forecast: Forecast | None) -> dict[str, object]:
    return found if forecast is None else {**found, "plan": forecast.figures}


def _report(
    protocol: SecureProtocol, comparison: Comparison, *, trajectory: bool
) -> dict[str, object]:
    """A comparison, for programs."""
    secure, plain, form = comparison.secure, comparison.plain, protocol.in_form()
    counts = form.complexity(protocol, comparison.environment, secure.budget)
    return {
        "secure": document(secure, trajectory=trajectory),
        "plain": document(plain, trajectory=trajectory),
        "same": secure.agrees_with(plain),
        "different_arms": len(different_rounds(secure.arms, plain.arms)),
        "overhead": secure.cpu_seconds / max(plain.cpu_seconds, 1e-9),
        "leakage": {
            role: {"paper": finding.paper, "measured": finding.measured}
            for role, finding in form.findings(protocol.reveals).items()
        },
        "operations": {"counted": secure.operations, **counts},
        **form.details(protocol, comparison),
    }


def _plain_app() -> typer.Typer:
    def body(
        policy: PolicyOption = DEFAULT_POLICY,
        arms: arms_option("as for the protocols that run such a policy", "theirs") = None,  # type: ignore[valid-type]
        budget: BudgetOption = DEFAULT_BUDGET,
        seed: SeedOption = None,
        trajectory: TrajectoryOption = False,
        csv: CsvOption = None,
        plot: PlotOption = None,
        partial: PartialOption = False,
        as_json: JsonOption = False,
        *,
        options: Mapping[str, Any],
    ) -> None:
        wanted = Outputs(as_json, trajectory, csv, plot, partial)
        count = DEFAULT_BUDGET if budget is None else budget
        chosen = DEFAULT_POLICY if policy is None else policy
        plain, environment = _plain(chosen, arms, count, options)
        result = simulate(
            plain, environment, count, seed, trajectory=wanted.rounds, partial=partial
        )
        wanted.write(result)
        if as_json:
            typer.echo(json.dumps(document(result, trajectory=trajectory)))
        else:
            show_result(Console(), result)
        leave_if_interrupted(result)

    own = [(one, "Options") for one in _plain_options()]
    own += [(one, ARMS_PANEL) for agent in AGENTS for one in options_of(agent.arms)]
    foreign = foreign_options(source_options, "run")
    return command(body, own, foreign, "Run a policy here with no cryptography.")


def _plain_options() -> list[Option]:
    """The protocols' options that change what plain computes: its settings and the policies'."""
    settings = {name for agent in AGENTS for name in agent.settings}
    policies = [kind for _, kind in POLICIES.loadable() if is_dataclass(kind)]
    own = {field.name for kind in policies for field in fields(kind)}
    found = [one for _, kind in PROTOCOLS.loadable() for one in kind.simulated_options()]
    return [one for one in found if one.name in settings | own]


def _plain(
    text: str, arms: str | None, budget: int, options: Mapping[str, Any]
) -> tuple[Plain, Environment]:
    allow_policy(text)
    policy = from_text(text)
    agent = agent_of(policy)
    if agent is None:
        raise InputError(f"plain cannot run {text}: `lotor policies` lists the policies")
    source = source_for(policy, agent.arms)
    of_arms = {one.name for one in options_of(source)}
    parameters = {field.name for field in fields(policy)} if is_dataclass(policy) else set()
    flags = {one.name: flag(one) for one in (*_plain_options(), *_all_source_options())}
    chosen, settings, given = {}, {}, {}
    for name, value in options.items():
        if name in of_arms:
            chosen[name] = value
        elif name in parameters:
            if name in given_parameters(text):
                raise InputError(f"--policy {text} and {flags[name]} both give {name}: give one")
            given[name] = value
        elif name in agent.settings:
            settings[name] = int(value) if name == "slot_bits" else value
        else:
            where = homes(foreign_options(source_options, "run"), flags[name])
            raise InputError(
                f"{flags[name]} does not go with --policy {text}: it is for the policies of {where}"
            )
    if "delta" in settings and "privacy_budget" not in settings:
        raise InputError("--delta needs --privacy-budget: give both, or leave it out")
    if given:
        policy = replace(policy, **given)  # type: ignore[type-var]
    environment = source(**chosen).environment(
        source.default_text() if arms is None else arms, budget
    )
    return Plain(suited_policy(policy, environment, text), settings), environment


def _all_source_options() -> list[Option]:
    return [one for agent in AGENTS for one in options_of(agent.arms)]


def source_for(policy: object, default: type[ArmsSource]) -> type[ArmsSource]:
    """The arms of the protocol that runs exactly this policy, if there is one."""
    for _, kind in PROTOCOLS.loadable():
        if isinstance(policy, kind.policy_kind()):
            return kind.arms
    return default


app = protocol_app(_secure_app, "Simulate a run here, in one process.", {PLAIN: _plain_app})
