"""docs/errors.md lists everything that there is, and nothing else."""

import ast
import importlib
import pkgutil
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

import lotor
from lotor.cli import exit_codes
from lotor.core.errors import LotorError, TransportError
from lotor.runtime.daemon import status
from lotor.runtime.durable import journal
from lotor.transport.handshake import Refusal, refused

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "errors.md").read_text()
SOURCES = sorted((ROOT / "src" / "lotor").rglob("*.py"))
ROW = re.compile(r"^\| `([^`]+)` \|(.*)\|$", re.MULTILINE)
LEVELS = ("debug", "info", "warning", "error", "critical")
# Events that are not written down as such where they are logged: (file, expression).
NAMED_ELSEWHERE = {
    ("live_run.py", "state"): set(journal.ENDED),
    ("refusals.py", "event"): {"refused", "unreachable"},
}


def rows(title: str) -> dict[str, list[str]]:
    """The rows of a section's table, by what stands in the first column."""
    section = PAGE.partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    found = [
        (key, [cell.strip() for cell in rest.split("|")]) for key, rest in ROW.findall(section)
    ]
    assert len(dict(found)) == len(found)
    return dict(found)


def errors() -> dict[str, type[LotorError]]:
    """Every error of the package, wherever it is defined."""
    for module in pkgutil.walk_packages(lotor.__path__, "lotor."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)

    def below(kind: type[LotorError]) -> Iterator[type[LotorError]]:
        yield kind
        for child in kind.__subclasses__():
            yield from below(child)

    return {
        kind.__name__: kind
        for kind in below(LotorError)
        if kind.__module__.startswith("lotor.") and not kind.__name__.startswith("_")
    }


def events_in(name: str, tree: ast.AST) -> Iterator[tuple[str, str]]:
    """The events that a module logs, with their levels."""
    for call in ast.walk(tree):
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
            continue
        for keyword in call.keywords:
            if keyword.arg != "extra" or not isinstance(keyword.value, ast.Dict):
                continue
            for key, value in zip(keyword.value.keys, keyword.value.values, strict=True):
                if isinstance(key, ast.Constant) and key.value == "event":
                    for event in _named(name, value):
                        yield event, call.func.attr


def _named(name: str, value: ast.expr) -> set[str]:
    if isinstance(value, ast.Constant):
        return {str(value.value)}
    return NAMED_ELSEWHERE[name, ast.unparse(value)]


def logged() -> dict[str, set[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for path in SOURCES:
        for event, level in events_in(path.name, ast.parse(path.read_text())):
            found[event].add(level)
    return found


def test_exit_codes() -> None:
    codes = {
        str(value)
        for name, value in vars(exit_codes).items()
        if name.isupper() and isinstance(value, int)
    }
    assert set(rows("Exit codes")) == codes
    assert {code for code in codes if f"{code} " in exit_codes.EPILOG} == codes


def test_every_error_with_its_exit_code() -> None:
    kinds = errors()
    documented = rows("Errors")
    assert set(documented) == set(kinds)
    for name, kind in kinds.items():
        code, means, cause, todo = documented[name]
        assert code == str(exit_codes.of(kind("what happened"))), name
        assert means
        assert todo
        assert cause or kind is LotorError


def test_every_state() -> None:
    documented = rows("States of a run")
    assert set(documented) == set(status.STATES)
    kept = {journal.WAITING, journal.RUNNING, journal.FINISHED, *journal.ENDED}
    assert kept <= set(documented)
    assert all(all(cells) for cells in documented.values())


def test_every_event_with_its_levels() -> None:
    found = logged()
    documented = rows("Log events")
    assert set(documented) == set(found)
    for event, (levels, means, todo) in documented.items():
        assert set(levels.split(", ")) == found[event] <= set(LEVELS), event
        assert means
        assert todo


def test_every_event_of_a_refusal_log_is_known() -> None:
    """`RefusalLog.note` is given its event by name."""
    noted = {
        str(call.args[0].value)
        for path in SOURCES
        if path.parent.name == "transport"
        for call in ast.walk(ast.parse(path.read_text()))
        if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and call.func.attr == "note"
        and isinstance(call.args[0], ast.Constant)
    }
    assert noted == NAMED_ELSEWHERE["refusals.py", "event"]


def test_an_event_in_the_source_is_seen() -> None:
    tree = ast.parse('log.error("x", extra={"peer": name, "event": "new-event"})')
    assert list(events_in("node.py", tree)) == [("new-event", "error")]
    with pytest.raises(KeyError):
        list(events_in("node.py", ast.parse('log.info("x", extra={"event": some})')))


def test_refusal_codes() -> None:
    kinds = errors()
    for code in rows("Refusal codes"):
        assert type(refused(Refusal(code, "why"), "lyon")) is kinds[code]
    assert type(refused(Refusal("Unheard", "why"), "lyon")) is TransportError


def test_every_name_in_the_text_exists() -> None:
    named = set(re.findall(r"`(\w+Error)`", PAGE))
    assert named == set(errors())
