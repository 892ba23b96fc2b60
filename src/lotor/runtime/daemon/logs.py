"""A party's log: lines for people, or JSON for programs.

    log = RunLog(logging.getLogger("lotor.runtime"), run="3f2a")
    log.warning("waits for %s", "porto", extra={"event": "waiting", "round": 7, "peer": "porto"})

Bytes are never shown, line breaks are escaped so that nobody can forge a line, and
of an exception only type and message are written.
"""

import ast
import json
import logging
import re
import sys
from collections.abc import Mapping, MutableMapping
from datetime import UTC, datetime
from typing import Final, Literal, TextIO, TypeAlias

from lotor.core.errors import InputError

Style: TypeAlias = Literal["text", "json"]

LEVELS: Final = ("debug", "info", "warning", "error", "critical")
_PLACES: Final = ("run", "round", "peer", "event")
_LONGEST: Final = 4000
# Not after a hyphen: "cloud-b's" is a name and a little grammar.
_BYTES_LITERAL = re.compile(r"""(?<![\w-])b(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")""", re.DOTALL)


def configure(
    party: str, role: str, style: Style, level: str, stream: TextIO | None = None
) -> None:
    """Send what Lotor logs to `stream` (standard error unless given), and nowhere else."""
    if level.lower() not in LEVELS:
        raise InputError(f"there is no log level {level!r}: choose one of {', '.join(LEVELS)}")
    if style not in _FORMATS:
        raise InputError(f"there is no log style {style!r}: choose one of {', '.join(_FORMATS)}")
    handler = _Handler(sys.stderr if stream is None else stream)
    handler.setFormatter(_FORMATS[style](party, role))
    logger = logging.getLogger("lotor")
    for old in logger.handlers[:]:
        logger.removeHandler(old)
        old.close()
    logger.addHandler(handler)
    logger.setLevel(level.upper())
    logger.propagate = False


class RunLog(logging.LoggerAdapter[logging.Logger]):
    """A logger that names the run in every line."""

    def __init__(self, logger: logging.Logger, run: str) -> None:
        super().__init__(logger, {"run": run})
        self.run = run

    def process(
        self, msg: object, kwargs: MutableMapping[str, object]
    ) -> tuple[object, MutableMapping[str, object]]:
        """Add the run to what the call itself names."""
        given = kwargs.get("extra")
        kwargs["extra"] = {**(given if isinstance(given, dict) else {}), "run": self.run}
        return msg, kwargs


class _Handler(logging.StreamHandler[TextIO]):
    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802
        """A line that cannot be written is lost: the standard report would show its values."""


class _Lines(logging.Formatter):
    def __init__(self, party: str, role: str) -> None:
        super().__init__()
        self._party, self._role = party, role

    def _parts(self, record: logging.LogRecord) -> dict[str, str | int]:
        """All that a line may say; whatever else a record carries is left out."""
        time = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        places = {key: getattr(record, key, None) for key in _PLACES}
        return {
            "time": time.replace("+00:00", "Z"),
            "level": record.levelname.lower(),
            "party": self._party,
            "role": self._role,
            **{key: _place(value) for key, value in places.items() if value is not None},
            "message": _one_line(_message(record)),
        }


class TextLines(_Lines):
    """One line for people: time, level, party, message, then where it happened."""

    def format(self, record: logging.LogRecord) -> str:
        parts = self._parts(record)
        places = ", ".join(f"{key} {parts[key]}" for key in _PLACES if key in parts)
        line = f"{parts['time']} {parts['level']:8} {parts['party']}: {parts['message']}"
        return f"{line} ({places})" if places else line


class JsonLines(_Lines):
    """One JSON object in one line."""

    def format(self, record: logging.LogRecord) -> str:
        return json.dumps(self._parts(record))


_FORMATS: Final[Mapping[str, type[_Lines]]] = {"text": TextLines, "json": JsonLines}


def _message(record: logging.LogRecord) -> str:
    text, args = _safe_text(record.msg), record.args
    try:
        if isinstance(args, Mapping):
            text %= {key: _without_bytes(value) for key, value in args.items()}
        elif args:
            text %= tuple(map(_without_bytes, args))
    except Exception:  # the author's mistake, or an object that cannot be shown
        text += " (with values that do not fit)"
    error = record.exc_info[1] if record.exc_info else None
    if error is not None:
        text += f" ({type(error).__name__}: {_safe_text(error)})"
    return text


def _place(value: object) -> str | int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    return _one_line(_safe_text(value))


def _safe_text(value: object) -> str:
    try:
        return str(_without_bytes(value))
    except Exception:
        return f"<{type(value).__name__}>"


def _without_bytes(value: object) -> object:
    if isinstance(value, memoryview):
        return f"<{value.nbytes} bytes>"
    return f"<{len(value)} bytes>" if isinstance(value, bytes | bytearray) else value


def _one_line(text: str) -> str:
    """Escape what could begin another line or hide something; show bytes by their number only."""
    text = _BYTES_LITERAL.sub(_counted, text)
    if len(text) > _LONGEST:
        text = f"{text[:_LONGEST]}…"
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def _counted(literal: re.Match[str]) -> str:
    """Objects show bytes in their own text, such as Message(body=b'…')."""
    try:
        return f"<{len(ast.literal_eval(literal[0]))} bytes>"
    except (SyntaxError, ValueError):
        return "<bytes>"
