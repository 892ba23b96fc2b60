import io
import json
import logging
from collections.abc import Iterator
from datetime import datetime, timedelta

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lotor.core.errors import InputError, ProtocolError
from lotor.runtime.daemon.logs import RunLog, Style, configure

LOGGER = logging.getLogger("lotor.tests")


@pytest.fixture(autouse=True, scope="module")
def _restored() -> Iterator[None]:
    root = logging.getLogger("lotor")
    before = (root.handlers[:], root.level, root.propagate)
    yield
    root.handlers[:], root.level, root.propagate = before


def stream(style: Style = "json", level: str = "info") -> io.StringIO:
    written = io.StringIO()
    configure("lyon", "owner", style, level, written)
    return written


def logged(message: object, *args: object, style: Style = "json", **extra: object) -> str:
    written = stream(style)
    LOGGER.warning(message, *args, extra=extra)
    return written.getvalue()


anything = st.text() | st.binary() | st.integers() | st.lists(st.binary()) | st.none()


@given(
    message=st.text(),
    peer=anything,
    event=anything,
    style=st.sampled_from(["text", "json"]),
)
def test_a_record_is_one_printable_line(
    message: str, peer: object, event: object, style: Style
) -> None:
    line = logged("%s", message, style=style, peer=peer, event=event)
    assert line.endswith("\n")
    assert line[:-1].isprintable()


@given(
    data=st.binary().map(lambda data: b"SECRET" + data + b"SECRET"),
    style=st.sampled_from(["text", "json"]),
)
def test_bytes_are_never_shown(data: bytes, style: Style) -> None:
    class Sealed(msgspec.Struct):
        body: bytes

    bare = logged("x%s", data, style=style, peer=data)
    assert bare.count(f"<{len(data)} bytes>") == 2
    for line in (
        bare,
        logged("%r", Sealed(data), style=style),
        logged("%s", [data], style=style),
        logged(f"got {data!r}", style=style),
        logged("%(a)s", {"a": bytearray(data)}, style=style),
        logged("%s", memoryview(data), style=style),
        logged(data, style=style),
    ):
        assert f"<{len(data)} bytes>" in line
        assert "SECRET" not in line


def test_a_name_with_an_apostrophe_is_not_taken_for_bytes() -> None:
    text = "cloud-b's certificate is not from 'acme'"
    assert json.loads(logged(text))["message"] == text


@given(round_=st.integers(), peer=st.text(), secret=st.integers())
def test_json_has_the_known_fields_and_no_others(round_: int, peer: str, secret: int) -> None:
    line = logged("hello", event="waiting", run="3f", round=round_, peer=peer, secret=secret)
    record = json.loads(line)
    assert list(record) == [
        *("time", "level", "party", "role", "run", "round", "peer", "event", "message"),
    ]
    assert (record["level"], record["party"], record["role"]) == ("warning", "lyon", "owner")
    assert (record["round"], record["run"], record["message"]) == (round_, "3f", "hello")
    assert datetime.fromisoformat(record["time"]).utcoffset() == timedelta(0)


def test_a_line_for_people() -> None:
    line = logged("waits for %s", "porto", style="text", run="3f", round=7, event="waiting")
    assert line.partition("Z ")[2] == (
        "warning  lyon: waits for porto (run 3f, round 7, event waiting)\n"
    )
    assert logged("hello", style="text").endswith("lyon: hello\n")


@pytest.mark.parametrize("style", ["text", "json"])
def test_an_exception_is_type_and_message_in_one_line(style: Style) -> None:
    written = stream(style)
    try:
        try:
            raise KeyError("0.73")
        except KeyError as error:
            raise ProtocolError("bad\nmessage") from error
    except ProtocolError:
        LOGGER.exception("it failed", stack_info=True)
    line = written.getvalue()
    assert "it failed (ProtocolError: bad\\" in line
    assert line.count("\n") == 1
    assert "0.73" not in line
    assert "Traceback" not in line


def test_a_run_log_names_its_run() -> None:
    written = stream()
    log = RunLog(LOGGER, "3f")
    log.info("a", extra={"round": 2, "run": "forged"})
    log.info("b")
    first, second = map(json.loads, written.getvalue().splitlines())
    assert (first["run"], first["round"], second["run"]) == ("3f", 2, "3f")


def test_levels_count_and_the_last_configuration_holds() -> None:
    first = stream(level="DEBUG")
    LOGGER.debug("seen")
    second = stream(level="error")
    LOGGER.warning("not seen")
    LOGGER.error("seen")
    assert first.getvalue().count("\n") == 1
    assert second.getvalue().count("\n") == 1


class Unshowable:
    def __str__(self) -> str:
        raise RuntimeError("secret")


def test_what_cannot_be_shown_harms_nobody(capsys: pytest.CaptureFixture[str]) -> None:
    assert "do not fit" in logged("%s", Unshowable())
    assert "do not fit" in logged("%s %s", "one")
    assert "<Unshowable>" in logged("x", peer=Unshowable())
    written = stream()
    written.close()
    LOGGER.error("lost")
    assert capsys.readouterr() == ("", "")


def test_a_long_text_is_cut() -> None:
    assert len(logged("x" * 1_000_000)) < 5000


@pytest.mark.parametrize(("style", "level"), [("xml", "info"), ("text", "loud"), ("text", "")])
def test_an_unknown_style_or_level_is_refused(style: Style, level: str) -> None:
    with pytest.raises(InputError, match="there is no log"):
        configure("lyon", "owner", style, level)
