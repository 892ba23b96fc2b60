"""`lotor plan`: what a run will cost, without running it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from math import inf
from typing import Annotated, Any

import typer
from rich.console import Console

from lotor.cli.derive import (
    JsonOption,
    PolicyOption,
    command,
    foreign_options,
    number,
    protocol_app,
)
from lotor.cli.progress import busy
from lotor.cli.run import ARMS_PANEL, BudgetOption, arms_option, configured, source_options
from lotor.cli.show import show_forecast, show_table
from lotor.cli.simulate import forecast_of
from lotor.core.errors import InputError
from lotor.core.options import options_of
from lotor.protocols.protocol import SecureProtocol
from lotor.protocols.report import ReportTable
from lotor.studies.plan import SECONDS, Planned, plan

MILLISECOND = 1e-3


def milliseconds(text: str) -> float:
    """The value of an option: 20ms, 20 or 0.02s; it counts in seconds from here on.

    >>> milliseconds("20ms"), milliseconds("20"), milliseconds("0.02s")
    (0.02, 0.02, 0.02)
    """
    bare = text.strip()
    if bare.endswith("s") and not bare.endswith("ms"):
        return seconds_number(bare)
    return _duration(text, bare.removesuffix("ms"), "milliseconds, such as 20ms") * MILLISECOND


def seconds_number(text: str) -> float:
    """The value of an option: 5s or 5."""
    return _duration(text, text.strip().removesuffix("s"), "seconds, such as 5s")


def _duration(text: str, bare: str, wanted: str) -> float:
    value = number(bare)
    if not 0 <= value < inf:
        raise typer.BadParameter(f"{text!r} is no time: give {wanted}")
    return value


RttOption = Annotated[
    float | None,
    typer.Option(
        "--rtt",
        parser=milliseconds,
        metavar="MS",
        help="The time that a message takes to another party and back, such as 20ms.",
    ),
]
SecondsOption = Annotated[
    float | None,
    typer.Option(
        "--seconds",
        parser=seconds_number,
        metavar="S",
        help="How long to rehearse the run on this machine; 0: not at all. A form whose rounds "
        f"take long is only rehearsed if this is given, all others for {SECONDS:g} s.",
    ),
]


def _app(kind: type[SecureProtocol]) -> typer.Typer:
    def body(
        policy: PolicyOption = None,
        arms: arms_option(kind.arms.text, kind.arms.default) = None,  # type: ignore[valid-type]
        budget: BudgetOption = None,
        rtt: RttOption = None,
        seconds: SecondsOption = None,
        as_json: JsonOption = False,
        *,
        options: Mapping[str, Any],
    ) -> None:
        protocol, environment, n = configured(kind, policy, arms, budget, options)
        lasts = _rehearsal_seconds(protocol, rtt, seconds)
        forecast = forecast_of(protocol, environment, n)
        planned = None
        others: dict[str, Planned] = {}
        if lasts > 0:
            with busy("rehearsing the run on this machine"):
                planned = plan(protocol, environment, budget=n, rtt=rtt or 0.0, seconds=lasts)
        if lasts > 0 and rtt is not None:
            for way, other in protocol.alternatives().items():
                with busy(f"rehearsing it with {way}"):
                    others[way] = plan(other, environment, budget=n, rtt=rtt, seconds=lasts)
        if as_json:
            chosen = {"protocol": protocol.name, "form": protocol.form}
            rehearsal = {} if planned is None else {"rehearsal": asdict(planned)}
            if others:
                rehearsal["alternatives"] = {way: asdict(other) for way, other in others.items()}
            typer.echo(json.dumps({**chosen, **forecast.figures, **rehearsal}))
            return
        out = Console()
        show_forecast(out, protocol, forecast)
        if planned is not None:
            for table in _tables(planned):
                show_table(out, table)
            if others:
                show_table(out, _ways(planned, others))

    own = [(one, "Options") for one in kind.simulated_options()]
    own += [(one, ARMS_PANEL) for one in options_of(kind.arms)]
    text = f"Say what a run of {kind.name} will cost ({kind.summary})."
    return command(body, own, foreign_options(source_options, "plan"), text)


def _rehearsal_seconds(protocol: SecureProtocol, rtt: float | None, seconds: float | None) -> float:
    """How long to rehearse; 0 for not at all."""
    if seconds is None:
        seconds = 0.0 if protocol.in_form().takes_long else SECONDS
    if seconds == 0 and rtt is not None:
        raise InputError(
            "--rtt tells how long a run takes by rehearsing it, and nothing is rehearsed here: "
            "give --seconds, such as 60s where a round takes seconds, or leave --rtt out"
        )
    return seconds


def _tables(planned: Planned) -> Sequence[ReportTable]:
    about = "" if planned.exact else "about "
    cores = sum(planned.cpu_seconds.values())
    run = [
        ("rehearsed", f"{planned.rehearsed:,} of {planned.budget:,} rounds"),
        ("round trips one after another", f"{about}{planned.round_trips:,.0f}"),
        (
            f"time, {planned.rtt / MILLISECOND:g} ms a round trip",
            f"about {_time(planned.seconds)}",
        ),
    ]
    parties = [
        (name, _time(planned.cpu_seconds[name]), f"{about}{size:,}")
        for name, size in planned.bytes_sent.items()
    ]
    parties.append(("all", _time(cores), f"{about}{planned.bytes_in_all:,}"))
    note = (
        "Processor time is that of this machine. The time of the run has computing and waiting for "
        "messages in it; daemons also wait for their disks, and bandwidth is not considered."
    )
    return [
        ReportTable("The run, by a rehearsal on this machine", ("", ""), run),
        ReportTable("Its parties", ("party", "processor time", "bytes sent"), parties, note),
    ]


def _ways(planned: Planned, others: Mapping[str, Planned]) -> ReportTable:
    """The same run in other ways."""
    ways = {"as ordered": planned, **others}
    quickest = min(ways, key=lambda way: ways[way].seconds)
    rows = [
        (
            way,
            f"{one.round_trips:,.0f}",
            _time(sum(one.cpu_seconds.values())),
            _time(one.seconds) + (", the quickest" if way == quickest else ""),
        )
        for way, one in ways.items()
    ]
    heads = ("way", "round trips", "processor time", "time of the run")
    return ReportTable(f"At {planned.rtt / MILLISECOND:g} ms a round trip", heads, rows)


def _time(seconds: float) -> str:
    """A time that people can compare.

    >>> _time(0.0123), _time(12.3), _time(7384)
    ('12 ms', '12.3 s', '2 h 3 min')
    """
    if seconds < 1:
        return f"{seconds / MILLISECOND:.0f} ms"
    if seconds < 120:
        return f"{seconds:.1f} s"
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"


app = protocol_app(_app, "Say what a run will cost, without running it.")
