"""`lotor start`: a run, from the side of the party that orders it."""

import asyncio
import json
import logging
import secrets
import sys
from collections.abc import Mapping
from functools import partial
from typing import Annotated, Any

import msgspec
import typer
from rich.console import Console

from lotor.cli.derive import (
    JsonOption,
    PolicyOption,
    allow_policy,
    command,
    foreign_options,
    protocol_app,
    whole_number,
)
from lotor.cli.exit_codes import INTERRUPTED
from lotor.cli.progress import RunProgress, announcement_of, plan_of
from lotor.cli.runs_show import without_owners
from lotor.cli.serve import KitOption, LevelOption, LogOption
from lotor.cli.show import show_account
from lotor.core.durations import to_seconds
from lotor.core.errors import (
    ConsentError,
    InputError,
    MissingPartyError,
    RunEndedError,
    StoppedError,
)
from lotor.core.options import Option
from lotor.core.registry import is_class_name
from lotor.core.wording import counted
from lotor.crypto.certificates.subject import check_word
from lotor.policies.registry import split_text, without
from lotor.protocols.form import REWARD, RunPlan
from lotor.protocols.party import RUN_ID_BYTES
from lotor.protocols.protocol import PROTOCOLS, SecureProtocol
from lotor.runtime.daemon import commands, logs
from lotor.runtime.daemon.announcement import Announcement, RunAgreement
from lotor.runtime.daemon.continuing import check_continues, ended_run, members_by_role
from lotor.runtime.daemon.distrusted import distrusted
from lotor.runtime.daemon.pace import Pace
from lotor.runtime.daemon.serving import OpenKit, follow, open_kit
from lotor.runtime.durable.journal import ENDED, FINISHED, REFUSED, STOPPED, RunRow
from lotor.runtime.durable.run_output import RunOutput


def _ordered_options(kind: type[SecureProtocol]) -> list[Option]:
    return [one for one in kind.all_options() if one.ordered]


def _owner_role(protocol: SecureProtocol) -> str:
    role = protocol.in_form().owner_role
    if role is None:
        raise InputError(f"--owners does not go with {protocol.name}: its parties have fixed roles")
    return role


def _names(owners: str) -> list[str]:
    """The names between commas; nobody would ever be found by another text."""
    names = [name.strip() for name in owners.split(",")]
    try:
        for name in names:
            check_word("name", name)
    except InputError as error:
        raise InputError(f"--owners {owners!r}: {error}") from None
    if len(set(names)) != len(names):
        raise InputError(f"--owners {owners!r} names a party twice: name each once")
    return names


def _pace(every: str | None, *, on_demand: bool) -> Pace:
    if every is not None and on_demand:
        raise InputError("rounds begin at a pace or on demand: give --every or --on-demand")
    pace = Pace(0.0 if every is None else to_seconds("--every", every), on_demand)
    pace.check()
    return pace


def _ended(at: OpenKit, run: str) -> RunAgreement:
    """A run of this party that is to be continued."""
    return ended_run(at.kit, at.journal.run(run), PROTOCOLS)


def _app(kind: type[SecureProtocol]) -> typer.Typer:
    def body(
        kit: KitOption,
        budget: Annotated[
            int, typer.Option(parser=whole_number, help="How many pulls; the papers' N or T.")
        ],
        policy: PolicyOption = None,
        owners: Annotated[
            str | None,
            typer.Option(
                help="Who takes part, e.g. 'lyon,porto'.", show_default="[members] of party.toml"
            ),
        ] = None,
        every: Annotated[
            str | None,
            typer.Option(
                help="At most one round in this time, e.g. 10m.",
                show_default="as fast as possible",
            ),
        ] = None,
        on_demand: Annotated[
            bool, typer.Option("--on-demand", help="Each round waits for `lotor runs next`.")
        ] = False,
        continues: Annotated[
            str | None,
            typer.Option(
                "--continue",
                metavar="RUN",
                help="Go on from what a finished run has kept (--keep), with its policy and its "
                "parties, unless you name others.",
                show_default=False,
            ),
        ] = None,
        as_json: JsonOption = False,
        log: LogOption = "text",
        log_level: LevelOption = "warning",
        *,
        options: Mapping[str, Any],
    ) -> None:
        # An impossible run is refused before any other party is asked.
        unknown = policy is not None and is_class_name(split_text(policy)[0])
        asked = kind.configured(None if unknown else policy, options)
        asked.in_form().check_federated(kind.name)
        if continues is None and (why := asked.why_not_anew()):
            raise InputError(f"{why}, by --continue RUN")
        named = [] if owners is None else _names(owners)
        pace = _pace(every, on_demand=on_demand)
        with open_kit(kit) as at:
            # Now the kit's own code is known, and the policy may be part of it.
            ended = None if continues is None else _ended(at, continues)
            if ended is not None:
                policy = policy or without(ended.plan.policy, options)
                options = {"form": ended.form.name, **options}
            allow_policy(policy)
            protocol = kind.configured(policy, options)
            logs.configure(at.kit.subject.name, at.kit.subject.role, log, log_level)
            if ended is None:
                members = {role: list(names) for role, names in at.config.members.items()}
            else:
                check_continues(ended, PROTOCOLS.name_of(kind), protocol.form)
                members = members_by_role(ended)
            if owners is not None:
                members[_owner_role(protocol)] = named
            wanted = {one for listed in members.values() for one in listed}
            # Between JSON lines there is nothing else.
            for sentence in distrusted(at.kit, at.journal, wanted) if log == "text" else ():
                typer.echo(f"lotor: {sentence}", err=True)
            run = secrets.token_hex(RUN_ID_BYTES)
            name, ordered = PROTOCOLS.name_of(kind), protocol.order_options()
            order = commands.StartRun(
                name, budget, ordered, members, pace, "" if ended is None else ended.run
            )
            at.journal.commands.add(run, commands.to_bytes(order))
            watch(at, run, as_json=as_json, progress=log == "text")

    text = (
        f"Start a run of {kind.name} ({kind.summary}), wait for it, and print the total. A run "
        "that was cut off goes on with `lotor runs follow RUN`."
    )
    own = [(one, "Options") for one in _ordered_options(kind)]
    return command(body, own, foreign_options(_ordered_options, "start"), text)


