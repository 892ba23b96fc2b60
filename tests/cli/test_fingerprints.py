"""A party has one fingerprint, whichever command prints it."""

import json
import re
from pathlib import Path
from typing import Any

from commands import lotor as command
from lotor.runtime.daemon.kit import Kit
from runtime.daemon.stage import Stage, play

_PRINTED = re.compile(r"\b[0-9a-f]{4}(?:\s+[0-9a-f]{4}){15}\b")


def out(*arguments: str) -> str:
    done = command(*arguments)
    assert not done.stdout or done.returncode in (0, 1), done.stderr
    return done.stdout


def said(*arguments: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(out(*arguments, "--json"))
    return document


def printed(text: str) -> set[str]:
    """All fingerprints in a text, however its lines are broken."""
    return {" ".join(found.split()) for found in _PRINTED.findall(text)}


def test_a_party_has_the_same_fingerprint_everywhere(tmp_path: Path) -> None:
    runs: list[str] = []

    async def scene(made: Stage) -> None:
        runs.append(await made.order())
        await made.finishes(runs[0])

    play(scene, tmp_path)
    kits = {path.name: path for path in tmp_path.iterdir() if path.is_dir()}
    kit, authority = str(kits["lyon"]), str(kits["authority"])
    places: dict[str, str] = {}
    request = f"{kit}/request.pem"
    places["renew"] = said("keys", "renew", "--kit", kit)["fingerprint"]
    places["request"] = said("keys", "show", request)["fingerprint"]
    signed = str(tmp_path / "lyon.pem")
    sign = ("keys", "sign", request, "--authority", authority, "--out", signed, "--yes")
    places["sign"] = said(*sign)["fingerprint"]
    places["install"] = said("keys", "install", signed, "--kit", kit)["fingerprint"]
    places["kit"] = said("keys", "show", kit)["fingerprint"]
    issued = said("keys", "show", authority)["issued"]
    (places["authority"],) = {one["fingerprint"] for one in issued if one["name"] == "lyon"}
    others = {Kit(kits["lyon"]).trust.fingerprint}
    (places["doctor"],) = printed(out("doctor", "--kit", kit)) - others
    shown = ("runs", "show", runs[0], "--kit", str(kits["customer"]))
    places["runs show --json"] = said(*shown)["members"]["lyon"]["fingerprint"]
    assert places["kit"] in printed(out(*shown))
    assert len(set(places.values())) == 1, places
