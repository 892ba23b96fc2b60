import json
import logging

import pytest

from lotor.runtime.daemon.logs import JsonLines, TextLines
from lotor.transport.refusals import LINES, RefusalLog


def test_a_rogue_cannot_fill_the_disk(caplog: pytest.LogCaptureFixture) -> None:
    now = 0.0
    log = RefusalLog(lambda: now)
    for _ in range(1_000):
        log.note("refused", "lyon", "no\nway")
    assert len(caplog.records) == LINES
    assert caplog.records[0].getMessage() == "no way"
    assert caplog.records[0].levelno == logging.WARNING
    assert vars(caplog.records[0])["event"] == "refused"
    assert vars(caplog.records[0])["peer"] == "lyon"
    now = 1.0
    log.note("refused", "lyon", "no way")
    assert f"{1_000 - LINES} more" in caplog.records[-1].getMessage()


def test_a_stranger_has_no_name_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    RefusalLog().note("refused", "", "refused somebody")
    (record,) = caplog.records
    assert TextLines("hub", "controller").format(record).endswith("somebody (event refused)")
    assert "peer" not in json.loads(JsonLines("hub", "controller").format(record))
