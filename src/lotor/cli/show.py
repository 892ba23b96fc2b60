"""Tables for people: a run, a comparison, what leaks."""

from collections.abc import Mapping

from rich.console import Console

from lotor.cli.show_privacy import show_privacy
from lotor.cli.study import Finding, different_steps
from lotor.cli.tables import small_table
from lotor.protocols.samba.leakage import MEASURED, POSITION_FORM
from lotor.runtime import Result

BAR = 24


def show_result(out: Console, result: Result) -> None:
    """One run: the total, and what each participant spent."""
    options = ", ".join(f"{name} {value}" for name, value in result.options.items())
    out.print(f"[bold]{result.protocol}[/bold] ({options})")
    out.print(
        f"total reward [bold]{result.reward:g}[/bold] of {result.rounds} pulls over {result.k} "
        f"arms, seed {result.seed}, {result.seconds:.2f} s\n"
    )
    show_costs(out, result)
    show_privacy(out, result)


def show_costs(out: Console, result: Result) -> None:
    table = small_table(f"What each participant spent ({result.options['policy']})")
    table.add_column("participant")
    for heading in ("CPU s", "messages sent", "bytes sent"):
        table.add_column(heading, justify="right")
    table.add_column("share of CPU")
    whole = result.cpu_seconds or 1.0
    for name, cost in _grouped(result).items():
        bar = "█" * max(1, round(BAR * cost[0] / whole))
        table.add_row(name, f"{cost[0]:.3f}", f"{cost[1]:,}", f"{cost[2]:,}", bar)
    out.print(table)


def _grouped(result: Result) -> dict[str, tuple[float, int, int]]:
    """Many owners as one line, so that the table fits a screen."""
    owners = [name for name in result.parties if name.startswith("owner-")]
    rows: dict[str, tuple[float, int, int]] = {}
    for name, cost in result.parties.items():
        key = f"{len(owners)} owners" if len(owners) > 4 and name in owners else name
        cpu, sent, size = rows.get(key, (0.0, 0, 0))
        rows[key] = (
            cpu + cost.cpu_seconds,
            sent + cost.messages_sent,
            size + cost.bytes_sent,
        )
    return rows


def show_comparison(out: Console, pairs: list[tuple[Result, Result]]) -> None:
    """Secure beside plain, on the same seed."""
    secure, _ = pairs[0]
    table = small_table(
        f"Secure beside plain (CPU): {secure.k} arms, {secure.rounds} pulls, seed {secure.seed}"
    )
    table.add_column("policy", overflow="fold", min_width=12)
    for heading in ("reward", "same arms", "plain", "secure", "overhead", "sent"):
        table.add_column(heading, justify="right", no_wrap=True)
    for secure, plain in pairs:
        same = secure.agrees_with(plain)
        table.add_row(
            str(secure.options["policy"]),
            f"{secure.reward:g}" if same else f"{plain.reward:g} / {secure.reward:g}",
            "all" if same else _share(secure, plain),
            f"{plain.cpu_seconds:.2f} s",
            f"{secure.cpu_seconds:.2f} s",
            f"{secure.cpu_seconds / max(plain.cpu_seconds, 1e-9):.0f}x",
            f"{secure.bytes_sent / 1e6:.1f} MB",
            style=None if same else "red",
        )
    out.print(table)


def _share(secure: Result, plain: Result) -> str:
    """How many arms are equal where not everything is."""
    return f"NO: {secure.rounds - len(different_steps(secure.arms, plain.arms))} of {secure.rounds}"


def show_operations(out: Console, result: Result, expected: dict[str, int]) -> None:
    """Counted operations beside what must be: Theorem 4, or its like for the position form."""
    table = small_table("Cryptographic operations")
    table.add_column("operation")
    table.add_column("counted", justify="right")
    table.add_column("as Theorem 4 counts", justify="right")
    for name, count in sorted(result.operations.items()):
        known = f"{expected[name]:,}" if name in expected else "not counted there"
        table.add_row(name.replace("_", " "), f"{count:,}", known)
    out.print(table)


def show_leakage(
    out: Console, selection: str = "bits", findings: Mapping[str, Finding] = MEASURED
) -> None:
    """What the paper says each role learns, and what was measured."""
    table = small_table("Who learns what (honest but curious; details in SECURITY.md)")
    table.add_column("role")
    table.add_column("the paper says")
    table.add_column("measured")
    for role, finding in findings.items():
        table.add_row(role, finding.paper, finding.measured.replace("**", ""))
    out.print(table)
    if selection == "position":
        out.print(f"The position form: {POSITION_FORM}\n", highlight=False)
