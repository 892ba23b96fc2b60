"""A log of refused connections that a hostile peer cannot use to fill the disk."""

import logging
import time
from collections.abc import Callable

from lotor.transport.handshake import plain_text

logger = logging.getLogger("lotor.transport")
LINES = 5  # a second, after as many at once


class RefusalLog:
    """Writes a few warnings a second, and counts the rest."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._allowed = float(LINES)
        self._last = clock()
        self._skipped = 0

    def note(self, event: str, peer: str, reason: str) -> None:
        now = self._clock()
        self._allowed = min(LINES, self._allowed + (now - self._last) * LINES)
        self._last = now
        if self._allowed < 1:
            self._skipped += 1
            return
        self._allowed -= 1
        text = plain_text(reason)
        if self._skipped:
            text += f" (and {self._skipped} more since the last such line)"
            self._skipped = 0
        # A stranger has no name.
        logger.warning("%s", text, extra={"event": event, "peer": peer or None})
