"""The distributions hold what they should, and the wheel works where nothing else is installed."""

import json
import os
import shlex
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

from lotor.core.version import VERSION

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[1]
SNIPPET = """
import lotor

arms = lotor.BernoulliArms([0.9, 0.5, 0.1])
samba = lotor.Samba(lotor.UCB(), form="paper", key_bits=2048)
secure = lotor.run(samba, arms, budget=60, seed=7)
plain = lotor.run(samba.plain(), arms, budget=60, seed=7)
assert secure.reward == plain.reward and secure.arms == plain.arms
print(lotor.__file__)
"""
# Of the surroundings, what would let the checkout or its packages be found is left out.
ENVIRONMENT = {
    **{key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "VIRTUAL_ENV")},
    "PIP_DEFAULT_TIMEOUT": "20",
    "PIP_NO_INPUT": "1",
    "PIP_RETRIES": "1",
}


def run(*command: str | Path, cwd: Path) -> str:
    shown = shlex.join(map(str, command))
    try:
        done = subprocess.run(  # noqa: S603
            command,
            cwd=cwd,
            env=ENVIRONMENT,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
    except subprocess.TimeoutExpired:
        pytest.fail(f"`{shown}` was not done after ten minutes")
    if done.returncode != 0:
        hint = " (pip must reach a package index)" if "pip" in done.stderr else ""
        pytest.fail(f"`{shown}` failed{hint}:\n{done.stdout[-2000:]}{done.stderr[-4000:]}")
    return done.stdout


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with both: the wheel is made from the unpacked sdist, so that one is complete."""
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--outdir", folder, ROOT, cwd=folder)
    return folder


@pytest.fixture(scope="module")
def wheel(dist: Path) -> Path:
    return dist / f"lotor-{VERSION}-py3-none-any.whl"


def sources(*folders: str) -> set[str]:
    return {
        path.relative_to(ROOT).as_posix()
        for folder in folders
        for path in (ROOT / folder).rglob("*")
        if path.suffix in {".md", ".py", ".service", ".svg", ".toml", ".typed", ".yaml", ".yml"}
    }


def test_the_sdist_holds_everything_to_build_and_test(dist: Path) -> None:
    top = f"lotor-{VERSION}"
    with tarfile.open(dist / f"{top}.tar.gz") as archive:
        names = {member.removeprefix(f"{top}/") for member in archive.getnames()}
    files = {"LICENSE", "Makefile", "PKG-INFO", "pyproject.toml", "zensical.toml"}
    pages = {path.name for path in ROOT.glob("*.md")}
    folders = ("src", "tests", "docs", "deploy", "examples", "benchmarks")
    assert files | pages | sources(*folders) <= names
    assert {name for name in names if "/" not in name} - {".gitignore"} == files | pages
    assert {name.partition("/")[0] for name in names if "/" in name} == set(folders)
    assert not [name for name in names if "__pycache__" in name]


def test_the_wheel_holds_the_package_and_nothing_of_this_machine(wheel: Path) -> None:
    package = {name.removeprefix("src/") for name in sources("src")}
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        paths = [os.fsencode(f"{path}/") for path in (ROOT, Path.home(), wheel.parent)]
        assert not [name for name in names if any(path in archive.read(name) for path in paths)]
    assert {name for name in names if not name.startswith(f"lotor-{VERSION}.dist-info/")} == package


def test_the_wheel_works_in_an_empty_environment(wheel: Path, tmp_path: Path) -> None:
    folder = tmp_path / "venv"
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    install = ("-m", "pip", "install", "--quiet", "--only-binary", ":all:")
    run(python, *install, wheel, cwd=tmp_path)
    run(python, "-m", "pip", "check", cwd=tmp_path)

    assert Path(run(python, "-c", SNIPPET, cwd=tmp_path).strip()).is_relative_to(folder)
    assert run(folder / "bin" / "lotor", "--version", cwd=tmp_path).split()[-1] == VERSION
    demo = json.loads(run(folder / "bin" / "lotor", "demo", "--json", cwd=tmp_path))
    assert demo["reward"] == demo["plain_reward"] > 0
    assert demo["same_arms"]
