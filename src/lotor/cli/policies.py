"""`lotor policies`: what can be chosen, and which protocol it fits."""

import json
from dataclasses import asdict, dataclass
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.padding import Padding

from lotor.cli.linear_options import LINEAR
from lotor.policies import CATALOGUE, check_genericity, to_text
from lotor.policies.contextual import CONTEXTUAL_CATALOGUE, contextual_to_text
from lotor.policies.linear import LINEAR_CATALOGUE, linear_to_text
from lotor.policies.optimistic import OPTIMISTIC_CATALOGUE, BatchedOFUL, optimistic_to_text


@dataclass(frozen=True, slots=True)
class Row:
    """A policy; `why_not_samba` is None where it fits SAMBA."""

    policy: str
    protocols: list[str]
    why_not_samba: str | None
    summary: str


def policies_command(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON on stdout.")] = False,
) -> None:
    """List the policies, their parameters and which protocols they fit."""
    rows = [*_bandit_rows(), *_linear_rows(), *_contextual_rows(), *_optimistic_rows()]
    if as_json:
        typer.echo(json.dumps([asdict(row) for row in rows]))
        return
    out = Console(highlight=False)
    for row in rows:
        out.print(f"[bold]{escape(row.policy)}[/bold]  {', '.join(row.protocols)}")
        out.print(Padding(escape(row.summary), (0, 0, 0, 4)))
        if row.why_not_samba is not None and row.protocols == ["plain"]:
            why = f"[red]not under SAMBA[/red]: {escape(row.why_not_samba)}"
            out.print(Padding(why, (0, 0, 0, 4)))


def _bandit_rows() -> list[Row]:
    rows = []
    for kind in CATALOGUE.values():
        found = check_genericity(kind())
        reason = found.arm_score_locality or found.oblivious_selection
        fits = ["plain"] if reason is not None else ["samba", "plain"]
        rows.append(Row(to_text(kind()), fits, reason, _summary(kind)))
    return rows


def _linear_rows() -> list[Row]:
    why = "its arms are vectors, and one theta says what all of them pay"
    rows = []
    for kind in LINEAR_CATALOGUE.values():
        fits = [name for name, protocol in LINEAR.items() if protocol.kind is kind]
        rows.append(Row(linear_to_text(kind()), [*fits, "plain"], why, _summary(kind)))
    return rows


def _contextual_rows() -> list[Row]:
    why = "it sees a context before each choice"
    return [
        Row(contextual_to_text(kind()), ["ppcb", "plain"], why, _summary(kind))
        for kind in CONTEXTUAL_CATALOGUE.values()
    ]


def _optimistic_rows() -> list[Row]:
    why = "it sees a context of each arm before each choice"
    return [
        Row(
            optimistic_to_text(kind()),
            ["helba", "plain"] if kind is BatchedOFUL else ["plain"],
            why,
            _summary(kind),
        )
        for kind in OPTIMISTIC_CATALOGUE.values()
    ]


def _summary(kind: type) -> str:
    return (kind.__doc__ or "").split("\n")[0]
