"""Sweeps: the same outcomes by any workers, in their order, and on from where they stopped."""

import os
import signal
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

import lotor
from lotor.core.errors import InputError, StudyError
from lotor.protocols.cell import AnyCell, Outcome, RunCell, Task, TaskCell
from lotor.studies.sweep import sweep

ARMS = lotor.BernoulliArms([0.9, 0.1])


def cells(count: int, *, alone: bool = False) -> list[RunCell]:
    return [
        RunCell({"seed": seed}, lotor.UCB(), ARMS, 5, seed, at=(2, 4), alone=alone)
        for seed in range(count)
    ]


def told(outcomes: list[Outcome]) -> list[object]:
    """All but times, which no two runs share."""
    return [
        (one.labels, one.figures["reward"], one.figures["regret"], one.at, one.rewards, one.regrets)
        for one in outcomes
    ]


def interrupting(after: int) -> Callable[[int, int], None]:
    def report(done: int, total: int) -> None:
        if done >= after:
            raise KeyboardInterrupt

    return report


@pytest.mark.long
def test_1000_cells_interrupted_twice_equal_those_that_were_not(tmp_path: Path) -> None:
    whole = sweep(cells(1000), workers=1)
    for after in (300, 700):
        with pytest.raises(KeyboardInterrupt):
            sweep(cells(1000), kept=tmp_path, workers=2, progress=interrupting(after))
        assert len(list(tmp_path.iterdir())) == after
    assert told(sweep(cells(1000), kept=tmp_path, workers=2)) == told(whole)
    assert len(list(tmp_path.iterdir())) == 1000


def test_finished_cells_are_not_run_again(tmp_path: Path) -> None:
    first = sweep(cells(3), kept=tmp_path, workers=1)
    assert sweep(cells(3), kept=tmp_path, workers=1) == first  # times included
    again = sweep(cells(5), kept=tmp_path, workers=1)
    assert again[:3] == first
    assert told(again) == told(sweep(cells(5), workers=1))


def test_progress_begins_with_what_is_on_disk(tmp_path: Path) -> None:
    sweep(cells(2), kept=tmp_path, workers=1)
    seen: list[tuple[int, int]] = []
    sweep(cells(4), kept=tmp_path, workers=1, progress=lambda *one: seen.append(one))
    assert seen == [(2, 4), (3, 4), (4, 4)]


def test_a_cell_that_differs_in_anything_is_another_one(tmp_path: Path) -> None:
    arms = lotor.BernoulliArms([0.9, 0.2])
    named = lotor.BernoulliArms({"a": 0.9, "b": 0.1})
    base = RunCell({"n": 1}, lotor.UCB(), ARMS, 5, 0)
    others: list[AnyCell] = [
        base,
        RunCell({"n": 1}, lotor.Softmax(), ARMS, 5, 0),
        RunCell({"n": 1}, lotor.Softmax(tau=0.1), ARMS, 5, 0),
        RunCell({"n": 1}, lotor.UCB(), arms, 5, 0),
        RunCell({"n": 1}, lotor.UCB(), named, 5, 0),
        RunCell({"n": 1}, lotor.UCB(), ARMS, 6, 0),
        RunCell({"n": 1}, lotor.UCB(), ARMS, 5, 1),
        RunCell({"n": 1}, lotor.UCB(), ARMS, 5, 0, at=(3,)),
        RunCell({"n": 2}, lotor.UCB(), ARMS, 5, 0),
        RunCell({"n": 1}, lotor.UCB(), ARMS, 5, 0, alone=True),
    ]
    sweep(others, kept=tmp_path, workers=1)
    assert len(list(tmp_path.iterdir())) == len(others)
    linear = [lotor.LinearArms([[1, 0], [0, 1]], [pays, 0.1]) for pays in (0.5, 0.6)]
    sweep([RunCell({}, lotor.LinUCB(), one, 5, 0) for one in linear], kept=tmp_path, workers=1)
    assert len(list(tmp_path.iterdir())) == len(others) + 2


def damaged(text: str) -> list[str]:
    return ["", text[:-20], "{}", "[1, 2]", text.replace('"reward":', '"reward":1'), "\ud800"]


def test_a_damaged_file_is_computed_anew(tmp_path: Path) -> None:
    whole = sweep(cells(1), kept=tmp_path, workers=1)
    (path,) = tmp_path.iterdir()
    for text in damaged(path.read_text()):
        path.write_text(text, errors="surrogatepass")
        again = sweep(cells(1), kept=tmp_path, workers=1)
        assert told(again) == told(whole)
        assert sweep(cells(1), kept=tmp_path, workers=1) == again


