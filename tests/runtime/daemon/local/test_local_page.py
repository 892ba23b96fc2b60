"""docs/local.md lists every request, every field, every refusal and every metric."""

import re
from pathlib import Path

from lotor.runtime.daemon.local import link, server
from lotor.runtime.daemon.local.routes import ROUTES
from runtime.daemon.local.desk import Desk, at_desk

PAGE = (Path(__file__).parents[4] / "docs" / "local.md").read_text()
REQUEST = re.compile(r"^\| `([A-Z]+ /\S+)` \|([^|]*)\|", re.MULTILINE)


def test_every_request_with_its_fields() -> None:
    documented = dict(REQUEST.findall(PAGE))
    expected = {f"{route.method} {route.path}": route.takes for route in ROUTES}
    assert documented.keys() == {"GET /healthz", "GET /metrics", *expected}
    for asked, takes in expected.items():
        fields = () if takes is None else takes.__struct_fields__
        assert set(re.findall(r'"(\w+)":', documented[asked])) == set(fields), asked


def test_every_metric(tmp_path: Path) -> None:
    async def scene(made: Desk) -> None:
        text = (await made.answer(path="/metrics")).body.decode()
        shown = set(re.findall(r"^# HELP (\w+)", text, re.MULTILINE))
        section = PAGE.partition("## What the metrics say")[2]
        named = set(re.findall(r"`(lotor_\w+)`", section))
        assert named == shown | {"lotor_journal_bytes"}

    at_desk(scene, tmp_path)


def test_the_limits() -> None:
    assert f"{server.REQUEST_SECONDS:g} seconds for a request" in PAGE
    assert f"a body above {link.MOST_BODY // 1024} KiB" in PAGE
    assert f"headers above {link.MOST_HEAD // 1024} KiB" in PAGE
    assert f"At most {server.MOST_LINKS} connections" in PAGE
