"""`lotor plan`: what a run will cost, without running it."""

import json
from collections.abc import Mapping
from typing import Any

import typer
from rich.console import Console

from lotor.cli.derive import JsonOption, PolicyOption, command, foreign_options, protocol_app
from lotor.cli.run import ARMS_PANEL, BudgetOption, arms_option, configured, source_options
from lotor.cli.show import show_forecast
from lotor.cli.simulate import forecast_of
from lotor.core.options import options_of
from lotor.protocols.protocol import SecureProtocol


def _app(kind: type[SecureProtocol]) -> typer.Typer:
    def body(
        policy: PolicyOption = None,
        arms: arms_option(kind.arms.text, kind.arms.default) = None,  # type: ignore[valid-type]
        budget: BudgetOption = None,
        as_json: JsonOption = False,
        *,
        options: Mapping[str, Any],
    ) -> None:
        protocol, environment, n = configured(kind, policy, arms, budget, options)
        forecast = forecast_of(protocol, environment, n)
        if as_json:
            chosen = {"protocol": protocol.name, "form": protocol.form}
            typer.echo(json.dumps({**chosen, **forecast.figures}))
        else:
            show_forecast(Console(), protocol, forecast)

    own = [(one, "Options") for one in kind.all_options()]
    own += [(one, ARMS_PANEL) for one in options_of(kind.arms)]
    text = f"Say what a run of {kind.name} will cost ({kind.summary})."
    return command(body, own, foreign_options(source_options, "plan"), text)


app = protocol_app(_app, "Say what a run will cost, without running it.")
