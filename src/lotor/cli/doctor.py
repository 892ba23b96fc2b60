"""`lotor doctor`: what is wrong with a party, and what to do about it."""

import json
from typing import Annotated

import msgspec
import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from lotor.cli.exit_codes import DIFFERENT
from lotor.cli.serve import KitOption
from lotor.runtime.daemon.doctor import DoctorFinding, examine

_STYLES = {"ok": "green", "hint": "cyan", "warning": "yellow", "problem": "bold red"}


app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command()
def doctor_command(
    kit: KitOption,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON on stdout.")] = False,
) -> None:
    """Check a party's kit, journal, runs and connections, and say what to do. Change nothing."""
    findings = examine(kit)
    if as_json:
        typer.echo(json.dumps([msgspec.structs.asdict(finding) for finding in findings]))
    else:
        _show(Console(highlight=False), findings)
    if any(finding.result == "problem" for finding in findings):
        raise typer.Exit(DIFFERENT)


def _show(out: Console, findings: list[DoctorFinding]) -> None:
    table = Table(box=None, header_style="bold", padding=(0, 2, 0, 0))
    table.add_column("check", no_wrap=True)
    table.add_column("", no_wrap=True)
    table.add_column("found, and what to do", overflow="fold")
    for one in findings:
        style = _STYLES[one.result]
        text = escape(one.found) + (f"\n[bold]→[/bold] {escape(one.todo)}" if one.todo else "")
        table.add_row(one.check, f"[{style}]{one.result}[/{style}]", text)
    out.print(table)
    counts = {kind: sum(one.result == kind for one in findings) for kind in ("problem", "warning")}
    out.print(f"\nproblems: {counts['problem']}, warnings: {counts['warning']}")
