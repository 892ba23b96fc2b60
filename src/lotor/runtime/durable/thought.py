"""One step of a slow party, which the thread that drives it does not wait for."""

from collections.abc import Callable


class Thought:
    """`think` may be called in any one thread; all else is for the thread that drives the party."""

    def __init__(self, work: Callable[[], object]) -> None:
        self._work = work
        self._outcome: object = None
        self._error: BaseException | None = None
        self.over = False
        self.ended = False

    def think(self) -> None:
        """Do it; what comes of it, an error included, is kept."""
        try:
            self._outcome = self._work()
        except StopIteration as end:
            self.ended, self._outcome = True, end.value
        except BaseException as error:
            self._error = error
        self.over = True

    def outcome(self) -> object:
        """What it came to, or its error; with `ended`, what the party returned."""
        if self._error is not None:
            raise self._error
        return self._outcome
