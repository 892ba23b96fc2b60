"""The privacy account of a run, for people."""

from collections.abc import Mapping

from rich.console import Console

from lotor.cli.tables import small_table
from lotor.runtime import Result

EXPLAINED = (
    "A figure of x says that no outcome is more than e^x times as likely when contexts are "
    "replaced, except with probability delta. That of one step says nothing about a run."
)


def show_privacy(out: Console, result: Result) -> None:
    """What the arms of a run tell; nothing where no account is kept."""
    if result.privacy is None:
        return
    show_account(out, result.privacy)
    if result.rounds < result.budget:
        limit = float(result.options["privacy_budget"])
        out.print(
            f"[bold]Stopped early[/bold]: after {result.rounds} of {result.budget} steps, since "
            f"one more would exceed the privacy budget of {limit:g}.\n",
            highlight=False,
        )


def show_account(out: Console, spent: Mapping[str, float | int | str | None]) -> None:
    """Of one step and of the whole run."""
    delta = f"delta {spent['delta']:g}"
    table = small_table("What the arms tell about the contexts")
    table.add_column("")
    table.add_column("how it is found")
    table.add_column("at most", justify="right")
    run = "the run of one step" if spent["steps"] == 1 else f"the run of {spent['steps']:,} steps"
    for what, how, name in (
        ("one step", "log(A/epsilon - A + 1), exact", "per_step"),
        ("one step only", "log(A/epsilon), as in the paper", "paper_per_step"),
        (run, "basic: the sum, delta 0", "basic"),
        (run, f"advanced, {delta}", "advanced"),
        (run, f"Rényi, {delta}", "renyi"),
        (run, f"total: the least, {delta}", "total"),
    ):
        figure = spent[name]
        shown = "infinite" if figure is None else f"{figure:,.2f}"
        table.add_row(what, how, shown, style="bold" if name == "total" else None)
    out.print(table)
    out.print(f"{EXPLAINED} {spent['covers']}\n", highlight=False)
