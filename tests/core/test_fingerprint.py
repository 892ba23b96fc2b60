"""Other code has another fingerprint, wherever it lies."""

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import lotor
from lotor.core import fingerprint
from lotor.core.errors import InputError
from lotor.core.fingerprint import CodeFingerprint, fingerprint_of
from lotor.core.version import VERSION


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where modules of tests can be imported from, and are forgotten afterwards."""
    monkeypatch.syspath_prepend(tmp_path)
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if name.startswith("plugin_of_tests"):
            del sys.modules[name]


def found(folder: Path, module: str, files: dict[str, str]) -> CodeFingerprint:
    """Of the class `Kind` of a module, with these files around it."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    importlib.invalidate_caches()
    fingerprint._of_package.cache_clear()
    sys.modules.pop(module, None)
    kind: type = importlib.import_module(module).Kind
    return fingerprint_of(kind)


KIND = "class Kind:\n    pass\n"


def test_ours_is_installed() -> None:
    ours = fingerprint_of(lotor.UCB)
    assert (ours.distribution, ours.version) == ("lotor", VERSION)
    assert ours == fingerprint_of(lotor.Samba)
    assert str(ours) == f"lotor {VERSION} ({ours.digest[:12]})"


def test_any_file_of_a_package_counts(folder: Path) -> None:
    files = {"plugin_of_tests/__init__.py": "", "plugin_of_tests/kinds.py": KIND}
    first = found(folder, "plugin_of_tests.kinds", files)
    assert (first.distribution, first.version) == ("plugin_of_tests", "")
    assert "plugin_of_tests (not installed)" in str(first)
    assert found(folder, "plugin_of_tests.kinds", files) == first
    more = found(folder, "plugin_of_tests.kinds", {"plugin_of_tests/more/deep.py": ""})
    renamed = found(folder, "plugin_of_tests.kinds", {"plugin_of_tests/more/deeper.py": ""})
    assert len({first, more, renamed}) == 3


def test_of_a_single_file_that_file_counts(folder: Path) -> None:
    first = found(folder, "plugin_of_tests", {"plugin_of_tests.py": KIND, "unrelated.py": ""})
    same = found(folder, "plugin_of_tests", {"unrelated.py": "x = 1\n"})
    other = found(folder, "plugin_of_tests", {"plugin_of_tests.py": KIND + "x = 10\n"})
    assert first == same != other


def test_of_a_namespace_the_package_in_it_counts(folder: Path) -> None:
    """Others may put packages of their own into the same namespace."""
    files = {"plugin_of_tests/ours/__init__.py": KIND, "plugin_of_tests/theirs/__init__.py": ""}
    first = found(folder, "plugin_of_tests.ours", files)
    assert first.distribution == "plugin_of_tests.ours"
    same = found(folder, "plugin_of_tests.ours", {"plugin_of_tests/theirs/more.py": ""})
    other = found(folder, "plugin_of_tests.ours", {"plugin_of_tests/ours/more.py": ""})
    assert first == same != other


def test_code_without_a_file_has_none() -> None:
    typed = type("Typed", (), {"__module__": "plugin_of_tests.nowhere"})
    for kind in (int, typed):
        with pytest.raises(InputError, match="cannot be found: is it a file or a package"):
            fingerprint_of(kind)