def test_another_cells_file_is_not_taken(tmp_path: Path) -> None:
    sweep(cells(1), kept=tmp_path, workers=1)
    (other,) = tmp_path.iterdir()
    whole = sweep(cells(2), kept=tmp_path, workers=1)
    (path,) = set(tmp_path.iterdir()) - {other}
    path.write_bytes(other.read_bytes())
    (tmp_path / "notes.txt").write_text("mine")
    assert told(sweep(cells(2), kept=tmp_path, workers=1)) == told(whole)
    assert (tmp_path / "notes.txt").read_text() == "mine"


@dataclass(frozen=True)
class Counting(Task):
    """Notes in a file when it began and ended; fails while there is no file `allowed`."""

    folder: str
    number: int
    allowed: str = ""

    def measure(self) -> dict[str, float]:
        if self.allowed and not (Path(self.folder) / self.allowed).exists():
            raise ZeroDivisionError("not yet")
        with (Path(self.folder) / "log").open("a") as log:
            log.write(f"begin {self.number}\n")
            log.flush()
            log.write(f"end {self.number}\n")
        return {"number": self.number}


def test_cells_that_must_be_alone_run_after_the_others_one_at_a_time(tmp_path: Path) -> None:
    tasks = [TaskCell({"n": n}, Counting(str(tmp_path), n), alone=n < 3) for n in range(6)]
    found = sweep(tasks, workers=2)
    assert [one.figures["number"] for one in found] == [0, 1, 2, 3, 4, 5]
    lines = (tmp_path / "log").read_text().splitlines()
    assert lines[6:] == [f"{what} {n}" for n in range(3) for what in ("begin", "end")]


def test_an_error_names_its_cell_and_the_sweep_goes_on_after_it(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    tasks = [TaskCell({"n": n}, Counting(str(tmp_path), n, "ok" * (n == 2))) for n in range(4)]
    with pytest.raises(ZeroDivisionError, match="not yet") as raised:
        sweep(tasks, kept=kept)
    assert raised.value.__notes__ == ["This was in the cell (n 2)."]
    (tmp_path / "ok").touch()
    assert len(sweep(tasks, kept=kept)) == 4
    began = [line for line in (tmp_path / "log").read_text().splitlines() if "begin" in line]
    assert began == [f"begin {n}" for n in range(4)]


@pytest.mark.parametrize("workers", [1, 2])
def test_an_error_of_lotors_names_its_cell_in_its_text(workers: int) -> None:
    few = [RunCell({"seed": n}, lotor.UCB(), ARMS, 1 if n == 1 else 5, n) for n in range(2)]
    with pytest.raises(InputError, match=r"^\(seed 1\): .*budget"):
        sweep(few, workers=workers)


@dataclass(frozen=True)
class Dying(Task):
    """Kills the process that runs it, as the system does where memory runs out."""

    number: int

    def measure(self) -> dict[str, float]:
        os.kill(os.getpid(), signal.SIGKILL)
        return {}


def test_a_killed_process_is_said() -> None:
    tasks = [TaskCell({"n": n}, Dying(n), alone=False) for n in range(2)]
    with pytest.raises(StudyError, match="a process that ran cells was killed"):
        sweep(tasks, workers=2)
    assert len(sweep(cells(3), workers=2)) == 3


class Hidden:
    """Says nothing of what it is."""

    k = 2
    reward_range = (0.0, 1.0)

    def start(self, seed: int) -> Callable[[lotor.Decision], float]:
        return lambda decision: 1.0


def test_what_cannot_be_told_apart_is_not_kept_but_runs(tmp_path: Path) -> None:
    callback = lotor.CallbackArms([lambda decision: 1.0, lambda decision: 0.5])
    for arms, reason in ((callback, "holds a function"), (Hidden(), "Hidden, which is no")):
        one = [RunCell({"policy": "ucb"}, lotor.UCB(), arms, 5, 0)]
        with pytest.raises(InputError, match=rf"\(policy ucb\) cannot be kept on disk.*{reason}"):
            sweep(one, kept=tmp_path / "kept")
        assert not (tmp_path / "kept").exists()
        assert sweep(one, workers=1)[0].figures["rounds"] == 5


def test_unusable_folders_and_workers_are_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="cannot be a folder for finished cells"):
        sweep(cells(1), kept=tmp_path / "file")
    for workers in (0, -1, True):
        with pytest.raises(InputError, match="workers is"):
            sweep(cells(1), workers=workers)
    assert sweep([]) == []
