"""Progress on stderr: a bar on terminals, and of a federation's run a line at each change."""

import time
from collections.abc import Iterator, Sequence
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

from lotor.crypto.certificates import Certificate
from lotor.protocols.form import RunPlan
from lotor.protocols.protocol import PROTOCOLS
from lotor.runtime.daemon.announcement import Announcement
from lotor.runtime.daemon.pending import as_unserved, held_up, looked_for
from lotor.runtime.daemon.status import read_kept
from lotor.runtime.durable.journal import RUNNING, WAITING, Journal, RunRow
from lotor.runtime.pull_log import Progress as Report

# Rounds may take a minute each, and an estimate needs several.
_ESTIMATE_SECONDS = 600
_SEEKING = "looking for the members"
# A party that has just been started is not connected to anybody, which is nobody's fault.
_GRACE_SECONDS = 2.0


class TimeLeft(TimeRemainingColumn):
    """The time left, by the rounds so far; before the first one, by what was expected."""

    def __init__(self, expected: float | None = None) -> None:
        super().__init__()
        self._expected = expected

    def render(self, task: Task) -> Text:
        if task.fields.get("paused"):
            return Text("")
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
def progress_bar(
    label: str, expected: float | None = None, unit: str = "rounds"
) -> Iterator[Report]:
    """A callback for `lotor.run(progress=…)` that draws a bar while the block runs.

    Until there are rounds to go by, the bar shows the `expected` seconds, if they are known.
    """
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn(unit),
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
    """How a federation's run stands: a line at each change, and on a terminal a bar below."""

    def __init__(self, journal: Journal, run: str, stream: TextIO) -> None:
        self._journal = journal
        self._run = run
        self._console = Console(file=stream)
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("rounds"),
            TimeLeft(),
            console=self._console,
            transient=True,
            disable=not self._console.is_terminal,
        )
        self._task = self._bar.add_task(_SEEKING, total=None)
        self._said = ""
        self._start = time.monotonic()

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
        """The run as the journal has it now; None as long as its members are sought."""
        standing, done, total = _SEEKING, 0, None
        if row is None:
            waits = self._sought()
        else:
            statuses = read_kept(self._journal.statuses(self._run))
            if time.monotonic() < self._start + _GRACE_SECONDS:
                row, statuses = as_unserved(row, statuses)
            # Why it ended is said by whoever follows it, once.
            over = row.state not in (RUNNING, WAITING)
            waits = [] if over else held_up(row, statuses, names_of(row))
            standing = self._standing(row, waits)
            waits = waits or [row.state]
            done = max((one.round for one in statuses.values()), default=0)
            plan = plan_of(row)
            total = None if plan is None else plan.budget
            if plan is not None:
                done = min(max(done - plan.before, 0), plan.budget)
        self._bar.update(
            self._task,
            # Beside a bar is no room for sentences: they are in the line above it.
            description=standing,
            completed=done,
            total=total,
            paused=standing == "paused",
        )
        said = "; ".join([*self._driven(), *waits])
        if said != self._said:
            self._console.print(
                f"run {self._run}: {said}",
                highlight=False,
                # A terminal would break lines within words; a program wants one line.
                soft_wrap=not self._console.is_terminal,
                markup=False,
            )
        self._said = said

    @staticmethod
    def _standing(row: RunRow, waits: Sequence[str]) -> str:
        """One word: a round that is yet to begin does not hold the run up."""
        if not waits:
            return row.state
        begins = list(waits) == [row.note] and not announcement_of(row).pace.free
        return WAITING if begins else "paused"

    def _sought(self) -> list[str]:
        return looked_for(self._journal.commands.sought(self._run)) or [_SEEKING]

    def _driven(self) -> list[str]:
        """Which other process does what is to be done for this run."""
        driver = self._journal.driver()
        if driver is None:
            return []
        others = [
            row.id[:8]
            for row in self._journal.runs()
            if row.state in (RUNNING, WAITING) and row.id != self._run
        ]
        busy = f" (run {', '.join(others)})" if others else ""
        return [f"process {driver} serves this party{busy} and sees to this run, too"]


def names_of(row: RunRow) -> dict[str, str]:
    """The names of a run's parties, by seat."""
    announcement = msgspec.msgpack.decode(row.announcement, type=Announcement)
    return {
        seat: Certificate.from_der(der).subject.name
        for seat, der in announcement.certificates.items()
    }


def announcement_of(row: RunRow) -> Announcement:
    """How a run was announced, as this party checked it when it took it up."""
    return msgspec.msgpack.decode(row.announcement, type=Announcement)


def plan_of(row: RunRow) -> RunPlan | None:
    """What is public about a run, if its protocol is known here."""
    announcement = announcement_of(row)
    if announcement.protocol not in PROTOCOLS:
        return None
    form = PROTOCOLS[announcement.protocol].form_called(announcement.form)
    return form.plan(announcement.order)
