"""The report of an audit for people."""

from itertools import groupby

from rich.console import Console
from rich.markup import escape

from lotor.auditing.report import FAILURES, AuditReport, AuditRow, Verdict
from lotor.cli.show import small_table
from lotor.core.wording import counted


def show_audit(out: Console, report: AuditReport) -> None:
    """What each attack found at each party, and whether that is what the form states."""
    policy = report.options.get("policy")
    out.print(
        f"[bold]{report.protocol}[/bold], form {report.form}{f', {policy}' if policy else ''}: "
        f"{counted(report.k, 'arm')}, {counted(report.budget, 'pull')}, "
        f"{counted(report.repeat, 'run')} in each world, seed {report.seed}\n"
    )
    table = small_table(f"What attacks found (intervals hold together at {report.level:g})")
    table.pad_edge, table.collapse_padding = False, True
    table.add_column("attack", width=22)
    for heading in ("right", "between", "chance"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("verdict", width=14)
    for party, rows in groupby(report.rows, key=lambda row: row.party):
        tried = [row for row in rows if row.verdict is not Verdict.NOT_TRIED]
        if tried:
            table.add_row(f"[bold]{escape(' and '.join(party.split('+')))}[/bold]")
            for row in tried:
                table.add_row(*_cells(row), style="red" if row.verdict in FAILURES else None)
            table.add_section()
    out.print(table)
    _show_verdict(out, report)


def _cells(row: AuditRow) -> tuple[str, ...]:
    return (
        f"  {escape(row.attack)}",
        f"{100 * row.right / row.of:.1f} % of {row.of}",
        f"{100 * row.low:.1f}–{100 * row.high:.1f} %",
        f"{100 * row.chance:.1f} %",
        row.verdict.value,
    )


def _show_verdict(out: Console, report: AuditReport) -> None:
    tried = sum(row.of > 0 for row in report.rows)
    failures = report.failures
    if failures:
        out.print(f"[bold red]{len(failures)} of {tried} attacks contradict the form:[/bold red]")
        for row in failures:
            out.print(f"  {row.party}, {row.attack}: {row.verdict.value}")
    else:
        out.print(
            f"All of {tried} attacks agree with what the form states. One that leaks nothing "
            f"else passes with probability {report.level:g} at least."
        )
    if not report.two_worlds:
        out.print(
            "Attacks that compare two worlds were left out: no second world could be derived from "
            "these arms; name one with --other-arms."
        )
    few = sum(row.verdict is Verdict.TOO_FEW for row in report.rows)
    if few:
        out.print(f"{few} of them need more runs to show anything: give a larger --repeat.")
    for party, stated in report.untried.items():
        out.print(f"Stated for {party}, and not attacked here: {', '.join(stated)}.")
