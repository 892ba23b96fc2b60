"""The pages of federations, followed word by word: from nothing to a total."""

import re
from pathlib import Path

import pytest

from lotor.runtime.daemon.address import Address
from lotor.sandbox.federation import free_port
from pages import FEDERATIONS, Page
from shell import run_script

TOTAL = re.compile(r"total reward -?\d+")
QUICK = "helba.md"


def follow(page: Page, folder: Path) -> str:
    """Run all commands of a page; its ports alone are others, since these may be in use."""
    chosen: dict[str, Address] = {}
    for name in page.variables():
        chosen[name] = Address("127.0.0.1", free_port(chosen.values()))
    variables = {
        name: re.sub(r"\d+$", str(chosen[name].port), value)
        for name, value in page.variables().items()
    }
    return run_script(page.script(), folder, variables)


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(one, id=one.stem, marks=[pytest.mark.long][one.name == QUICK :])
        for one in FEDERATIONS
    ],
)
def test_a_federation_is_set_up_and_does_its_runs(path: Path, tmp_path: Path) -> None:
    page = Page(path)
    starts = re.findall(r"^lotor start ", page.script(), re.MULTILINE)
    said = follow(page, tmp_path)
    assert len(TOTAL.findall(said)) == len(starts) >= 1, said
