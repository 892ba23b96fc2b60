"""Columns as rows."""

import pytest

from lotor.core.frames import Cell, Columns, add_row, number, rows_of, values_of


def test_rows_come_back_as_they_were_added() -> None:
    columns: Columns = {}
    rows: list[dict[str, Cell]] = [{"form": "paper", "ms": 2.0}, {"form": "shared", "ms": None}]
    for row in rows:
        add_row(columns, row)
    assert rows_of(columns) == rows
    assert rows_of(columns, form="shared") == rows[1:]
    assert rows_of(columns, form="shared", ms=2.0) == []
    add_row(columns, rows[0])
    assert values_of(columns, "form") == ["paper", "shared"]


def test_an_empty_cell_is_no_number() -> None:
    assert number("0.5") == 0.5
    with pytest.raises(ValueError, match="empty"):
        number(None)
