"""docs/operations.md, followed word by word; and its alarms are about metrics that there are."""

import re
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from deployment.files import DEPLOY
from deployment.test_files import lint
from lotor.runtime.daemon.status import STATES
from pages import ROOT, Page
from test_pages import follow

PAGE = Page(ROOT / "docs" / "operations.md")
RULES = DEPLOY / "lotor.rules.yaml"
METRIC = re.compile(r"\blotor_\w+")


def alarms() -> list[dict[str, Any]]:
    (group,) = yaml.safe_load(RULES.read_text())["groups"]
    found: list[dict[str, Any]] = group["rules"]
    return found


@pytest.mark.long
@pytest.mark.skipif(shutil.which("curl") is None, reason="the page asks by curl")
def test_the_page_leads_from_nothing_to_a_settled_run(tmp_path: Path) -> None:
    said = follow(PAGE, tmp_path)
    assert "total reward 19.5 " in said
    assert 'lotor_runs{state="finished"} 1.0' in said
    assert (tmp_path / "lyon.backup").exists()
    assert "bern" not in (tmp_path / "trial" / "customer" / "party.toml").read_text()


def test_each_alarm_says_what_to_do_and_is_on_the_page() -> None:
    rows = re.findall(r"^\| `(Lotor\w+)` \|", PAGE.path.read_text(), re.MULTILINE)
    assert rows == [alarm["alert"] for alarm in alarms()]
    for alarm in alarms():
        assert set(alarm) <= {"alert", "expr", "for", "labels", "annotations"}
        assert alarm["labels"]["severity"] in ("page", "ticket")
        assert set(alarm["annotations"]) == {"summary", "do"}
        assert re.fullmatch(r"\d+[mhd]", alarm.get("for", "1m"))


def test_alarms_are_about_metrics_and_states_that_there_are() -> None:
    known = set(METRIC.findall((ROOT / "docs" / "local.md").read_text()))
    for alarm in alarms():
        named = set(METRIC.findall(alarm["expr"]))
        assert named <= known
        assert named or alarm["expr"].startswith("up{")
        assert set(re.findall(r'state="([^"]*)"', alarm["expr"])) <= set(STATES)


def test_prometheus_understands_the_alarms() -> None:
    lint("promtool", "check", "rules", RULES)
