"""Tables for people: a run, a comparison, a forecast, what leaks, what privacy was spent."""

from collections.abc import Collection, Mapping

from rich import box
from rich.console import Console
from rich.table import Table

from lotor.cli.simulate import different_rounds
from lotor.core.result import Result
from lotor.core.wording import counted
from lotor.protocols.form import AnyForm
from lotor.protocols.protocol import SecureProtocol
from lotor.protocols.report import Comparison, Counts, Forecast, ReportTable

BAR = 24
MANY = 4
PRIVACY_EXPLAINED = (
    "A figure of x means: if contexts are replaced, no outcome becomes more than e^x times as "
    "likely, except with probability delta. The figure of one step says nothing about a run."
)


def small_table(title: str) -> Table:
    """A table with no lines except one below its headings."""
    return Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD)


def show_table(out: Console, table: ReportTable) -> None:
    """A table that a protocol gave as data: words first, then numbers."""
    shown = small_table(table.title)
    for number, heading in enumerate(table.columns):
        shown.add_column(heading, justify="right" if number else "left")
    for row in table.rows:
        shown.add_row(*row)
    out.print(shown)
    if table.note:
        out.print(f"{table.note}\n", highlight=False)


def show_result(out: Console, result: Result) -> None:
    """One run: the total, and what each participant spent."""
    options = ", ".join(f"{name} {value}" for name, value in result.options.items())
    out.print(f"[bold]{result.protocol}[/bold] ({options})")
    out.print(
        f"total reward [bold]{result.reward:g}[/bold] of {counted(result.rounds, 'pull')} over "
        f"{counted(result.k, 'arm')}, seed {result.seed}, took {result.seconds:.2f} s\n"
    )
    show_finding(out, result)
    show_revealed(out, result)
    show_pulls(out, result)
    show_costs(out, result)
    show_privacy(out, result)


def show_comparison(out: Console, protocol: SecureProtocol, comparison: Comparison) -> None:
    """Secure beside plain, what it cost, and who learns what."""
    secure, form = comparison.secure, protocol.in_form()
    _show_pair(out, protocol, comparison)
    for table in form.tables(protocol, comparison):
        show_table(out, table)
    show_revealed(out, secure)
    show_costs(out, secure)
    counts = form.complexity(protocol, comparison.environment, secure.budget)
    show_operations(out, secure, counts, form)
    show_privacy(out, secure)
    show_leakage(out, form, protocol.reveals)
    for note in form.notes(protocol):
        out.print(f"{note}\n", highlight=False)


