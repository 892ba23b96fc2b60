"""How the tables of benchmarks look."""

from rich.table import Table


def table(title: str, *columns: str) -> Table:
    made = Table(title=title, title_justify="left")
    for i, column in enumerate(columns):
        made.add_column(column, justify="left" if i == 0 else "right", no_wrap=True)
    return made


def verdict(value: float, aim: float, *, at_most: bool = False) -> str:
    reached = value <= aim if at_most else value >= aim
    return f"{'reaches' if reached else 'misses'} the aim of {aim:g}"
