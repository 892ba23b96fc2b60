"""What a fault is: a piece of the source that is replaced, and the tests that must then fail."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


class UnusableFaultError(Exception):
    """A fault that says nothing about the tests: it must be corrected."""


@dataclass(frozen=True, slots=True)
class Fault:
    """`find` occurs exactly once in all of src/, and becomes `replace`.

    `tests` are test files, given by the end of their path ("test_aead.py", "samba/test_*.py"), so
    that they are found wherever they are moved to; `only` is a keyword expression of pytest (-k).
    """

    id: str
    area: str
    find: str
    replace: str
    tests: tuple[str, ...]
    only: str = ""

    @property
    def selection(self) -> "Selection":
        return Selection(self.tests, self.only)


@dataclass(frozen=True, slots=True)
class Selection:
    """The tests that a fault is run against."""

    tests: tuple[str, ...]
    only: str = ""

    def __str__(self) -> str:
        return " ".join(self.tests) + (f" -k '{self.only}'" if self.only else "")

    def files(self, tree: Path) -> list[str]:
        """The test files of a tree, relative to it."""
        known = [path.relative_to(tree) for path in sorted(tree.glob("tests/**/test_*.py"))]
        found: list[str] = []
        for pattern in self.tests:
            matching = [str(path) for path in known if path.match(pattern)]
            if not matching:
                raise UnusableFaultError(f"no test file is called {pattern}: name another one")
            found += matching
        return list(dict.fromkeys(found))


def sources_of(tree: Path) -> dict[Path, str]:
    """The text of every source file."""
    return {path: path.read_text() for path in sorted(tree.glob("src/**/*.py"))}


def source_of(fault: Fault, sources: Mapping[Path, str]) -> Path:
    """The one source file that the fault is in."""
    places = [path for path, text in sources.items() for _ in range(text.count(fault.find))]
    if len(places) != 1:
        where = f" ({', '.join(path.name for path in places)})" if places else ""
        raise UnusableFaultError(
            f"the fault '{fault.id}' replaces text that occurs {len(places)} times in src/"
            f"{where}, not once:\n{fault.find}\n"
            "Edit its `find` and `replace` in tests/mutants so that they name the same piece of "
            "today's source."
        )
    return places[0]


def mutated(fault: Fault, sources: Mapping[Path, str]) -> tuple[Path, str]:
    """The source file that the fault is in, and its text with the fault in it."""
    path = source_of(fault, sources)
    text = sources[path].replace(fault.find, fault.replace)
    try:
        compile(text, str(path), "exec")
    except SyntaxError as error:
        raise UnusableFaultError(
            f"with the fault '{fault.id}' {path.name} is no Python any more: {error}"
        ) from None
    return path, text
