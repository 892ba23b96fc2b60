"""The site is complete and its links lead somewhere: what can be known without building it."""

import pkgutil
import re
import tomllib
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCS = sorted((ROOT / "docs").rglob("*.md"))
PAGES = [*sorted(ROOT.glob("*.md")), ROOT / "benchmarks" / "README.md", *DOCS]
CODE = re.compile(r"^```.*?^```$|`[^`\n]*`", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!\w+:)([^)#\s]*)(?:#([^)\s]+))?\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
REFERENCE = re.compile(r"^::: (\S+)$", re.MULTILINE)


def name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def navigation(entry: object) -> Iterator[str]:
    """The pages that a part of the navigation lists."""
    if isinstance(entry, str):
        yield entry
    else:
        assert isinstance(entry, list | dict)
        for child in entry.values() if isinstance(entry, dict) else entry:
            yield from navigation(child)


def anchors(text: str) -> set[str]:
    """What the headings of a page are called in its address."""
    headings = HEADING.findall(re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL))
    plain = [
        unicodedata.normalize("NFKD", heading).encode("ascii", "ignore") for heading in headings
    ]
    words = [re.sub(r"[^\w\s-]", "", heading.decode()).strip().lower() for heading in plain]
    return {re.sub(r"[-\s]+", "-", heading) for heading in words}


def broken(page: Path, text: str) -> list[str]:
    """The links of a page to files, and to headings of pages, that do not exist."""
    found = []
    for target, anchor in LINK.findall(CODE.sub("", text)):
        path = page.parent / target if target else page
        if not path.is_file() or (anchor and anchor not in anchors(path.read_text())):
            found.append(f"{target}#{anchor}" if anchor else target)
    return found


def test_the_navigation_lists_every_page_once() -> None:
    settings = tomllib.loads((ROOT / "zensical.toml").read_text())
    listed = list(navigation(settings["project"]["nav"]))
    assert sorted(listed) == sorted(map(name, PAGES)), "mend `nav` in zensical.toml"


def test_the_index_links_to_every_page_of_docs() -> None:
    index = ROOT / "docs" / "index.md"
    linked = {index.parent / target for target, _ in LINK.findall(index.read_text())}
    assert set(DOCS) - linked == {index}


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_somewhere(page: Path) -> None:
    assert broken(page, page.read_text()) == []


@pytest.mark.parametrize("page", sorted((ROOT / "docs" / "api").glob("*.md")), ids=name)
def test_what_the_api_describes_exists(page: Path) -> None:
    references = REFERENCE.findall(page.read_text())
    assert references
    for reference in references:
        pkgutil.resolve_name(reference)


def test_a_broken_link_is_seen() -> None:
    text = "[a](samba.md#which-policies) [b](nothing.md) [c](samba.md#nothing) [d](#here) [e](../tests)"
    page = ROOT / "docs" / "index.md"
    assert broken(page, text) == ["nothing.md", "samba.md#nothing", "#here", "../tests"]
