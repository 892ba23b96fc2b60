"""The sizes in docs/helba.md are the planner's."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[3] / "docs"))
import helba_tables


def test_the_page_has_the_tables_of_today() -> None:
    page = helba_tables.PAGE.read_text()
    assert helba_tables.root_table() in page
    assert helba_tables.quadratic_table() in page
    assert helba_tables.written(page) == page


def test_tables_that_are_out_of_date_are_replaced() -> None:
    page = helba_tables.PAGE.read_text()
    assert helba_tables.written(page.replace("19 × 40", "18 × 40")) == page
