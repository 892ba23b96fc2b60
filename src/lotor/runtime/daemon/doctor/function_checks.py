"""Checks of a party's own functions, of the data behind them, and of its own policies."""

import asyncio
import sys
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from functools import partial
from inspect import isawaitable
from pathlib import Path

from lotor.core.errors import LotorError
from lotor.runtime.daemon.config import OwnerTable
from lotor.runtime.daemon.doctor.findings import AGAIN, DoctorFinding, hint, ok, problem
from lotor.runtime.daemon.doctor.kit_checks import ExaminedKit
from lotor.runtime.daemon.party_functions import (
    import_code,
    load_check,
    load_function,
    load_model,
    own_check,
)

CHECK_SECONDS = 10.0
_LONGEST = 500


def check_functions(kit: ExaminedKit) -> Iterator[DoctorFinding]:
    """Imported as the daemon does. They are not called, but what tests their data is."""
    owner = None if kit.config is None else kit.config.owner
    if owner is None:
        return
    for key, spec in owner.functions.items():
        if spec is not None:
            yield _function(kit.path, owner, key, spec)
    if owner.model is not None:
        loaded = f"{owner.model} can be loaded"
        yield _loaded("model", load_model, owner.model, kit.path, loaded)
    if owner.check is not None:
        yield _named_check(kit.path, owner.check)


def check_code(kit: ExaminedKit) -> Iterator[DoctorFinding]:
    """The policies and protocols that party.toml lists, imported as the daemon does."""
    code = None if kit.config is None else kit.config.code
    if code is None:
        return
    for name in (*code.policies, *code.protocols):
        yield _loaded("code", import_code, name, kit.path, f"{name} can be imported")


def _function(kit: Path, owner: OwnerTable, key: str, spec: str) -> DoctorFinding:
    imported = f"{spec} can be imported ({_repeats(owner)}); it was not called"
    finding = _loaded(key, partial(load_function, key=key), spec, kit, imported)
    if finding.result != "ok" or owner.check is not None:
        return finding
    with _nothing_written():
        test = own_check(load_function(spec, kit, key))
    if test is None:
        return hint(
            key,
            f"{imported}, and its data was not tested: no check()",
            "write a function that looks at the data, and name it by `check` under [owner]",
        )
    found = _tested(test)
    if found is not None:
        return problem(key, f"the check() of {spec} {found}", AGAIN)
    return ok(key, f"{imported}, but its check() was: all is well")


def _named_check(kit: Path, spec: str) -> DoctorFinding:
    finding = _loaded("check", load_check, spec, kit, f"{spec} was called: all is well")
    if finding.result != "ok":
        return finding
    found = _tested(load_check(spec, kit))
    return finding if found is None else problem("check", f"{spec} {found}", AGAIN)


def _tested(test: Callable[[], object]) -> str | None:
    """What is wrong with the data by its owner's own test, in one line; None if nothing is."""
    answers: list[object] = []
    # A thread that may hang: the process must be able to end without it.
    thread = threading.Thread(target=lambda: answers.append(_asked(test)), daemon=True)
    with _nothing_written():
        thread.start()
        thread.join(CHECK_SECONDS)
    if not answers:
        return f"has not returned within {CHECK_SECONDS:g} s"
    answer = answers[0]
    if isinstance(answer, BaseException):
        text = " ".join(str(answer).split())[:_LONGEST]
        return f"raised {type(answer).__name__}" + (f": {text}" if text else "")
    if answer is not None:
        return "returned something: it should return nothing, or raise an error"
    return None


def _asked(test: Callable[[], object]) -> object:
    """What a test returned, or raised."""
    try:
        answer = test()
        return asyncio.run(_awaited(answer)) if isawaitable(answer) else answer
    except BaseException as error:
        return error


async def _awaited(answer: Awaitable[object]) -> object:
    return await answer


def _loaded(
    check: str, load: Callable[[str, Path], object], spec: str, kit: Path, well: str
) -> DoctorFinding:
    try:
        with _nothing_written():
            load(spec, kit)
    except LotorError as error:
        return problem(check, str(error), AGAIN)
    return ok(check, well)


def _repeats(owner: OwnerTable) -> str:
    if owner.repeatable:
        return "repeatable: asked again after a crash"
    return "not repeatable: after a crash you decide"


@contextmanager
def _nothing_written() -> Iterator[None]:
    """Import without leaving a cache in the kit, or a word among this program's data."""
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        sys.dont_write_bytecode = before
