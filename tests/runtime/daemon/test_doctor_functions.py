"""Doctor calls no function of a party, but what tests the data behind it."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from lotor.environments import Outcomes
from lotor.runtime.daemon.config import Address, OwnerTable, PartyConfig, write_config
from lotor.runtime.daemon.doctor import DoctorFinding, examine, function_checks
from lotor.sandbox.kits import make_kits

PULL = """
import threading


def pull(decision):
    raise SystemError("doctor must not call this")


def well():
    print("this is no data")


async def well_too():
    pass


def damaged():
    raise LookupError("no such\\npatient")


async def damaged_too():
    raise OSError(2, "No such file or directory", "patients.db")


def leaves():
    raise SystemExit("bye")


def answers():
    return False


def hangs():
    threading.Event().wait()


name = "no function"
"""
OUTCOMES = """
from pathlib import Path

from lotor.environments import Outcomes

pull = Outcomes(Path(__file__).with_name("patients.db"))
"""


@pytest.fixture
def kit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    made = make_kits(tmp_path, {"lyon": "owner"})["lyon"]
    (made / "hospital.py").write_text(PULL)
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield made
    sys.modules.pop("hospital", None)


def found(kit: Path, check: str | None = None, about: str = "check") -> DoctorFinding:
    owner = OwnerTable(pull="hospital:pull", check=check)
    write_config(kit / "party.toml", PartyConfig(listen=Address("127.0.0.1", 0), owner=owner))
    (finding,) = [one for one in examine(kit) if one.check == about]
    return finding


def test_without_a_test_of_the_data_doctor_says_so(kit: Path) -> None:
    finding = found(kit, about="pull")
    assert finding.result == "hint"
    assert "its data was not tested: no check()" in finding.found
    assert "`check` under [owner]" in finding.todo


@pytest.mark.parametrize("name", ["well", "well_too"])
def test_data_that_is_well(kit: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert found(kit, f"hospital:{name}").result == "ok"
    assert found(kit, f"hospital:{name}", about="pull").result == "ok"
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("damaged", "hospital:damaged raised LookupError: no such patient"),
        ("damaged_too", "raised FileNotFoundError: [Errno 2] No such file or directory"),
        ("leaves", "raised SystemExit: bye"),
        ("answers", "returned something: it should return nothing"),
        ("absent", "has no absent"),
        ("name", "name one without arguments"),
    ],
)
def test_what_is_wrong_is_one_line(kit: Path, name: str, words: str) -> None:
    finding = found(kit, f"hospital:{name}")
    assert finding.result == "problem"
    assert words in finding.found
    assert "\n" not in finding.found


def test_a_test_that_hangs_holds_nobody_up(kit: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(function_checks, "CHECK_SECONDS", 0.01)
    assert "has not returned within 0.01 s" in found(kit, "hospital:hangs").found


def test_a_table_of_outcomes_tests_itself(kit: Path) -> None:
    (kit / "hospital.py").write_text(OUTCOMES)
    path = kit / "patients.db"
    pull = Outcomes.create(path, [1.0])
    before = path.read_bytes()
    assert found(kit, about="pull").result == "ok"
    assert (path.read_bytes(), pull.asked()) == (before, [])
    path.unlink()
    finding = found(kit, about="pull")
    assert finding.result == "problem"
    assert "raised DataError: cannot use table outcomes of" in finding.found
    assert not path.exists()
