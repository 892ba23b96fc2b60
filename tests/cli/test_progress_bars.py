"""What a terminal shows while something takes long."""

from io import StringIO
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from rich.console import Console
from rich.progress import Progress

import lotor
from commands import lotor as command
from lotor.cli import progress, simulate
from lotor.cli.progress import RunProgress, TimeLeft, busy
from lotor.runtime.daemon.frames import Status
from lotor.runtime.daemon.pace import Pace
from lotor.runtime.daemon.status import MISSING
from lotor.runtime.durable.journal import RUNNING, RunRow


def shown(bar: Progress) -> str:
    out = StringIO()
    Console(file=out, width=80, force_terminal=True).print(bar.get_renderable())
    return out.getvalue()


@pytest.mark.parametrize(
    ("expected", "done", "said"), [(None, 0, ""), (90.0, 0, "about 0:01:"), (None, 5, "0:00:05")]
)
def test_the_time_that_is_left_says_so(expected: float | None, done: int, said: str) -> None:
    seconds = iter(range(1000))
    bar = Progress(TimeLeft(expected), get_time=lambda: float(next(seconds)))
    task = bar.add_task("", total=10)
    for _ in range(done):
        bar.update(task, advance=1)
    text = " ".join(shown(bar).split())
    assert said[:5] in text
    assert ("left" in text) == (said != "")


def test_a_pause_foretells_nothing() -> None:
    seconds = iter(range(1000))
    bar = Progress(TimeLeft(), get_time=lambda: float(next(seconds)))
    task = bar.add_task("", total=10)
    for _ in range(5):
        bar.update(task, advance=1, paused=False)
    assert "left" in shown(bar)
    # Nobody knows how long somebody stays away.
    bar.update(task, paused=True)
    assert "left" not in shown(bar)


def test_what_takes_long_is_named_on_a_terminal_only(monkeypatch: pytest.MonkeyPatch) -> None:
    for terminal in (True, False):
        out = StringIO()
        console = Console(file=out, force_terminal=terminal, width=80)
        monkeypatch.setattr(progress, "Console", lambda stderr, made=console: made)
        with busy("finding out what it costs"):
            pass
        assert ("finding out what it costs" in out.getvalue()) == terminal


def test_a_forecast_is_announced_before_it_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []

    class Told:
        def __init__(self, text: str) -> None:
            told.append(text)

        def __enter__(self) -> None:
            assert len(told) == 1

        def __exit__(self, *_: object) -> None:
            told.append("done")

    monkeypatch.setattr(simulate, "busy", Told)
    simulate.forecast_of(lotor.Samba(), lotor.BernoulliArms([0.5, 0.4]), 10)
    assert told == ["finding out what the run will cost on this machine", "done"]


def test_one_arm_and_one_pull() -> None:
    said = command("run", "plain", "--arms", "0.5", "--budget", "1").stdout
    assert "of 1 pull over 1 arm, seed" in said
    planned = command("plan", "samba", "--arms", "0.5", "--budget", "1").stdout
    assert "1 round, 1 arm" in " ".join(planned.split())


class Screen(StringIO):
    """A stream that may be a terminal."""

    def __init__(self, *, terminal: bool) -> None:
        super().__init__()
        self.terminal = terminal

    def isatty(self) -> bool:
        return self.terminal


NAME = "the-university-hospital-of-lyon"
RUN = "ab" * 16


def watched(monkeypatch: pytest.MonkeyPatch, screen: Screen) -> RunProgress:
    """The progress of a run whose only owner is away."""
    said = Status(RUN, "customer", 1e9, MISSING, "", 21, missing={NAME: 1e9})
    statuses = {"customer": msgspec.msgpack.encode(said)}
    journal: Any = SimpleNamespace(
        statuses=lambda _run: statuses,
        driver=lambda: None,
        commands=SimpleNamespace(sought=lambda _run: {NAME: 1e9, "porto": 1e9}),
    )
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(progress, "_GRACE_SECONDS", 0.0)
    monkeypatch.setattr(progress, "names_of", lambda _row: {})
    monkeypatch.setattr(progress, "announcement_of", lambda _row: SimpleNamespace(pace=Pace()))
    monkeypatch.setattr(progress, "plan_of", lambda _row: SimpleNamespace(budget=200_000))
    return RunProgress(journal, RUN, screen)


@pytest.mark.parametrize("begun", [False, True], ids=["sought", "missing"])
@pytest.mark.parametrize("terminal", [False, True], ids=["pipe", "terminal"])
def test_who_is_missing_is_readable_on_a_narrow_terminal(
    monkeypatch: pytest.MonkeyPatch, *, begun: bool, terminal: bool
) -> None:
    screen = Screen(terminal=terminal)
    seen = watched(monkeypatch, screen)
    row = RunRow(RUN, b"", b"", "customer", RUNNING, "", 1e9, 1e9, "1")
    seen.show(row if begun else None)
    lines = screen.getvalue().splitlines()
    sentence = f"{NAME} has been missing since " if begun else f"looking for {NAME}, porto since "
    assert sentence in " ".join(line.strip() for line in lines)
    if not terminal:  # a program reads lines
        assert len(lines) == 1
        return
    assert all(len(line) <= 80 for line in lines)
    (bar,) = shown(seen._bar).rstrip("\n").splitlines()
    assert ("paused" if begun else "looking for the members") in bar
    assert "…" not in bar
    assert ("21/200000" in bar) == begun
