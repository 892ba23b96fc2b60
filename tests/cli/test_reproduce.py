"""`lotor reproduce`."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from typer.testing import CliRunner

from commands import lotor
from lotor.cli import exit_codes
from lotor.cli.main import app
from lotor.core.errors import DataError
from lotor.core.plotting import new_figure
from lotor.protocols.cell import AnyCell, Task, TaskCell
from lotor.protocols.figure import DataFiles, Figure, Size
from lotor.protocols.protocol import PROTOCOLS
from studies.figures import shortened

QUICK = ("--quick", "--workers", "1")


def test_without_a_name_all_figures_are_listed() -> None:
    listed = json.loads(lotor("reproduce", "--json").stdout)
    assert [one["name"] for one in listed] == [
        name for kind in PROTOCOLS.values() for name in kind.figures
    ]
    shown = lotor("reproduce").stdout
    assert all(one["name"] in shown for one in listed)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("samba-8",), "no figure is called 'samba-8': choose one of"),
        (("samba-8a", "--all"), "give names or --all, not both"),
        (("samba-8a", "--movielens", "nowhere"), "--movielens: there is no nowhere"),
        (("samba-8a", "--workers", "0"), "workers is 0"),
    ],
)
def test_what_cannot_be_is_refused(given: tuple[str, ...], said: str) -> None:
    done = lotor("reproduce", *given)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in " ".join(done.stderr.split())


def test_a_figure_is_made_and_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shortened(monkeypatch, "samba-8c")
    given = ["reproduce", "samba-8c", "--out", str(tmp_path), *QUICK]
    done = CliRunner().invoke(app, given)
    assert done.exit_code == 0, done.output
    assert "the mean of 2 runs each" in " ".join(done.output.split())
    assert (tmp_path / "index.html").exists()
    (told,) = json.loads(CliRunner().invoke(app, [*given, "--json"]).stdout)
    assert (told["name"], told["size"]) == ("samba-8c", "quick")
    assert all(Path(path).exists() for path in told["files"].values())
    assert set(told["files"]) == {"svg", "png", "csv", "md"}


def test_one_that_fails_does_not_keep_others_from_being_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shortened(monkeypatch, "samba-8c")
    broken = shortened(monkeypatch, "samba-c")

    def no_cells(self: Figure, size: Size, data: DataFiles) -> Sequence[AnyCell]:
        raise DataError("ratings.csv is not a table: save it as one")

    monkeypatch.setattr(type(broken), "cells", no_cells)
    done = CliRunner().invoke(
        app, ["reproduce", "samba-c", "samba-8c", "--out", str(tmp_path), *QUICK]
    )
    assert done.exit_code == exit_codes.FAILED
    assert "samba-c was not made: ratings.csv is not a table" in done.stderr
    assert (tmp_path / "samba-8c.svg").exists()
    assert "samba-8c" in (tmp_path / "index.html").read_text()


@dataclass(frozen=True)
class Timed(Task):
    """Measures how often it was measured."""

    log: str

    def measure(self) -> Mapping[str, float]:
        with Path(self.log).open("a") as log:
            return {"seconds": log.write(".") * log.tell()}


def test_times_go_on_after_an_interruption_and_are_measured_anew_afterwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise nobody could replace the times that other programs have disturbed."""
    figures = [shortened(monkeypatch, name) for name in ("samba-8c", "samba-c")]
    logs = [tmp_path / f"log {n}" for n in range(2)]
    cells = [TaskCell({"n": n}, Timed(str(log)), alone=n == 0) for n, log in enumerate(logs)]
    for figure in figures:  # which share both
        monkeypatch.setattr(type(figure), "cells", lambda *_: cells)
        monkeypatch.setattr(type(figure), "table", lambda _, found: {"n": [len(found)]})
        monkeypatch.setattr(type(figure), "draw", lambda *_: new_figure())
        monkeypatch.setattr(type(figure), "found", lambda *_: ["Nothing."])
    given = ["reproduce", "samba-8c", "samba-c", "--out", str(tmp_path / "out"), *QUICK]

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(type(figures[1]), "draw", interrupt)
        assert CliRunner().invoke(app, given).exit_code == exit_codes.INTERRUPTED
    measured = []
    for _ in range(3):
        measured.append([len(log.read_text()) for log in logs])
        assert CliRunner().invoke(app, given).exit_code == 0
    assert measured == [[1, 1], [1, 1], [2, 1]]


def test_help_says_where_runs_are_kept() -> None:
    said = " ".join(lotor("reproduce", "--help").stdout.replace("│", " ").split())
    assert "[default: (cells in the folder of --out)]" in said