app = protocol_app(
    _app, "Start a run, wait for it, and print the total, as the party that learns it."
)


def watch(at: OpenKit, run: str, *, as_json: bool, progress: bool) -> None:
    """Follow a run to its end and print what came of it."""
    try:
        row = asyncio.run(_watch(at, run, progress=progress))
    except KeyboardInterrupt:
        if at.journal.commands.withdraw(run):
            typer.echo("lotor: interrupted before the run began; nothing was started", err=True)
            raise typer.Exit(INTERRUPTED) from None
        driver = at.journal.driver()
        how = "waits for this party" if driver is None else f"goes on in process {driver}"
        which = f"{run[:8]} --kit {at.kit.path}"
        typer.echo(
            f"lotor: interrupted. The run {how}: continue with `lotor runs follow {which}`, or "
            f"end it with `lotor runs stop {which}`",
            err=True,
        )
        raise typer.Exit(INTERRUPTED) from None
    if row is None:
        kind = MissingPartyError if at.journal.commands.sought(run) else InputError
        raise kind(str(at.journal.commands.impossible(run)))
    if row.state != FINISHED:
        raise _without_result(row)
    _say_what_came(row, at.journal.all_output(run), as_json=as_json)


def _say_what_came(row: RunRow, told: RunOutput, *, as_json: bool) -> None:
    announced, plan = announcement_of(row), plan_of(row)
    total, account = told.output, None if plan is None else plan.account
    if as_json:
        typer.echo(json.dumps(_as_json(row.id, announced, told, plan)))
        return
    if isinstance(total, int | float):
        chosen_form = f"{announced.protocol} in the form {announced.form}"
        counted_of = _of(told.outcomes, plan)
        said = f"total reward {total:g}{counted_of}"
        if plan is not None and plan.counts != REWARD:
            said = f"{total:g} {plan.counts}"
        typer.echo(f"{said} (run {row.id}, {chosen_form})")
        if told.left:
            typer.echo(f"it {without_owners(told.left)}")
        if plan is not None and plan.continues:
            typer.echo(f"that is of this run alone, which continues {plan.continues}", err=True)
    else:
        typer.echo(f"run {row.id} is finished; the party that started it has the total")
    if told.revealed is not None:
        typer.echo(told.revealed.text)
    if account is not None:
        show_account(Console(), account)


def _as_json(
    run: str, announced: Announcement, told: RunOutput, plan: RunPlan | None
) -> dict[str, object]:
    """What came of a run, for programs."""
    said: dict[str, object] = {"run": run, "protocol": announced.protocol, "form": announced.form}
    if plan is not None and plan.continues:
        said["continues"] = plan.continues
    said[REWARD if plan is None else plan.counts] = told.output
    if told.outcomes is not None:
        said["outcomes"] = told.outcomes
    if told.left:
        said["without"] = told.left
    if told.revealed is not None:
        said["revealed"] = msgspec.to_builtins(told.revealed)
    if plan is not None and plan.account is not None:
        said["privacy"] = dict(plan.account)
    return said


def _of(outcomes: int | None, plan: RunPlan | None) -> str:
    """How many outcomes a total counts, where some have never come."""
    if outcomes is None or plan is None or outcomes == plan.budget:
        return ""
    return f" from {counted(outcomes, 'outcome')}, {plan.budget - outcomes} never came"


async def _watch(at: OpenKit, run: str, *, progress: bool) -> RunRow | None:
    if not progress:  # JSON lines, and nothing between them
        return await follow(at, run, lambda _row: None)
    log = logging.getLogger("lotor.daemon")
    log.addFilter(news := partial(_is_news, run))
    try:
        with RunProgress(at.journal, run, sys.stderr) as shown:
            return await follow(at, run, shown.show)
    finally:
        log.removeFilter(news)


def _is_news(run: str, record: logging.LogRecord) -> bool:
    """Whether a line says more than this command does itself, before a run and after its end."""
    about, event = getattr(record, "run", None), getattr(record, "event", None)
    return about != run or event not in ("looking", *ENDED)


def _without_result(row: RunRow) -> RunEndedError:
    kind = {REFUSED: ConsentError, STOPPED: StoppedError}.get(row.state, RunEndedError)
    return kind(f"run {row.id} ended without a result: {row.note}")
