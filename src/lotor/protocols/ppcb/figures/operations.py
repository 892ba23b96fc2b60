"""Table 1: rounds and slow-down of single operations."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from time import thread_time
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from lotor.core.frames import Columns, add_row, number, rows_of
from lotor.core.plotting import COLOURS, new_figure, plotting
from lotor.crypto.sharing import (
    Circuit,
    Engine,
    LocalRun,
    MaskedWords,
    Shared,
    Words,
    argmax,
    mask,
    multiply,
    reciprocal,
    split,
    to_words,
    together,
    truncate,
)
from lotor.protocols.cell import AnyCell, Label, Outcome, RunCell, Task, TaskCell
from lotor.protocols.figure import DataFiles, Figure, Size
from lotor.protocols.ppcb.dealt.complexity import PUBLISHED_PROGRAM, TABLE_1
from lotor.protocols.ppcb.figures.setting import DIGITS, TIMES, called, data_said, digits
from lotor.protocols.ppcb.protocol import PPCB
from lotor.protocols.ppcb.shape import INNER_BITS

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture

ARMS = 100
BITS = 20
ADDITION, MULTIPLICATION, RECIPROCAL, ARGMAX = "addition", "multiplication", "reciprocal", "argmax"
OPERATIONS = (ADDITION, MULTIPLICATION, RECIPROCAL, ARGMAX)
STEP = f"a whole step, {DIGITS} arms"
REPEATS: dict[Size, int] = {"quick": 20, "full": 200}
STEPS: dict[Size, int] = {"quick": 500, "full": 5_000}
PLAIN, SECURE = "plain", "secure"
SEED = 7
BATCH = 20
"""So many operations are timed at once, because a clock is not finer."""
SLOW_DOWN, PUBLISHED = "slow-down", "published slow-down"

Work = Callable[[], object]


@dataclass(frozen=True, slots=True)
class OperationTask(Task):
    """One operation on as many numbers as there are arms: on shares, and on floats."""

    operation: str
    repeats: int

    def measure(self) -> Mapping[str, float]:
        x, y = np.random.default_rng(SEED).random((2, ARMS))
        plain: Mapping[str, Work] = {
            ADDITION: lambda: x + y,
            MULTIPLICATION: lambda: x * y,
            RECIPROCAL: lambda: 1 / (1 + x),
            ARGMAX: x.argmax,
        }
        secure = _on_shares(self.operation, to_words(x, BITS), to_words(y, BITS))
        return {
            SECURE: _seconds(secure, self.repeats),
            PLAIN: _seconds(plain[self.operation], self.repeats),
            "rounds": secure.recipe.rounds if isinstance(secure, LocalRun) else 0,
        }

    def small(self) -> Task:
        return replace(self, repeats=2)


def _on_shares(operation: str, x: Words, y: Words) -> Work:
    """What the dealer and both servers do together."""
    shares = [
        [Shared(share, first=place == 0) for place, share in enumerate(split(one))]
        for one in (x, y)
    ]
    (x0, x1), (y0, y1) = shares
    if operation == ADDITION:
        return lambda: (x0 + y0, x1 + y1)
    if operation == MULTIPLICATION:
        return LocalRun(lambda engine: _product(engine, x0, y0), lambda e: _product(e, x1, y1))
    circuit = _inverse if operation == RECIPROCAL else argmax
    return LocalRun(lambda engine: circuit(engine, x0), lambda engine: circuit(engine, x1))


def _product(engine: Engine, x: Shared, y: Shared) -> Circuit[MaskedWords]:
    left, right = yield from together(mask(engine, x), mask(engine, y))
    return (yield from truncate(engine, multiply(engine, left, right), BITS))


def _inverse(engine: Engine, x: Shared) -> Circuit[MaskedWords]:
    return (yield from reciprocal(engine, x << INNER_BITS, INNER_BITS, INNER_BITS + BITS))


def _seconds(work: Work, repeats: int) -> float:
    """CPU seconds of one, the least of many tries of some at once."""
    taken = []
    for _ in range(repeats):
        began = thread_time()
        for _ in range(BATCH):
            work()
        taken.append(thread_time() - began)
    return min(taken) / BATCH


class PPCBOperations(Figure):
    """Table 1."""

    name: ClassVar[str] = "ppcb-table1"
    title: ClassVar[str] = "rounds and slow-down of single operations"
    paper: ClassVar[str] = (
        "Table 1 has the rounds of four operations and how many times as long they take as in "
        f"PyTorch, for two parties and {ARMS} arms. A whole step with {DIGITS} arms is nearly 500 "
        "times slower."
    )
    differs: ClassVar[str] = (
        f"{TIMES}Each operation is on {ARMS} numbers, and beside it is numpy's. What the dealer "
        "makes for it counts, where the paper's store was made before. Table 1 counts a truncation "
        "with each product, and so does this; the product's inputs are masked in a round of their "
        "own, which within a step they share with what comes before. The reciprocal is of numbers "
        "between 1 and 2, where the paper's are from 1 to 10. The rounds of a whole step were "
        "counted in the authors' program; the paper does not say them."
    )
    published: ClassVar[Mapping[str, Sequence[Label]]] = {
        "operation": (*OPERATIONS, STEP),
        "rounds": (*(TABLE_1[one] for one in OPERATIONS), f"{PUBLISHED_PROGRAM} by their program"),
        "slow-down": (11, 380, 6_000, 34_000, 500),
    }

    def cells(self, size: Size, data: DataFiles) -> Sequence[AnyCell]:
        steps = STEPS[size]
        arms, ppcb = digits(data.mnist, steps), PPCB(form="dealt")
        whole: dict[str, Label] = {"data": called(data), "operation": STEP}
        return [
            *(
                TaskCell({"data": "random", "operation": one}, OperationTask(one, REPEATS[size]))
                for one in OPERATIONS
            ),
            RunCell({**whole, "form": SECURE}, ppcb, arms, steps, SEED, alone=True),
            RunCell({**whole, "form": PLAIN}, ppcb.plain(), arms, steps, SEED, alone=True),
        ]

    def setting(self, size: Size, data: DataFiles) -> str:
        return (
            f"Operations on {ARMS} random numbers; steps of a run: {data_said(data, STEPS[size])}, "
            f"{DIGITS} arms."
        )

    def table(self, outcomes: Sequence[Outcome]) -> Columns:
        theirs = {
            operation: (rounds, ratio)
            for operation, rounds, ratio in zip(*self.published.values(), strict=True)
        }
        table: Columns = {}
        for operation, measured in _measured(outcomes).items():
            rounds, ratio = theirs[operation]
            add_row(
                table,
                {
                    "operation": operation,
                    "rounds": measured["rounds"],
                    "published rounds": rounds,
                    "plain, µs": 1e6 * measured[PLAIN],
                    "secure, µs": 1e6 * measured[SECURE],
                    SLOW_DOWN: measured[SECURE] / measured[PLAIN],
                    PUBLISHED: ratio,
                },
            )
        return table

    def draw(self, table: Columns) -> "Picture":
        rows, height = rows_of(table), 0.36
        with plotting():
            figure = new_figure()
            (axes,) = figure.axes
            for i, (column, whose) in enumerate(((SLOW_DOWN, "here"), (PUBLISHED, "published"))):
                places = [place + (i - 0.5) * height for place in range(len(rows))]
                values = [number(row[column]) for row in rows]
                axes.barh(places, values, height, color=COLOURS[i], label=whose)
                for place, value in zip(places, values, strict=True):
                    text = f" {value:,.0f}" if value >= 10 else f" {value:.1f}"
                    axes.annotate(text, (value, place), va="center")
            names = [
                f"{row['operation']}\n{number(row['rounds']):.0f} rounds; "
                f"published: {row['published rounds']}"
                for row in rows
            ]
            axes.set_yticks(range(len(rows)), names)
            axes.invert_yaxis()
            axes.set_xscale("log")
            axes.margins(x=0.2)
            axes.set(xlabel="times as long as in plain", title=self.title)
            axes.grid(visible=False, axis="y")
            figure.legend(loc="outside lower center", ncols=2)
        return figure

    def found(self, table: Columns) -> Sequence[str]:
        return [
            f"{str(row['operation']).capitalize()}: {number(row[SLOW_DOWN]):,.0f} times as long as "
            f"in plain ({number(row['secure, µs']):,.1f} µs), where the paper has "
            f"{number(row[PUBLISHED]):,.0f} times; {number(row['rounds']):.0f} rounds."
            for row in rows_of(table)
        ]


def _measured(outcomes: Sequence[Outcome]) -> dict[str, dict[str, float]]:
    """Seconds of each operation and of a whole step, in plain and secure, and its rounds."""
    found: dict[str, dict[str, float]] = {}
    for one in outcomes:
        operation, form = str(one.labels["operation"]), one.labels.get("form")
        if form is None:
            found[operation] = dict(one.figures)
            continue
        step = found.setdefault(operation, {})
        steps = one.figures["rounds"]
        step[str(form)] = one.figures["cpu_seconds"] / steps
        if form == SECURE:
            step["rounds"] = one.figures["operations rounds"] / steps
    return found
