"""Tables for people, of PPCB."""

from collections.abc import Mapping
from typing import TypeAlias

from rich.console import Console

from lotor.cli.study import different_steps
from lotor.cli.tables import small_table
from lotor.protocols.ppcb.complexity import OURS, TABLE_1
from lotor.runtime import Result

Counts: TypeAlias = Mapping[str, Mapping[str, int]]

ROWS = {
    "rounds": "rounds of the servers",
    "opened_bytes": "bytes that they open",
    "correction_bytes": "bytes that are dealt",
    "values_shared": "values shared",
}
EXPLAINED = (
    "Table 1 counts a truncation with each product; here a product of masked values is computed "
    "locally and only its truncation is opened. The authors' program was measured with 10 arms, "
    "for one step.\n"
)


def show_differences(out: Console, secure: Result, plain: Result) -> None:
    """How many decisions rounding has changed, if any."""
    steps = different_steps(secure.arms, plain.arms)
    if steps:
        out.print(
            f"{len(steps)} of {secure.rounds} decisions differ from plain's, the first at step "
            f"{steps[0]}: ppcb rounds to {secure.options['bits']} bits behind the point, and after "
            "one other arm both have learnt from other rewards.\n",
            highlight=False,
        )


def show_rounds(out: Console, result: Result, counts: Counts) -> None:
    """Rounds and bytes beside what must be, the paper's Table 1 and its authors' program."""
    table = small_table("Rounds and bytes")
    table.add_column("")
    for heading in ("counted", "as it must be", "a step", "authors' program"):
        table.add_column(heading, justify="right")
    expected, step = counts["expected"], dict(counts["per_step"])
    step["opened_bytes"] = 2 * step["opened_bytes"]
    columns = (result.operations, expected, step, counts["published_program"])
    for name, label in ROWS.items():
        table.add_row(label, *(f"{one[name]:,}" if name in one else "" for one in columns))
    out.print(table)
    table = small_table("Rounds of one operation")
    table.add_column("operation")
    table.add_column("Table 1 of the paper", justify="right")
    table.add_column("here", justify="right")
    for name, rounds in TABLE_1.items():
        table.add_row(name, rounds, OURS[name])
    out.print(table)
    out.print(EXPLAINED, highlight=False)
