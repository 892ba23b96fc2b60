"""Gathers the pages of the site in build/pages; `make docs` runs this, and then Zensical.

The folder mirrors the repository, so that links between pages work as they stand, on the site as
in a checkout. A link to a source file leads to a page that shows the file.
"""

import re
import shutil
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGES = ROOT / "build" / "pages"
LINK = re.compile(r"(?<=\]\()(?!https?:|#)([^)#\s]+)")
LANGUAGES = {".py": "python", ".service": "ini", ".toml": "toml", ".yaml": "yaml"}


def assemble() -> None:
    shutil.rmtree(PAGES, ignore_errors=True)
    shutil.copytree(ROOT / "docs", PAGES / "docs", ignore=shutil.ignore_patterns("*.py", "__*"))
    for page in (*ROOT.glob("*.md"), ROOT / "benchmarks" / "README.md"):
        copy = PAGES / page.relative_to(ROOT)
        copy.parent.mkdir(exist_ok=True)
        shutil.copyfile(page, copy)
    for page in sorted(PAGES.rglob("*.md")):
        _lead_to_sources(page)


def _lead_to_sources(page: Path) -> None:
    """Let the page's links to source files lead to pages that show these files."""

    def rewritten(link: re.Match[str]) -> str:
        path = (page.parent / link[0]).resolve().relative_to(PAGES)
        if (PAGES / path).is_file() or path.suffix == ".md":
            return link[0]  # Zensical reports a page that does not exist
        if not (ROOT / path).is_file():
            raise SystemExit(f"{page.relative_to(PAGES)}: there is no file {link[0]} to link to")
        shown = PAGES / f"{path}.md"
        shown.parent.mkdir(parents=True, exist_ok=True)
        language = LANGUAGES.get(path.suffix, "text")
        shown.write_text(f"# {path}\n\n~~~~~{language}\n{(ROOT / path).read_text()}~~~~~\n")
        return f"{link[0]}.md"

    page.write_text(LINK.sub(rewritten, page.read_text()))


if __name__ == "__main__":
    assemble()
