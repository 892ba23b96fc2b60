"""Puts one fault after the other into copies of the tree, and sees which test notices it."""

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import cache_from_source
from pathlib import Path
from queue import SimpleQueue
from tempfile import TemporaryDirectory
from time import monotonic
from typing import TypeVar

from mutants.fault import Fault, Selection, UnusableFaultError, mutated, sources_of

WORKERS = 2
# A fault may let a test wait for ever: so long, and so many times longer than without the fault.
LEAST_SECONDS, TIMES_LONGER = 20.0, 5.0
_FAILED = re.compile(r"^(?:FAILED|ERROR) (.+?)(?: - |$)", re.MULTILINE)
_PASSED, _TESTS_FAILED = 0, 1
T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a fault: the test that noticed it, or "" where none did.

    It is not `usable` if its tests fail without it, or cannot even be run with it.
    """

    fault: Fault
    caught_by: str
    usable: bool = True

    @property
    def survived(self) -> bool:
        return self.usable and not self.caught_by

    def __str__(self) -> str:
        if not self.usable:
            return "UNUSABLE"
        return self.caught_by or "SURVIVED"


@dataclass(frozen=True, slots=True)
class _Ran:
    """One run of pytest; `code` is None where it was stopped because it took too long."""

    code: int | None
    output: str
    seconds: float


def copy_tree(root: Path, to: Path) -> None:
    """What is, or could be, in the repository; nothing that is ignored."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],  # noqa: S607
        cwd=root,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    for name in filter(None, listed.split("\0")):
        if (root / name).is_file():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / name, to / name)


@contextmanager
def applied(fault: Fault, tree: Path) -> Iterator[None]:
    """The tree with the fault in it."""
    path, text = mutated(fault, sources_of(tree))
    before = path.read_bytes()
    try:
        _write(path, text.encode())
        yield
    finally:
        _write(path, before)


def _write(path: Path, data: bytes) -> None:
    path.write_bytes(data)
    # Python recognises a changed file by its second and its length, which may be the same.
    Path(cache_from_source(str(path))).unlink(missing_ok=True)


def run_tests(tree: Path, selection: Selection, seconds: float) -> _Ran:
    """Run the tests of a copy against the source of that copy."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "--tb=no", "-p", "no:cacheprovider"]
    # The same examples each time: a test that notices a fault by luck is not good enough.
    command += ["-m", "not long", "--hypothesis-seed=0", *selection.files(tree)]
    if selection.only:
        command += ["-k", selection.only]
    environment = {**os.environ, "PYTHONPATH": f"{tree / 'src'}{os.pathsep}{tree / 'tests'}"}
    began = monotonic()
    process = subprocess.Popen(  # noqa: S603
        command,
        cwd=tree,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return _Ran(None, "", monotonic() - began)
    return _Ran(process.returncode, output, monotonic() - began)


def check_selection(tree: Path, selection: Selection) -> float:
    """How long the tests take without a fault; refuses those that fail."""
    ran = run_tests(tree, selection, 600.0)
    if ran.code != _PASSED:
        why = "take more than ten minutes" if ran.code is None else f"fail:\n{ran.output[-2000:]}"
        raise UnusableFaultError(f"without any fault the tests {selection} {why}")
    return ran.seconds


def try_fault(tree: Path, fault: Fault, usual_seconds: float) -> Outcome:
    """Put the fault in, run its tests, and take it out again."""
    with applied(fault, tree):
        limit = LEAST_SECONDS + TIMES_LONGER * usual_seconds
        ran = run_tests(tree, fault.selection, limit)
    if ran.code is None:
        return Outcome(fault, f"timed out after {limit:.0f} s")
    if ran.code == _PASSED:
        return Outcome(fault, "")
    named = _FAILED.search(ran.output)
    if ran.code != _TESTS_FAILED or named is None:
        raise UnusableFaultError(
            f"with the fault '{fault.id}' pytest cannot even run its tests, so that it says "
            f"nothing about them: choose a smaller fault\n{ran.output[-2000:]}"
        )
    return Outcome(fault, named[1])


def run(root: Path, faults: Sequence[Fault], tell: Callable[[str], None]) -> list[Outcome]:
    """What becomes of each fault; refuses all of them if one does not fit the source."""
    sources = sources_of(root)
    for fault in faults:
        mutated(fault, sources)
    selections = list(dict.fromkeys(fault.selection for fault in faults))
    with TemporaryDirectory(prefix="lotor-mutants-") as folder:
        trees: SimpleQueue[Path] = SimpleQueue()
        for number in range(WORKERS):
            # pytest looks for its settings above the tests: a folder of its own for each.
            copy_tree(root, tree := Path(folder).resolve() / str(number) / "tree")
            trees.put(tree)

        def checked(selection: Selection, tree: Path) -> float | None:
            try:
                seconds = check_selection(tree, selection)
            except UnusableFaultError as error:
                tell(str(error))
                return None
            tell(f"without a fault in {seconds:5.1f} s: {selection}")
            return seconds

        def tried(fault: Fault, tree: Path) -> Outcome:
            outcome, seconds = Outcome(fault, "", usable=False), usual[fault.selection]
            try:
                if seconds is not None:
                    outcome = try_fault(tree, fault, seconds)
            except UnusableFaultError as error:
                tell(str(error))
            tell(f"{fault.id}: {outcome}")
            return outcome

        times = _in_parallel(trees, selections, checked)
        usual = dict(zip(selections, times, strict=True))
        return _in_parallel(trees, faults, tried)


def _in_parallel(
    trees: "SimpleQueue[Path]", items: Sequence[T], work: Callable[[T, Path], R]
) -> list[R]:
    """Each item in a tree that nobody else uses meanwhile."""

    def one(item: T) -> R:
        tree = trees.get()
        try:
            return work(item, tree)
        finally:
            trees.put(tree)

    with ThreadPoolExecutor(WORKERS) as pool:
        try:
            return list(pool.map(one, items))
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
