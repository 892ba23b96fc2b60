"""Every protocol, policy and option gives with a seed what it gave when that was recorded."""

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from golden import commands, seeds

RECORDED: dict[str, Any] = json.loads(seeds.RECORDED.read_text())
# Some of these arms have more noise than the policies' R covers, which changes no draw.
pytestmark = pytest.mark.filterwarnings("ignore::lotor.policies.noise.NoiseWarning")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One for all commands, for what they read and cache."""
    return tmp_path_factory.mktemp("golden")


@pytest.mark.parametrize("name", seeds.CASES)
def test_a_run_gives_what_is_recorded(name: str) -> None:
    case = seeds.CASES[name]
    runs = seeds.runs(case)
    for way, found in runs.items():
        told = seeds.differences(found, RECORDED[name], exact=case.exact)
        assert not told, f"{name}, {way}: {'; '.join(told)}"
    assert len({found["reward"] for found in runs.values()}) == 1, (
        f"{name}: plain has another total"
    )


@pytest.mark.parametrize("line", commands.RUNS)
def test_a_command_gives_what_is_recorded(folder: Path, line: str) -> None:
    if find_spec("sklearn") is None and any(part in line for part in commands.NEED_DIGITS):
        pytest.skip("the digits need scikit-learn")
    with seeds.small_keys():
        found = seeds.outcome(commands.run(folder, line))
    exact = commands.INEXACT not in line
    told = seeds.differences(found, RECORDED[f"lotor run {line}"], exact=exact)
    assert not told, f"lotor run {line}: {'; '.join(told)}"


def test_all_that_is_recorded_is_run() -> None:
    assert set(RECORDED) == {*seeds.CASES, *(f"lotor run {line}" for line in commands.RUNS)}
