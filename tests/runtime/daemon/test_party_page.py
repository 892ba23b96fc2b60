"""docs/party.md says the truth, and the hospital example works."""

import asyncio
import re
import shutil
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from lotor.core.effects import Decision
from lotor.core.fixed_point import RewardScale
from lotor.environments import Outcomes
from lotor.runtime.daemon.config import TABLES, PartyConfig, read_config
from lotor.runtime.daemon.function_caller import FunctionCaller
from lotor.runtime.daemon.party_functions import load_function
from lotor.runtime.daemon.resources import reward_in
from lotor.runtime.durable.record import Answer

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "party.md").read_text()
HOSPITAL = ROOT / "examples" / "hospital"
ROW = re.compile(r"^\| `(\w+)` \| (.+?) \| .+ \|$", re.MULTILINE)


def section(title: str) -> str:
    return PAGE.partition(f"\n### {title}\n")[2].partition("\n#")[0]


def documented(default: object) -> str:
    if default is msgspec.NODEFAULT:
        return "required"
    if default is None:
        return "none"
    return f"`{msgspec.json.format(msgspec.json.encode(default), indent=0).decode()}`"


@pytest.mark.parametrize("table", TABLES)
def test_every_key_is_documented_with_its_default(table: str) -> None:
    expected = {}
    for field in msgspec.structs.fields(TABLES[table]):
        default = field.default
        if field.default_factory is not msgspec.NODEFAULT:
            default = None
        expected[field.name] = documented(default)
    assert dict(ROW.findall(section(f"[{table}]" if table else "At the top"))) == expected


@pytest.mark.parametrize("table", PartyConfig.__struct_fields__[2:])
def test_every_table_has_a_section(table: str) -> None:
    assert section(f"[{table}]")


def test_the_hospital_example_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kit = tmp_path / "kit"
    shutil.copytree(HOSPITAL, kit, ignore=shutil.ignore_patterns("*.db", "__pycache__"))
    made = subprocess.run(  # noqa: S603
        [sys.executable, str(kit / "make_patients.py")], capture_output=True, text=True, check=True
    )
    assert "1000 made-up patients" in made.stdout
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "hospital", raising=False)

    owner = read_config(kit / "party.toml").owner
    assert owner is not None
    assert owner.repeatable
    assert owner.pull is not None
    pull = load_function(owner.pull, kit)
    assert isinstance(pull, Outcomes)

    async def asked() -> list[Answer]:
        asker = FunctionCaller(pull, reward_in(RewardScale(*owner.reward_range)))
        rewards = [await asker.call(Decision.named("run", t, 0)) for t in (1, 2, 1)]
        asker.close()
        return rewards

    first, second, again = asyncio.run(asked())
    assert first == again
    assert pull.asked() == [("run/0/1", first), ("run/0/2", second)]


@pytest.mark.parametrize("file", sorted(HOSPITAL.glob("*.py")), ids=lambda file: file.name)
def test_the_example_is_short(file: Path) -> None:
    assert len(file.read_text().splitlines()) < 80