def _show_pair(out: Console, protocol: SecureProtocol, comparison: Comparison) -> None:
    secure, plain = comparison.secure, comparison.plain
    different = different_rounds(secure.arms, plain.arms)
    same = secure.agrees_with(plain)
    table = small_table(
        f"Secure beside plain (CPU): {counted(secure.k, 'arm')}, "
        f"{counted(secure.rounds, 'pull')}, seed {secure.seed}"
    )
    table.add_column("policy", overflow="fold", min_width=12)
    for heading in ("reward", "same arms", "plain", "secure", "overhead", "sent"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_row(
        str(secure.options["policy"]),
        f"{secure.reward:g}" if same else f"{plain.reward:g} / {secure.reward:g}",
        "all" if same else f"NO: {secure.rounds - len(different)} of {secure.rounds}",
        f"{plain.cpu_seconds:.2f} s",
        f"{secure.cpu_seconds:.2f} s",
        f"{secure.cpu_seconds / max(plain.cpu_seconds, 1e-9):.0f}x",
        f"{secure.bytes_sent / 1e6:.1f} MB",
        style=None if same else "red",
    )
    out.print(table)
    if different and not protocol.exact:
        out.print(
            f"{len(different)} of {secure.rounds} decisions differ from plain's, the first in "
            f"round {different[0]}: {protocol.name} rounds scores, and after the first different "
            "arm the two learn from different rewards.\n",
            highlight=False,
        )


def show_finding(out: Console, result: Result) -> None:
    """The best arm, where the policy looked for it, and why a run ended before its budget."""
    budget = f"the budget of {counted(result.budget, 'pull')}"
    if result.best is not None and result.best.sure:
        out.print(f"{result.finding}: the run ended before {budget}\n", highlight=False)
    elif result.best is not None:
        out.print(
            f"{result.finding}: {counted(result.rounds, 'pull')} did not suffice, so give a larger "
            "budget, or a larger delta or epsilon\n",
            highlight=False,
        )
    elif result.ended == "out of data":
        out.print(f"the log had no more data: the run ended before {budget}\n", highlight=False)


def show_revealed(out: Console, result: Result) -> None:
    """What whoever ordered the run was told beyond the total."""
    if result.revealed is not None:
        out.print(f"{result.revealed.text}\n", markup=False, highlight=False)


def show_pulls(out: Console, result: Result) -> None:
    """How often each arm was pulled, where it is known and arms have names."""
    if result.names is None or result.arms is None:
        return
    table = small_table("Pulls")
    table.add_column("arm")
    table.add_column("pulls", justify="right")
    for name, count in result.pulls.items():
        table.add_row(str(name), f"{count:,}")
    out.print(table)


def show_costs(out: Console, result: Result) -> None:
    table = small_table(f"What each participant spent ({result.options['policy']})")
    table.add_column("participant")
    for heading in ("CPU s", "messages sent", "bytes sent"):
        table.add_column(heading, justify="right")
    table.add_column("share of CPU")
    whole = result.cpu_seconds or 1.0
    for name, (cpu, sent, size) in _grouped(result).items():
        bar = "█" * max(1, round(BAR * cpu / whole))
        table.add_row(name, f"{cpu:.3f}", f"{sent:,}", f"{size:,}", bar)
    out.print(table)


def _grouped(result: Result) -> dict[str, tuple[float, int, int]]:
    """Many parties of one kind as one line, so that the table fits a screen."""
    kinds = [_kind(name) for name in result.parties]
    rows: dict[str, tuple[float, int, int]] = {}
    for name, cost in result.parties.items():
        count = kinds.count(_kind(name))
        key = f"{count} {_kind(name)}s" if count > MANY else name
        cpu, sent, size = rows.get(key, (0.0, 0, 0))
        rows[key] = (cpu + cost.cpu_seconds, sent + cost.messages_sent, size + cost.bytes_sent)
    return rows


def _kind(name: str) -> str:
    """A simulated party's name without its number."""
    kind, _, number = name.rpartition("-")
    return kind if number.isdigit() else name


def show_operations(out: Console, result: Result, counts: Counts, form: AnyForm) -> None:
    """The counted operations beside the expected ones and those of other programs."""
    counts = {
        name: column
        for name, column in counts.items()
        if all(isinstance(count, int) for count in column.values())
    }
    table = small_table("Cryptographic operations")
    table.add_column("operation")
    for heading in (
        "counted",
        *(form.counted_as.get(name, name.replace("_", " ")) for name in counts),
    ):
        table.add_column(heading, justify="right")
    names = dict.fromkeys(sorted(result.operations))
    names |= {name: None for column in counts.values() for name in column}
    columns: tuple[Mapping[str, int | str], ...] = (result.operations, *counts.values())
    for name in names:
        cells = (_cell(column.get(name, "")) for column in columns)
        table.add_row(name.replace("_", " "), *cells)
    out.print(table)
    if form.counts_explained:
        out.print(f"{form.counts_explained}\n", highlight=False)


def _cell(value: int | str) -> str:
    return f"{value:,}" if isinstance(value, int) else value


def show_leakage(out: Console, form: AnyForm, reveals: Collection[str]) -> None:
    """What the paper says each role learns, and what was measured; see `RunPlan.reveals`."""
    table = small_table("Who learns what (honest but curious; details in SECURITY.md)")
    table.add_column("role")
    table.add_column("the paper says")
    table.add_column("measured")
    for role, finding in form.findings(reveals).items():
        table.add_row(role, finding.paper, finding.measured.replace("**", ""))
    out.print(table)
    out.print(f"Form {form.name}. These must not collude: {form.apart}.\n", highlight=False)


def show_measured(out: Console, form: str, measured: Mapping[str, str]) -> None:
    """What each role learns in a run that waits for approval."""
    table = small_table(f"What each role learns in the form {form}, as measured")
    table.add_column("role")
    table.add_column("measured")
    for role, found in measured.items():
        table.add_row(role, found.replace("**", ""))
    out.print(table)


def show_forecast(out: Console, protocol: SecureProtocol, forecast: Forecast) -> None:
    rows = [("form", protocol.form), *forecast.rows.items()]
    title = f"What the run will cost: {forecast.title}"
    show_table(out, ReportTable(title, ("", ""), rows, forecast.note))


def show_privacy(out: Console, result: Result) -> None:
    """What the arms of a run tell; shows nothing if the protocol keeps no account."""
    if result.privacy is None:
        return
    show_account(out, result.privacy)
    if result.rounds < result.budget:
        limit = float(result.options["privacy_budget"])
        out.print(
            f"[bold]Stopped early[/bold] after {result.rounds} of {result.budget} steps: one "
            f"more would exceed the privacy budget of {limit:g}.\n",
            highlight=False,
        )


def show_account(out: Console, spent: Mapping[str, float | int | str | None]) -> None:
    """The privacy of one step and of the whole run."""
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
    if "whole" in spent:
        how, figure = f"the sum of their totals, delta {spent['whole_delta']:g}", spent["whole"]
        what = f"with the {spent['steps_before']:,} steps before"
        table.add_row(what, how, "infinite" if figure is None else f"{figure:,.2f}")
    out.print(table)
    out.print(f"{PRIVACY_EXPLAINED} {spent['covers']}\n", highlight=False)
