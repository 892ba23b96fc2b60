"""No command, option or key of JSON is lost; new ones are welcome."""

import json
from pathlib import Path
from typing import Any

import pytest

from golden import seeds, surface

RECORDED: dict[str, Any] = json.loads(surface.RECORDED.read_text())
COMMANDS = {name: found for name, found in RECORDED.items() if not name.endswith(" --json")}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_keeps_its_options_and_their_defaults(command: str) -> None:
    today = surface.offered()
    assert command in today, f"`{command}` is gone"
    for name, recorded in COMMANDS[command].items():
        if name in surface.GONE.get(command, ()):
            continue
        assert name in today[command], f"`{command}` has no {name} any more"
        option = today[command][name]
        # Where no default was stated, one may be stated now.
        stated = "given" if recorded["default"] == "None" else "default"
        assert option[stated] == recorded["default"], f"`{command}` {name}: default"
        assert option["required"] == recorded["required"], f"`{command}` {name}: required"
        missing = set(recorded["choices"]) - set(option["choices"])
        # Without choices anything may be written.
        assert not missing or not option["choices"], f"`{command}` {name} takes no {missing}"


@pytest.mark.parametrize("line", surface.DOCUMENTS)
def test_json_keeps_its_keys(tmp_path: Path, line: str) -> None:
    with seeds.small_keys():
        today = surface.keys(tmp_path, line)
    command = f"lotor {surface.FORMERLY.get(line, line)} --json"
    recorded, gone = RECORDED[command], surface.GONE.get(command, ())
    lost = [path for path in surface.lost(today, recorded) if path not in gone]
    changed = {path: (recorded[path], today.get(path)) for path in lost}
    assert not changed, f"lotor {line} --json, recorded and today: {changed}"


def test_what_is_gone_was_there_and_is_named_in_the_changelog() -> None:
    log = (Path(__file__).parents[2] / "CHANGELOG.md").read_text()
    today = surface.offered()
    for command, names in surface.GONE.items():
        for name in names:
            assert name in RECORDED[command]
            assert name not in today.get(command, ())
            assert name.rpartition("/")[2] in log.partition("### Changed")[2]
