"""Every Python example of README and docs runs as it stands; every example program does, too."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "SECURITY.md", *sorted((ROOT / "docs").glob("*.md"))]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?:|#)([^)#]+)")


# With keys of 128 bits' security, and with the figures of a whole study.
LONG = ("helba.md", "membership_inference.py")


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


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
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
