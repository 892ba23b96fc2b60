"""How tables for people look."""

from rich import box
from rich.table import Table


def small_table(title: str) -> Table:
    """Without lines but one below its headings."""
    return Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD)
