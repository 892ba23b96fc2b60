"""Files that could not be written are refused while nothing is lost."""

import os
from pathlib import Path

import pytest

from lotor.core.errors import InputError
from lotor.core.output_files import check_output_file
from lotor.core.plotting import check_picture


def test_new_and_old_files_are_allowed_and_not_made(tmp_path: Path) -> None:
    for _ in range(2):
        assert check_output_file(str(tmp_path / "rows.csv")) == tmp_path / "rows.csv"
        assert list(tmp_path.iterdir()) == []
    (tmp_path / "rows.csv").write_text("old")
    assert check_output_file(tmp_path / "rows.csv").read_text() == "old"


@pytest.mark.parametrize("check", [check_output_file, check_picture])
def test_what_cannot_be_written_is_refused(tmp_path: Path, check: object) -> None:
    assert callable(check)
    (tmp_path / "folder.svg").mkdir()
    (tmp_path / "file").touch()
    for path, reason in (
        ("folder.svg", "folder.svg is a folder"),
        ("nowhere/plot.svg", "there is no folder .*nowhere: make it"),
        ("file/plot.svg", "there is no folder .*file: make it"),
    ):
        with pytest.raises(InputError, match=reason):
            check(tmp_path / path)


def test_a_protected_place_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = tmp_path / "old.csv"
    old.touch()
    for protected, path in ((tmp_path, tmp_path / "new.csv"), (old, old)):
        allowed = {tmp_path, old} - {protected}
        # Whoever runs tests as root may write everywhere.
        monkeypatch.setattr(os, "access", lambda path, mode, among=allowed: path in among)
        with pytest.raises(InputError, match=f"you may not write to {protected}: give another"):
            check_output_file(path)
