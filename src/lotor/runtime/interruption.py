"""Ctrl-C in a run that is to return what was done so far."""

import signal
import threading
from types import FrameType, TracebackType
from typing import Self


class Interruption:
    """Holds ctrl-C back until a round has ended, so that a result has whole rounds only.

    A second one comes through at once, for rounds that take long. Where ctrl-C means something
    else already, or another thread gets it, nothing is held back.
    """

    def __init__(self) -> None:
        self._noted = False
        self._holds = False

    def __enter__(self) -> Self:
        main = threading.current_thread() is threading.main_thread()
        if main and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            self._holds = True
            signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._holds:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def _note(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002
        if self._noted:
            raise KeyboardInterrupt
        self._noted = True

    def come_through(self) -> None:
        """Raise KeyboardInterrupt if it was held back: a round has ended."""
        if self._noted:
            raise KeyboardInterrupt
