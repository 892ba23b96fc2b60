import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from lotor.core.effects import Decision
from lotor.core.errors import ConfigError
from lotor.runtime.daemon.party_functions import load_function

DECISION = Decision.named("run", 4, 1)


@pytest.fixture(autouse=True)
def _untouched_imports(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        del sys.modules[name]


def kit(folder: Path, text: str, name: str = "ward_of_tests.py") -> Path:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)
    return folder


def test_functions_methods_and_objects_are_found(tmp_path: Path) -> None:
    kit(
        tmp_path,
        "def pull(decision): return decision.round / 10\n"
        "class Ward:\n"
        "    def __call__(self, decision): return 0.5\n"
        "    @staticmethod\n"
        "    def treat(decision): return 0.25\n"
        "ward = Ward()\n",
    )
    assert load_function("ward_of_tests:pull", tmp_path)(DECISION) == 0.4
    assert load_function("ward_of_tests:ward", tmp_path)(DECISION) == 0.5
    assert load_function("ward_of_tests:Ward.treat", tmp_path)(DECISION) == 0.25


def test_a_package_and_its_late_imports_are_found(tmp_path: Path) -> None:
    kit(tmp_path, "", "clinic_of_tests/__init__.py")
    kit(tmp_path, "reward = 0.75", "clinic_of_tests/data.py")
    kit(
        tmp_path,
        "def pull(decision):\n    from clinic_of_tests.data import reward\n    return reward\n",
        "clinic_of_tests/ward.py",
    )
    assert load_function("clinic_of_tests.ward:pull", tmp_path)(DECISION) == 0.75


def test_each_kit_gives_its_own_module(tmp_path: Path) -> None:
    first = kit(tmp_path / "a", "def pull(decision): return 0.1")
    second = kit(tmp_path / "b", "def pull(decision): return 0.2")
    pulls = [load_function("ward_of_tests:pull", each) for each in (first, second, second, first)]
    assert [pull(DECISION) for pull in pulls] == [0.1, 0.2, 0.2, 0.1]
    assert pulls[1] is pulls[2]


@pytest.mark.parametrize(
    ("spec", "text", "message"),
    [
        ("ward_of_tests", "", "must be written as"),
        ("ward_of_tests:", "", "must be written as"),
        ("ward of:pull", "", "must be written as"),
        ("missing_ward:pull", "", r"there is no module missing_ward: put missing_ward\.py into"),
        ("ward_of_tests.inner:pull", "", "there is no module ward_of_tests.inner"),
        ("ward_of_tests:pull", "", "has no pull"),
        ("ward_of_tests:pull.deep", "def pull(d): return 0", r"has no pull\.deep"),
        ("ward_of_tests:pull", "import missing_library", "raised ModuleNotFoundError: No module"),
        ("ward_of_tests:pull", "1 / 0", "raised ZeroDivisionError: division by zero"),
        ("ward_of_tests:pull", "def pull(:", "raised SyntaxError"),
        ("ward_of_tests:pull", "import sys; sys.exit('no')", "raised SystemExit: no"),
        ("ward_of_tests:pull", "pull = 0.5", "is of type float: name a function"),
        ("ward_of_tests:pull", "class pull: pass", "is a class: name a function"),
    ],
)
def test_what_cannot_be_loaded_is_explained(
    tmp_path: Path, spec: str, text: str, message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        load_function(spec, kit(tmp_path, text))


def test_a_folder_without_code_has_no_function(tmp_path: Path) -> None:
    (tmp_path / "state_of_tests").mkdir()
    with pytest.raises(ConfigError, match="has no pull"):
        load_function("state_of_tests:pull", tmp_path)


def test_a_module_with_the_name_of_one_in_use_is_refused(tmp_path: Path) -> None:
    kit(tmp_path, "def pull(decision): return 0", "json.py")
    with pytest.raises(ConfigError, match=r"json\.py has the name of a module that is in use"):
        load_function("json:pull", tmp_path)
    assert "json" in sys.modules
