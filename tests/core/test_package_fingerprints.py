"""Which code a class is: any change to its package changes the fingerprint."""

from importlib import import_module
from pathlib import Path

import pytest

from core.packages import install, make_importable
from lotor.core import fingerprint as fingerprint_module
from lotor.core.errors import InputError, LotorError
from lotor.core.fingerprint import CodeFingerprint
from lotor.core.version import VERSION

FILES = {"dogs.py": "class Dog: ...\n", "more/cats.py": "# cats\n", "more/__init__.py": ""}


@pytest.fixture(autouse=True)
def _forgetful(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process reads its code once; these tests are many processes in one."""
    for name in ("fingerprint_of", "_of_package"):
        cached = getattr(fingerprint_module, name)
        fresh = getattr(cached, "__wrapped__", cached)
        monkeypatch.setattr(fingerprint_module, name, fresh)


@pytest.fixture
def code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return install(tmp_path, monkeypatch, "kennel", FILES, version="2.5")


def taken() -> CodeFingerprint:
    kind: type = import_module("kennel.dogs").Dog
    return fingerprint_module.fingerprint_of(kind)


def test_it_names_distribution_and_version(code: Path) -> None:
    found = taken()
    assert (found.distribution, found.version) == ("kennel", "2.5")
    assert str(found) == f"kennel 2.5 ({found.digest[:12]})"
    ours = fingerprint_module.fingerprint_of(LotorError)
    assert (ours.distribution, ours.version) == ("lotor", VERSION)


def test_the_same_code_elsewhere_is_the_same(
    code: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = taken()
    install(tmp_path / "elsewhere", monkeypatch, "kennel", FILES, version="2.5")
    assert taken() == first


def test_an_editable_installation_is_the_same(code: Path) -> None:
    """It does not say which packages it has."""
    first = taken()
    about = code.parent / "kennel-2.5.dist-info"
    (about / "top_level.txt").unlink()
    (about / "direct_url.json").write_text('{"dir_info": {"editable": true}}')
    assert taken() == first


def append(file: Path) -> None:
    file.write_text(file.read_text() + "\n")


@pytest.mark.parametrize("name", ["__init__.py", *FILES])
def test_a_changed_file_changes_the_digest(code: Path, name: str) -> None:
    first = taken()
    append(code / name)
    assert taken().digest != first.digest


@pytest.mark.parametrize("name", ["wolves.py", "more/deeper/wolves.py"])
def test_an_added_file_changes_the_digest(code: Path, name: str) -> None:
    first = taken()
    (code / name).parent.mkdir(exist_ok=True)
    (code / name).touch()
    assert taken().digest != first.digest


def test_a_missing_file_changes_the_digest(code: Path) -> None:
    first = taken()
    (code / "more/cats.py").unlink()
    assert taken().digest != first.digest


def test_a_renamed_file_changes_the_digest(code: Path) -> None:
    first = taken()
    (code / "more/cats.py").rename(code / "more/lions.py")
    assert taken().digest != first.digest


def test_code_that_moves_from_one_file_to_the_next_changes_the_digest(code: Path) -> None:
    (code / "more/a.py").write_text("x = 1\n")
    (code / "more/b.py").write_text("")
    first = taken()
    (code / "more/a.py").write_text("")
    (code / "more/b.py").write_text("x = 1\n")
    assert taken().digest != first.digest


@pytest.mark.parametrize("name", ["__pycache__/dogs.cpython-311.pyc", "notes.txt", "data.json"])
def test_what_is_no_code_changes_nothing(code: Path, name: str) -> None:
    first = taken()
    (code / name).parent.mkdir(exist_ok=True)
    (code / name).write_text("nothing")
    assert taken() == first


def test_a_loose_module_has_no_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = tmp_path / "loose_kennel.py"
    module.write_text("class Dog: ...\n")
    make_importable(tmp_path, monkeypatch, "loose_kennel")
    kind: type = import_module("loose_kennel").Dog
    first = fingerprint_module.fingerprint_of(kind)
    assert (first.distribution, first.version) == ("loose_kennel", "")
    assert "not installed" in str(first)
    append(module)
    assert fingerprint_module.fingerprint_of(kind).digest != first.digest


def test_a_class_without_a_file_is_refused() -> None:
    made_up = type("Dog", (), {"__module__": "no_such_kennel"})
    with pytest.raises(InputError, match="the code of no_such_kennel cannot be found"):
        fingerprint_module.fingerprint_of(made_up)
