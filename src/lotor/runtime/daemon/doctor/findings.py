"""The lines of the doctor's report: what was checked, what was found, what to do."""

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

from lotor.core.errors import LotorError
from lotor.runtime.daemon.key_files import OTHERS

Result: TypeAlias = Literal["ok", "hint", "warning", "problem"]
OTHERS_WRITE = 0o022
AGAIN = "correct that, and run `lotor doctor` again"


class DoctorFinding(msgspec.Struct, frozen=True):
    """One line of the doctor's report; `todo` is empty where nothing is to be done."""

    check: str
    result: Result
    found: str
    todo: str = ""


def ok(check: str, found: str) -> DoctorFinding:
    return DoctorFinding(check, "ok", found)


def hint(check: str, found: str, todo: str) -> DoctorFinding:
    """Nothing is wrong, but more could be known."""
    return DoctorFinding(check, "hint", found, todo)


def warning(check: str, found: str, todo: str) -> DoctorFinding:
    return DoctorFinding(check, "warning", found, todo)


def problem(check: str, found: str, todo: str) -> DoctorFinding:
    return DoctorFinding(check, "problem", found, todo)


def refused(check: str, error: LotorError) -> DoctorFinding:
    """An error of Lotor as a problem: what comes after its last colon is the next step."""
    found, _, todo = str(error).rpartition(": ")
    if " " not in found:  # nothing, or a path
        return problem(check, str(error), AGAIN)
    return problem(check, found, todo)


def guarded(check: str, look: Callable[[], Iterable[DoctorFinding]]) -> Iterator[DoctorFinding]:
    """The findings of one check; one that breaks is a problem and stops no other."""
    try:
        yield from look()
    except LotorError as error:
        yield refused(check, error)
    except Exception as error:
        yield problem(
            check,
            f"this could not be checked ({type(error).__name__}: {error})",
            AGAIN,
        )


def open_to_others(check: str, path: Path, *, private: bool) -> DoctorFinding | None:
    """A problem if others may read or write a file or folder; None if they may not."""
    if os.name != "posix":
        return None
    mode = path.stat().st_mode & 0o777
    wanted = ("700" if path.is_dir() else "600") if private else "go-w"
    if mode & OTHERS_WRITE or (private and mode & OTHERS):
        what = "change" if mode & OTHERS_WRITE else "read"
        return problem(
            check, f"other users may {what} {path} (mode {mode:o})", f"run `chmod {wanted} {path}`"
        )
    return None
