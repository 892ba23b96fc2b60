"""Python examples of README and docs run as they stand, and their commands are understood."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

from commands import understood
from pages import FEDERATIONS, Page

pytestmark = pytest.mark.usefixtures("real_transfers")

ROOT = Path(__file__).parents[1]
PAGES = [
    *(ROOT / "README.md", ROOT / "SECURITY.md"),
    *sorted((ROOT / "docs").glob("*.md")),
    *FEDERATIONS,
]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
NOTEBOOKS = sorted((ROOT / "examples" / "notebooks").glob("*.py"))
DATA = ROOT.parent / "shared" / "data"
# What a reader may set; without the files, notebooks use look-alikes.
FILES = {
    "LOTOR_IST": DATA / "ist" / "ist_compact.csv",
    "LOTOR_MOVIELENS": DATA / "movielens-100k" / "u.data",
}
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?:|#)([^)#]+)")


# With keys of 128 bits' security, with the figures of a whole study, and notebooks but the first.
LONG = (
    *("helba.md", "membership_inference.py"),
    *(path.name for path in NOTEBOOKS if path.stem != "five_minutes"),
)


def runnable(paths: list[Path]) -> list[ParameterSet]:
    return [
        pytest.param(path, id=path.name, marks=[pytest.mark.long] if path.name in LONG else [])
        for path in paths
    ]


@pytest.mark.parametrize("page", runnable(PAGES))
def test_python_blocks_run(page: Path) -> None:
    namespace: dict[str, object] = {"__name__": page.stem}
    for number, block in enumerate(BLOCK.findall(page.read_text()), 1):
        exec(compile(block, f"{page.name}, block {number}", "exec"), namespace)  # noqa: S102


def test_commands_have_the_options_that_they_need() -> None:
    found = 0
    for page in map(Page, PAGES):
        commands = page.filled(page.script()).replace("\\\n", " ")
        for line in commands.splitlines():
            try:
                found += understood(line)
            except Exception as error:
                pytest.fail(f"{page.path.name}: {line.strip()}: {error}")
    assert found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page: Path) -> None:
    for target in LINK.findall(page.read_text()):
        assert (page.parent / target).exists(), target


@pytest.mark.parametrize("example", runnable(EXAMPLES))
def test_examples_run(example: Path) -> None:
    done = subprocess.run(  # noqa: S603
        [sys.executable, str(example)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout
    assert len(example.read_text().splitlines()) < 80


@pytest.mark.parametrize("notebook", runnable(NOTEBOOKS))
def test_notebooks_run_and_are_in_the_gallery(notebook: Path, tmp_path: Path) -> None:
    """Each has cells that begin with text, and needs no more than what it says."""
    text = notebook.read_text()
    assert text.startswith("# %% [markdown]\n# # ")
    assert f"notebooks/{notebook.name}" in (ROOT / "docs" / "gallery.md").read_text()
    found = {name: str(path) for name, path in FILES.items() if path.exists()}
    done = subprocess.run(  # noqa: S603
        [sys.executable, str(notebook)],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={**os.environ, **found},
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout
    assert not list(tmp_path.iterdir())
