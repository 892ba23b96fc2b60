"""Writes the sizes in helba.md, as the planner has them: `python docs/helba_tables.py`."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import lotor
from lotor.core.fixed_point import RewardScale
from lotor.policies.optimistic import BatchedOFUL
from lotor.protocols.helba.paper.forecast import HelbaForecast
from lotor.protocols.helba.paper.root import RootCircuit

PAGE = Path(__file__).with_name("helba.md")
PAPER = BatchedOFUL(index="sqrt", C=1, eta=0.1, width="union")
SCALE = RewardScale(-1, 1)


@dataclass(frozen=True, slots=True)
class Wanted:
    """A run that fits."""

    d: int
    arms: int
    stages: int = 4
    security: int = 128
    budget: int = 130

    def planned(self, policy: BatchedOFUL) -> HelbaForecast:
        helba = lotor.Helba(policy, stages=self.stages, security=self.security, form="paper")
        return HelbaForecast(
            helba.setting("table", budget=self.budget, arms=self.arms, d=self.d, scale=SCALE)
        )

    @property
    def cells(self) -> tuple[str, ...]:
        numbers = (self.d, self.arms, self.budget, self.stages, self.security)
        return tuple(f"{one:,}" for one in numbers)


RUN = ("d", "K", "T", "stages", "security", "levels × bits")
ROOT = (
    *(*RUN, "degree of the root", "MB up per round", "evaluation keys"),
    *("resolution, last round", "of the switch"),
)
QUADRATIC = (*RUN, "MB up per round", "evaluation keys", "server's memory, estimated")
ROOT_RUNS = (
    Wanted(2, 2),
    Wanted(2, 3),
    Wanted(2, 5),
    Wanted(2, 10, stages=3),
    Wanted(5, 5, stages=3),
    Wanted(10, 2),
    Wanted(10, 10, stages=3, budget=1000),
    Wanted(2, 2, stages=2, security=192),
)
QUADRATIC_RUNS = (
    Wanted(2, 2),
    Wanted(2, 10),
    Wanted(5, 5),
    Wanted(6, 2, stages=3),
    Wanted(2, 2, stages=3, security=192),
    Wanted(2, 2, stages=2, security=256),
)


def root_table() -> str:
    """What the paper's index takes, and how fine it decides."""
    return _table(ROOT, (_root_row(one) for one in ROOT_RUNS))


def _root_row(wanted: Wanted) -> Sequence[str]:
    plan = wanted.planned(PAPER)
    circuit, switch = cast("RootCircuit", plan.setting.circuit), plan.switch_resolution()
    return (
        *(*wanted.cells, _levels(plan), str(circuit.unit_root.degree)),
        *(f"{plan.round_bytes_up / 1e6:,.0f}", f"{plan.key_bytes / 1e6:.0f} MB"),
        *(f"{plan.resolution(wanted.budget):.2f}", f"{switch:.2g}"),
    )


def quadratic_table() -> str:
    """What the index without a root takes."""
    return _table(QUADRATIC, (_quadratic_row(one) for one in QUADRATIC_RUNS))


def _quadratic_row(wanted: Wanted) -> Sequence[str]:
    plan = wanted.planned(BatchedOFUL())
    return (
        *(*wanted.cells, _levels(plan), f"{plan.round_bytes_up / 1e6:,.0f}"),
        *(f"{plan.key_bytes / 1e6:.0f} MB", f"{plan.server_memory_bytes / 1e9:.1f} GB"),
    )


def _levels(plan: HelbaForecast) -> str:
    return f"{plan.levels} × {plan.setting.parameters.scale_bits}"


def _table(columns: Sequence[str], rows: Iterator[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]
    lines += [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join(lines) + "\n"


def written(page: str) -> str:
    """The page with both tables as they are today."""
    for columns, table in ((ROOT, root_table()), (QUADRATIC, quadratic_table())):
        before, head, after = page.partition(f"| {' | '.join(columns)} |\n")
        rest = after[after.index("\n\n") + 1 :]
        page = before + table + rest if head else page
    return page


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text()))
