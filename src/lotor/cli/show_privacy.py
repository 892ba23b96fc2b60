"""The privacy account of a run, for people."""

from rich.console import Console

from lotor.cli.tables import small_table
from lotor.runtime import Result

EXPLAINED = (
    "A figure of x says that no outcome is more than e^x times as likely when contexts are "
    "replaced, except with probability delta. That of one step says nothing about a run."
)


def show_privacy(out: Console, result: Result) -> None:
    """What the arms tell, of one step and of the run; nothing where no account is kept."""
    spent = result.privacy
    if spent is None:
        return
    delta = f"delta {spent['delta']:g}"
    table = small_table("What the arms tell about the contexts")
    table.add_column("")
    table.add_column("how it is found")
    table.add_column("at most", justify="right")
    run = f"the run of {spent['steps']:,} steps"
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
    if result.rounds < result.budget:
        limit = float(result.options["privacy_budget"])
        out.print(
            f"[bold]Stopped early[/bold]: after {result.rounds} of {result.budget} steps, since "
            f"one more would exceed the privacy budget of {limit:g}.",
            highlight=False,
        )
    out.print(f"{EXPLAINED} {spent['covers']}\n", highlight=False)
