"""The figures of HELBA: the regrets of the research, and what is said of encrypted runs."""

from collections.abc import Iterable

import pytest

from lotor.core.frames import number, rows_of
from lotor.protocols.cell import Outcome, RunCell
from lotor.protocols.figure import DataFiles, Figure
from lotor.protocols.helba.figures.regret import (
    ENCRYPTED,
    EXACT,
    FLAT,
    PLAIN,
    HelbaRegret,
)
from lotor.protocols.helba.figures.running_time import HelbaRunningTime
from lotor.protocols.helba.figures.security_levels import HelbaSecurityLevels
from lotor.protocols.helba.figures.setting import on_the_same
from lotor.studies.outcomes import outcome_of

NONE = DataFiles()

SIMULATED = {"OFUL": 6.13, "RSOFUL": 7.56, "RSOFUL-TR": 7.55, EXACT: 6.41, FLAT: 6.08}
"""Regrets of an independent simulation, with instances from another generator."""


def runs(figure: Figure, size: str) -> list[RunCell]:
    cells = figure.cells("full" if size == "full" else "quick", NONE)
    assert all(isinstance(cell, RunCell) for cell in cells)
    return [cell for cell in cells if isinstance(cell, RunCell)]


def ran(cells: Iterable[RunCell], budget: int) -> list[Outcome]:
    return [
        outcome_of(
            RunCell(cell.labels, cell.protocol, cell.environment, budget, cell.seed, cell.at)
        )
        for cell in cells
    ]


@pytest.fixture(scope="module")
def plain() -> list[Outcome]:
    cells = [cell for cell in runs(HelbaRegret(), "full") if cell.labels["policy"] in PLAIN]
    assert len(cells) == 25 * len(PLAIN)
    return ran(cells, 130)


def test_regrets_are_those_of_the_research_within_their_spread(plain: list[Outcome]) -> None:
    last = {row["policy"]: row for row in rows_of(HelbaRegret().table(plain))}
    for policy, regret in SIMULATED.items():
        row = last[policy]
        assert row["round"] == 130
        # Both have a standard error of about this size.
        assert abs(number(row["regret"]) - regret) < 2 * number(row["standard error"]), policy
    assert number(last[EXACT]["updates"]) == 32
    assert 10 <= number(last["RSOFUL-TR"]["updates"]) <= 12
    assert 10 <= number(last["RSOFUL"]["updates"]) <= 12


def test_the_bounds_of_the_paper_stand_beside_the_regrets(plain: list[Outcome]) -> None:
    figure = HelbaRegret()
    assert (
        "Proposition 7 allows 67 estimates in 130 rounds" in figure.found(figure.table(plain))[-1]
    )


def test_an_encrypted_run_stands_beside_exact_arithmetic_on_its_instance(
    plain: list[Outcome],
) -> None:
    cells = [cell for cell in runs(HelbaRegret(), "quick") if cell.labels["policy"] == ENCRYPTED]
    figure = HelbaRegret()
    table = figure.table([*plain, *ran(cells, 5)])
    (row,) = [row for row in rows_of(table) if row["policy"] == ENCRYPTED]
    exact = next(one for one in plain if one.labels["policy"] == EXACT)
    assert row["exact on the same instances"] == exact.regrets[exact.at.index(5)]
    assert len(figure.draw(table).axes) == 2


def test_levels_of_security_differ_in_nothing_but_security() -> None:
    figure = HelbaSecurityLevels()
    cells = runs(figure, "quick")
    settings = {
        (cell.labels["security"], cell.labels["stages"]): cell.protocol.options()  # type: ignore[union-attr]
        for cell in cells
        if cell.labels["stages"] == 2
    }
    assert {security for security, _ in settings} == {"128", "192", "256"}
    others = [{**options, "security": 0} for options in settings.values()]
    assert others[0] == others[1] == others[2]
    first = [cell for cell in cells if cell.seed == 0 and cell.labels["stages"] in (0, 2)]
    table = figure.table(ran(first, 5))
    assert len(figure.found(table)) == 4
    assert {row["instances"] for row in rows_of(table)} == {1}


def test_times_are_ratios_beside_the_published_ones() -> None:
    figure = HelbaRunningTime()
    assert {cell.budget for cell in runs(figure, "full")} == {130}
    seconds = {128: 100.0, 192: 101.0, 256: 99.0}
    outcomes = [
        Outcome(labels={"security": bits}, figures={"cpu_seconds": value, "rounds": 130.0})
        for bits, value in seconds.items()
    ]
    table = figure.table(outcomes)
    assert table["ratio"] == [1.0, 1.01, 0.99]
    assert table["published ratio"] == [1, 1.016, 1.026]
    assert table["levels"] == [8, 8, 8]
    assert "100 s of CPU, 0.77 s a round" in figure.found(table)[0]


def test_nothing_is_compared_where_exact_arithmetic_has_not_run() -> None:
    one = Outcome(labels={}, figures={}, at=[5, 8], regrets=[1.0, 2.0])
    assert on_the_same([], [one]) == [None, None]
    longer = Outcome(labels={}, figures={}, at=[5, 10], regrets=[1.5, 2.5])
    assert on_the_same([longer], [one]) == [1.5, None]
