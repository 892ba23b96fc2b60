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
        assert name in today[command], f"`{command}` has no {name} any more"
        option = today[command][name]
        for what in ("default", "required"):
            assert option[what] == recorded[what], f"`{command}` {name}: {what}"
        missing = set(recorded["choices"]) - set(option["choices"])
        # Without choices anything may be written.
        assert not missing or not option["choices"], f"`{command}` {name} takes no {missing}"


@pytest.mark.parametrize("line", surface.DOCUMENTS)
def test_json_keeps_its_keys(tmp_path: Path, line: str) -> None:
    with seeds.small_keys():
        today = surface.keys(tmp_path, line)
    recorded = RECORDED[f"lotor {line} --json"]
    changed = {path: (recorded[path], today.get(path)) for path in surface.lost(today, recorded)}
    assert not changed, f"lotor {line} --json, recorded and today: {changed}"
