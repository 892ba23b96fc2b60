"""The faults fit today's source; the runner knows which a test notices, and which none does."""

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from mutants.fault import Fault, UnusableFaultError, mutated, sources_of
from mutants.runner import applied, run, try_fault
from mutants.table import FAULTS

ROOT = Path(__file__).parents[2]

SUM_FOR_DIFFERENCE = Fault("a sum for a difference", "numbers", "a + b", "a - b", ("test_sum.py",))


def test_every_fault_fits_the_source_and_names_tests() -> None:
    sources, misfits = sources_of(ROOT), []
    for fault in FAULTS:
        try:
            mutated(fault, sources)
        except UnusableFaultError as error:
            misfits.append(str(error))
    for selection in {fault.selection for fault in FAULTS}:
        try:
            selection.files(ROOT)
        except UnusableFaultError as error:
            misfits.append(str(error))
    assert not misfits, "\n\n".join(misfits)


def test_no_two_faults_have_one_name_or_are_the_same() -> None:
    assert len({fault.id for fault in FAULTS}) == len(FAULTS)
    assert len({(fault.find, fault.replace) for fault in FAULTS}) == len(FAULTS)
    assert all(fault.find != fault.replace for fault in FAULTS)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "src").mkdir()
    (tmp_path / "tests").mkdir()
    (tmp_path / "src" / "sums.py").write_text("def add(a, b):\n    return a + b\n")
    (tmp_path / "tests" / "test_sum.py").write_text(
        "from sums import add\n\ndef test_sum():\n    assert add(2, 3) == 5\n"
    )
    (tmp_path / "tests" / "test_weak.py").write_text(
        "from sums import add\n\ndef test_weak():\n    assert add(3, 0) == 3\n"
    )
    (tmp_path / "pyproject.toml").write_text("[tool.pytest.ini_options]\nmarkers = ['long']\n")
    return tmp_path


def test_a_fault_is_caught_where_a_test_notices_it_only(tree: Path) -> None:
    subprocess.run(["git", "init", "--quiet"], cwd=tree, check=True)  # noqa: S607
    (tree / "tests" / "test_wrong.py").write_text("def test_wrong():\n    assert False\n")
    weak = replace(SUM_FOR_DIFFERENCE, tests=("test_weak.py",))
    wrong = replace(SUM_FOR_DIFFERENCE, tests=("test_wrong.py",))
    told: list[str] = []
    caught, survived, unusable = run(tree, [SUM_FOR_DIFFERENCE, weak, wrong], told.append)
    assert str(caught) == "tests/test_sum.py::test_sum"
    assert survived.survived
    assert not unusable.usable
    assert any("without any fault the tests test_wrong.py fail" in line for line in told)


def test_a_fault_is_taken_out_again(tree: Path) -> None:
    path = tree / "src" / "sums.py"
    before = path.read_text()
    with applied(SUM_FOR_DIFFERENCE, tree):
        assert path.read_text() == before.replace("+", "-")
    assert path.read_text() == before


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (replace(SUM_FOR_DIFFERENCE, find="a * b"), "occurs 0 times"),
        (replace(SUM_FOR_DIFFERENCE, find="a"), "occurs 3 times"),
        (replace(SUM_FOR_DIFFERENCE, replace="a +"), "no Python"),
        (replace(SUM_FOR_DIFFERENCE, tests=("test_gone.py",)), "test_gone.py"),
    ],
)
def test_unusable_faults_are_refused(tree: Path, fault: Fault, words: str) -> None:
    with pytest.raises(UnusableFaultError, match=words):
        try_fault(tree, fault, 1.0)


def test_a_fault_that_breaks_every_import_is_refused(tree: Path) -> None:
    broken = replace(SUM_FOR_DIFFERENCE, find="def add", replace="def subtract")
    with pytest.raises(UnusableFaultError, match="cannot even run"):
        try_fault(tree, broken, 1.0)
