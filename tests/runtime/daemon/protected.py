"""Protected kits for tests: cheap to open, and processes that die at any moment."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from lotor.crypto.wrapping import ScryptCost
from lotor.runtime.daemon.credentials import VARIABLE
from lotor.runtime.daemon.protecting import Choice, SecretFolder, kit_folder, protect

CHEAP = ScryptCost(log2_n=2, r=1)
PASSPHRASE = "kiwi olm tapir gnu axolotl quokka"  # noqa: S105
# All that a process does to files, but for what SQLite does.
OPERATIONS = ("open", "fsync", "replace", "rename", "link", "unlink", "mkdir", "rmdir", "chmod")


def secret_file(path: Path, text: str | bytes = PASSPHRASE) -> Path:
    """A file that only its owner can read."""
    path.touch(mode=0o600)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def credential_file(
    folder: Path, patch: pytest.MonkeyPatch, text: str | bytes = PASSPHRASE
) -> Path:
    """Let the environment name a file with this secret."""
    path = secret_file(folder / "credential", text)
    patch.setenv(VARIABLE, str(path))
    return path


def protect_with_key_file(kit: Path, key_file: Path) -> SecretFolder:
    """Protect a kit with a new key file, which is then found by its place."""
    folder = kit_folder(kit)
    assert protect(folder, Choice(new_key_file=key_file), cost=CHEAP) == "protected"
    return folder


class Killed(BaseException):
    """The process is gone: no code of it may run any more."""


@contextmanager
def killed_at(step: int) -> Iterator[list[str]]:
    """Die before a file operation (counted from 0), and do none after it, not even to clean up."""
    done: list[str] = []

    def counting(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def operation(*arguments: Any, **options: Any) -> Any:
            if len(done) >= step:
                raise Killed
            done.append(name)
            return real(*arguments, **options)

        return operation

    with pytest.MonkeyPatch.context() as patch:
        for name in OPERATIONS:
            patch.setattr(os, name, counting(name, getattr(os, name)))
        yield done
