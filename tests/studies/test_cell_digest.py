"""What a kept cell is known by: whatever changes its outcome changes its digest."""

import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

import lotor
from lotor.core.errors import InputError
from lotor.core.fingerprint import CodeFingerprint
from lotor.protocols.cell import RunCell
from lotor.studies import cell_digest
from lotor.studies.cell_digest import CellDigests, described

CELL = RunCell({"n": 1}, lotor.UCB(), lotor.BernoulliArms([0.9, 0.1]), 5, 0)
SCRIPT = """
from dataclasses import dataclass

import lotor
from lotor.policies import Policy


@dataclass(frozen=True, slots=True)
class Greedy(Policy):
    def score(self, arms, t, l, draw):
        return arms.mean


if __name__ == "__main__":
    arms = lotor.BernoulliArms([0.9, 0.1])
    found = lotor.compare(Greedy(), arms, 20, seeds=range(2), kept="kept", workers={workers})
    print(found.to_frame("columns")["reward"][0])
"""


@dataclass(frozen=True)
class NamedArms:
    """Arms in the order of a mapping."""

    pays: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class ReadArms:
    """Arms out of a file."""

    path: Path


def test_the_order_of_a_mapping_counts() -> None:
    """It may number the arms."""
    first, second = NamedArms({"a": 0.9, "b": 0.1}), NamedArms({"b": 0.1, "a": 0.9})
    assert described(first) == described(NamedArms(dict(first.pays))) != described(second)


def test_a_file_counts_by_what_is_in_it(tmp_path: Path) -> None:
    path = tmp_path / "rewards.csv"
    path.write_text("0.9")
    first = described(ReadArms(path))
    assert described(ReadArms(path)) == first
    path.write_text("0.1")
    assert described(ReadArms(path)) != first


def test_a_path_that_is_no_file_is_refused(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(InputError, match=rf"the path {path}, which cannot be read as a file"):
            described(ReadArms(path))


def test_other_code_of_lotor_makes_other_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    before = CellDigests().of(CELL)
    assert CellDigests().of(CELL) == before
    changed = CodeFingerprint("lotor", lotor.__version__, "0" * 64)
    monkeypatch.setattr(cell_digest, "fingerprint_of", lambda kind: changed)
    assert CellDigests().of(CELL) != before


def ran(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603
        [sys.executable, *arguments], cwd=folder, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(
    ("arguments", "workers"),
    [
        (("study.py",), 1),
        pytest.param(("study.py",), 2, marks=pytest.mark.long),
        pytest.param(("-m", "study"), 2, marks=pytest.mark.long),
    ],
)
def test_a_policy_in_a_script_is_kept_until_the_script_changes(
    tmp_path: Path, arguments: tuple[str, ...], workers: int
) -> None:
    script, text = tmp_path / "study.py", SCRIPT.format(workers=workers)
    script.write_text(text)
    rewards = []
    for many in (2, 2):
        done = ran(tmp_path, *arguments)
        assert done.returncode == 0, done.stderr
        rewards.append(done.stdout)
        assert len(list((tmp_path / "kept").iterdir())) == many
    script.write_text(text.replace("return arms.mean", "return 1 - arms.mean"))
    rewards.append(ran(tmp_path, *arguments).stdout)
    assert len(list((tmp_path / "kept").iterdir())) == 4
    assert rewards[0] == rewards[1] != rewards[2]


def test_a_class_that_is_in_no_file_is_refused(tmp_path: Path) -> None:
    """As in a notebook or a shell; a profiler's file is not that of what it runs, either."""
    text = SCRIPT.format(workers=1)
    (tmp_path / "study.py").write_text(text)
    for arguments in (("-c", text), ("-m", "profile", "study.py")):
        said = ran(tmp_path, *arguments).stderr
        assert "the code of Greedy is in no file" in said
        assert "move the class into a module of its own" in said
        assert not (tmp_path / "kept").exists()
