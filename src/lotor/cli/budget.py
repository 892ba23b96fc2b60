"""`lotor budget`: what runs have cost a party, for each customer and in all."""

import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from math import isfinite

import typer
from rich.console import Console

from lotor.cli.derive import JsonOption
from lotor.cli.serve import KitOption
from lotor.cli.show import small_table
from lotor.runtime.daemon.config_tables import ConsentRules, PartyConfig
from lotor.runtime.daemon.serving import open_kit
from lotor.runtime.durable.ledger import BudgetSum, LedgerEntry

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
EXPLAINED = (
    "A run is charged when it starts: its whole budget, and all that its arms may tell. One that "
    "ended early is charged only the pulls that it used, one that was under way included, but "
    "still all that its arms may have told. Epsilons and deltas of runs add up; - stands for "
    "protocols that keep no account of them."
)
NO_RULES = (
    "This party has no [consent] table in party.toml: every run that somebody else orders waits "
    "for approval."
)
UNASKED = (
    "This party has neither [owner] nor [consent] in party.toml: it takes part in every run "
    "unasked, unless attacks succeed on its form and its protocol has a better one."
)


@app.command()
def budget_command(kit: KitOption, as_json: JsonOption = False) -> None:
    """Show what runs have cost a party so far, and what it still allows."""
    with open_kit(kit) as at:
        party, config = at.kit.subject, at.config
        since, entries = at.journal.ledger.since, at.journal.ledger.entries()
    if as_json:
        about = {"party": party.name, "role": party.role, "since": _moment(since)}
        typer.echo(json.dumps({**about, **document(config.consent, entries)}))
        return
    out = Console(highlight=False)
    moment = f"{datetime.fromtimestamp(since, UTC):%Y-%m-%d %H:%M} UTC"
    _show(out, f"Budget of {party.name}, counted since {moment}", config.consent, entries)
    out.print(" ".join([*_without_rules(config), EXPLAINED]), markup=False)


def _without_rules(config: PartyConfig) -> Iterator[str]:
    """What becomes of runs at a party that has set no limits."""
    if config.consent is None:
        yield UNASKED if config.takes_part_unasked else NO_RULES


def document(rules: ConsentRules | None, entries: Sequence[LedgerEntry]) -> dict[str, object]:
    """All of a ledger, for programs; an epsilon of None is infinite."""
    spent = BudgetSum.of(entries)
    return {
        "limits": {
            "total_budget": None if rules is None else rules.total_budget,
            "privacy_budget": None if rules is None else rules.privacy_budget,
            "largest_delta": None if rules is None else rules.largest_delta,
        },
        "left": {"pulls": _pulls_left(rules, spent), "epsilon": _epsilon_left(rules, spent)},
        "total": _sums(entries),
        "customers": {
            name: {
                **_sums(own),
                "certificates": sorted({entry.certificate for entry in own}),
            }
            for name, own in _by_customer(entries).items()
        },
        "runs": [_described(entry) for entry in entries],
    }


def _sums(entries: Sequence[LedgerEntry]) -> dict[str, object]:
    spent = BudgetSum.of(entries)
    return {
        "runs": spent.runs,
        "running": sum(entry.ended is None for entry in entries),
        "approved": sum(entry.approved for entry in entries),
        "granted": spent.granted,
        "charged": spent.pulls,
        "accounted": _accounted(entries),
        "epsilon": _finite(spent.epsilon),
        "delta": spent.delta,
    }


def _described(entry: LedgerEntry) -> dict[str, object]:
    return {
        "run": entry.run,
        "customer": entry.customer,
        "certificate": entry.certificate,
        "protocol": entry.protocol,
        "form": entry.form,
        "policy": entry.policy,
        "granted": entry.granted,
        "used": entry.used,
        "charged": entry.charged,
        "accounted": entry.epsilon is not None,
        "epsilon": _finite(entry.epsilon or 0.0),
        "delta": entry.delta,
        "approved": entry.approved,
        "started": _moment(entry.started),
        "ended": None if entry.ended is None else _moment(entry.ended),
    }


def _by_customer(entries: Sequence[LedgerEntry]) -> dict[str, list[LedgerEntry]]:
    found: dict[str, list[LedgerEntry]] = {}
    for entry in entries:
        found.setdefault(entry.customer, []).append(entry)
    return dict(sorted(found.items()))


def _accounted(entries: Sequence[LedgerEntry]) -> bool:
    return any(entry.epsilon is not None for entry in entries)


def _pulls_left(rules: ConsentRules | None, spent: BudgetSum) -> int | None:
    """None without a limit."""
    return None if rules is None else max(rules.total_budget - spent.pulls, 0)


def _epsilon_left(rules: ConsentRules | None, spent: BudgetSum) -> float | None:
    """None without a limit."""
    if rules is None or rules.privacy_budget is None:
        return None
    return max(rules.privacy_budget - spent.epsilon, 0.0)


def _show(
    out: Console, title: str, rules: ConsentRules | None, entries: Sequence[LedgerEntry]
) -> None:
    table = small_table(title)
    table.add_column("customer", overflow="fold", min_width=12)
    for heading in ("runs", "granted", "charged", "epsilon", "delta"):
        table.add_column(heading, justify="right", no_wrap=True)
    for name, own in _by_customer(entries).items():
        table.add_row(name, *_cells(own))
    table.add_row("in all", *_cells(entries), style="bold")
    if rules is not None:
        spent, limit = BudgetSum.of(entries), rules.privacy_budget
        left = _epsilon_left(rules, spent)
        table.add_row(
            *("limit", "", "", f"{rules.total_budget:,}"),
            *("none" if limit is None else _figure(limit), f"{rules.largest_delta:g} a run"),
        )
        table.add_row(
            *("left", "", "", f"{_pulls_left(rules, spent):,}"),
            *("any" if left is None else _figure(left), ""),
        )
    out.print(table)


def _cells(entries: Sequence[LedgerEntry]) -> tuple[str, ...]:
    spent, accounted = BudgetSum.of(entries), _accounted(entries)
    return (
        f"{spent.runs:,}",
        f"{spent.granted:,}",
        f"{spent.pulls:,}",
        _figure(spent.epsilon) if accounted else "-",
        f"{spent.delta:g}" if accounted else "-",
    )


def _figure(epsilon: float) -> str:
    """Two digits after the point, or the first two of a small number."""
    if not isfinite(epsilon):
        return "infinite"
    return f"{epsilon:,.2f}" if epsilon >= 0.01 or epsilon == 0.0 else f"{epsilon:.1e}"


def _finite(epsilon: float) -> float | None:
    """JSON has no infinity."""
    return epsilon if isfinite(epsilon) else None


def _moment(when: float) -> str:
    return datetime.fromtimestamp(when, UTC).isoformat(timespec="seconds")
