"""What a terminal shows while something takes long."""

from io import StringIO

import pytest
from rich.console import Console
from rich.progress import Progress

import lotor
from commands import lotor as command
from lotor.cli import progress, simulate
from lotor.cli.progress import TimeLeft, busy


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
