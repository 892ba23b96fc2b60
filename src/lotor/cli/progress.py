"""A progress bar on stderr, shown on terminals only."""

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from lotor.runtime.run import Progress as Report


@contextmanager
def progress_bar(label: str) -> Iterator[Report]:
    """A callback for `lotor.run(progress=…)` that draws a bar while the block runs."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("rounds"),
        TimeRemainingColumn(),
    )
    console = Console(stderr=True)
    with Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    ) as bar:
        task = bar.add_task(label, total=None)

        def report(done: int, budget: int) -> None:
            bar.update(task, completed=done, total=budget)

        yield report
