"""A progress bar on stderr, shown on terminals only."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from types import TracebackType
from typing import TextIO

import msgspec
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    Task,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from lotor.protocols.form import RunPlan
from lotor.protocols.protocol import PROTOCOLS
from lotor.runtime.daemon.announcement import Announcement
from lotor.runtime.daemon.frames import Status
from lotor.runtime.durable.journal import RUNNING, Journal, RunRow
from lotor.runtime.run import Progress as Report

# Rounds may take a minute each, and an estimate needs several.
_ESTIMATE_SECONDS = 600


class TimeLeft(TimeRemainingColumn):
    """The time left, by the rounds so far; before the first one, by what was expected."""

    def __init__(self, expected: float | None = None) -> None:
        super().__init__()
        self._expected = expected

    def render(self, task: Task) -> Text:
        if task.time_remaining is not None:
            return super().render(task).append(" left")
        if self._expected is None:
            return Text("")
        minutes, seconds = divmod(int(max(self._expected - (task.elapsed or 0.0), 0.0)), 60)
        hours, minutes = divmod(minutes, 60)
        left = f"about {hours}:{minutes:02}:{seconds:02} left"
        return Text(left, style="progress.remaining")


@contextmanager
def busy(text: str) -> Iterator[None]:
    """Say on a terminal what takes long, as long as it does."""
    console = Console(stderr=True)
    with console.status(text) if console.is_terminal else nullcontext():
        yield


@contextmanager
def progress_bar(label: str, expected: float | None = None) -> Iterator[Report]:
    """A callback for `lotor.run(progress=…)` that draws a bar while the block runs.

    Until there are rounds to go by, the bar shows the `expected` seconds, if they are known.
    """
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("rounds"),
        TimeLeft(expected),
    )
    console = Console(stderr=True)
    with Progress(
        *columns,
        console=console,
        transient=True,
        disable=not console.is_terminal,
        speed_estimate_period=_ESTIMATE_SECONDS,
    ) as bar:
        task = bar.add_task(label, total=None)

        def report(done: int, budget: int) -> None:
            bar.update(task, completed=done, total=budget)

        yield report


class RunProgress:
    """How a federation's run stands: a bar on a terminal, else a line at each change."""

    def __init__(self, journal: Journal, run: str, stream: TextIO) -> None:
        self._journal = journal
        self._run = run
        self._console = Console(file=stream)
        self._bar = Progress(
            # No markup: other parties' words are shown as they are.
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("rounds"),
            TimeLeft(),
            console=self._console,
            transient=True,
            disable=not self._console.is_terminal,
        )
        self._task = self._bar.add_task("looking for the members", total=None)
        self._said = ""

    def __enter__(self) -> "RunProgress":
        self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._bar.stop()

    def show(self, row: RunRow | None) -> None:
        if row is None:
            return
        plan = plan_of(row)
        budget = None if plan is None else plan.budget
        statuses = [
            msgspec.msgpack.decode(data, type=Status)
            for data in self._journal.statuses(self._run).values()
        ]
        troubles = sorted({one.text or one.state for one in statuses if one.state != RUNNING})
        own = [row.note] if row.note else []
        said = "; ".join([*own, *(text for text in troubles if text not in own)]) or row.state
        done = max((one.round for one in statuses), default=0)
        self._bar.update(self._task, description=said[:60], completed=done, total=budget)
        if said != self._said and not self._console.is_terminal:
            self._console.print(
                f"run {self._run}: {said}", highlight=False, soft_wrap=True, markup=False
            )
        self._said = said


def plan_of(row: RunRow) -> RunPlan | None:
    """What is public about a run, if its protocol is known here."""
    announcement = msgspec.msgpack.decode(row.announcement, type=Announcement)
    if announcement.protocol not in PROTOCOLS:
        return None
    form = PROTOCOLS[announcement.protocol].form_called(announcement.form)
    return form.plan(announcement.order)
