import os
import stat
from pathlib import Path

import pytest

from lotor.core.errors import ConfigError
from lotor.runtime.daemon.key_files import read_private, replace_file, write_new


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_private_file_is_private_from_the_first_moment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: set[int] = set()

    def look(_: int) -> None:
        seen.update(map(_mode, tmp_path.iterdir()))

    monkeypatch.setattr(os, "fsync", look)
    old = os.umask(0)
    try:
        write_new(tmp_path / "key.pem", b"secret")
        replace_file(tmp_path / "register", b"all", private=True)
    finally:
        os.umask(old)
    assert seen == {0o600}
    assert read_private(tmp_path / "key.pem", "") == b"secret"


def test_a_new_file_replaces_none(tmp_path: Path) -> None:
    write_new(tmp_path / "key.pem", b"first")
    with pytest.raises(ConfigError, match="exists already"):
        write_new(tmp_path / "key.pem", b"second")
    assert [path.name for path in tmp_path.iterdir()] == ["key.pem"]
    assert (tmp_path / "key.pem").read_bytes() == b"first"


@pytest.mark.parametrize("write", [write_new, replace_file])
def test_a_failed_write_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write: object
) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    assert callable(write)
    with pytest.raises(ConfigError, match=r"key\.pem cannot be used: No space left"):
        write(tmp_path / "key.pem", b"secret")
    assert list(tmp_path.iterdir()) == []


def test_a_failed_replacement_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace_file(tmp_path / "certificate.pem", b"old")

    def broken(*_: object) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "fsync", broken)
    with pytest.raises(ConfigError):
        replace_file(tmp_path / "certificate.pem", b"new")
    assert (tmp_path / "certificate.pem").read_bytes() == b"old"
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o602, 0o610, 0o601, 0o777])
def test_a_key_that_others_may_reach_is_refused(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "key.pem"
    path.write_bytes(b"secret")
    path.chmod(mode)
    with pytest.raises(ConfigError, match=f"chmod 600 {path}") as refused:
        read_private(path, "")
    assert "secret" not in str(refused.value)
    path.chmod(0o600)
    assert read_private(path, "") == b"secret"
