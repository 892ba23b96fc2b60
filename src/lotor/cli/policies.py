"""`lotor policies`: what can be chosen, and which protocol it fits."""

import json
from dataclasses import asdict, dataclass
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.padding import Padding

from lotor.cli.derive import PLAIN, JsonOption
from lotor.policies import POLICIES, AnyPolicy, to_text
from lotor.testing import runs_under

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@dataclass(frozen=True, slots=True)
class PolicyRow:
    """A policy, the protocols that run it, and why the others do not."""

    policy: str
    protocols: list[str]
    why_not: dict[str, str]
    summary: str


@app.command()
def policies_command(
    as_json: JsonOption = False,
    why: Annotated[
        bool, typer.Option("--why", help="Say also why other protocols do not run a policy.")
    ] = False,
) -> None:
    """List the policies, their parameters and which protocols they fit."""
    rows = [_row(name, kind) for name, kind in POLICIES.loadable()]
    if as_json:
        typer.echo(json.dumps([asdict(row) for row in rows]))
        return
    out = Console(highlight=False)
    for row in rows:
        out.print(f"[bold]{escape(row.policy)}[/bold]  {', '.join(row.protocols)}")
        out.print(Padding(escape(row.summary), (0, 0, 0, 4)))
        for name, reason in row.why_not.items() if why else ():
            out.print(Padding(escape(f"Not under {name}: {reason}"), (0, 0, 0, 4)))


def _row(name: str, kind: type[AnyPolicy]) -> PolicyRow:
    summary = (kind.__doc__ or "").split("\n")[0]
    try:
        policy = kind()
    except TypeError:
        # It has parameters without defaults, so there is none to try with each protocol.
        return PolicyRow(name, [PLAIN], {}, summary)
    reasons = runs_under(policy)
    fits = [title for title, reason in reasons.items() if reason is None]
    why_not = {title: reason for title, reason in reasons.items() if reason is not None}
    return PolicyRow(to_text(policy), [*fits, PLAIN], why_not, summary)
