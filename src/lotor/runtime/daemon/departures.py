"""When the frames of a run may leave: at times that do not tell how long an answer took."""

import math
from collections import Counter, deque
from collections.abc import Callable

from lotor.core.errors import ProtocolError
from lotor.runtime.daemon.clock import Alarm, Clock
from lotor.runtime.durable.link import BYTES_AHEAD, MESSAGES_AHEAD


class Departures:
    """Hides from peers when a party has answered a question, and whether it had anything to do.

    It is closed from the question on until `tick` seconds after the message that led to it. The
    party goes on as soon as it can, and all that it sends leaves when the time has come. What peers
    send meanwhile waits, too: what becomes of it could tell how far the party is. It is taken after
    all has left, or a peer could send so much that an answer behind it were late. If the answer
    comes too late, everything leaves at the next whole tick.

    While it is `closed`, frames must be held. While it is `open`, nothing is held, and the party
    may go on freely. While what was held leaves, it is neither.
    """

    def __init__(self, tick: float, clock: Clock, opened: Callable[[float], None]) -> None:
        """`opened` is called with the moment when it was due to open, after what was held."""
        self._tick = tick
        self._clock = clock
        self._opened = opened
        self.open, self.closed = True, False
        self._began = self._due = 0.0
        self._answered = False
        self._alarm: Alarm | None = None
        self._leaving: deque[tuple[str, Callable[[], None]]] = deque()
        self._arrived: deque[tuple[str, Callable[[], None]]] = deque()
        self._arrived_bytes: Counter[str] = Counter()

    @property
    def hiding(self) -> bool:
        """Whether nobody can tell yet that something is the matter with the answer."""
        return self.closed and self._clock.now() < self._began + self._tick

    def close(self, began: float) -> None:
        """The party has a question, because of a message that came at this moment."""
        if self._tick:
            self.open, self.closed, self._answered = False, True, False
            self._began, self._due = began, began + self._tick
            self._alarm = self._clock.call_at(self._due, self._leave)

    def answered(self) -> float | None:
        """Take note that the answer is there and used; if that was late, how long it took."""
        if not self.closed:
            return None
        self._answered = True
        now = self._clock.now()
        if now > self._due:
            self._wait_for_next_tick()
        return now - self._began if now > self._began + self._tick else None

    def hold(self, seat: str, action: Callable[[], None]) -> None:
        """Do something that a seat would notice when it is time to; at once if that is now."""
        self._put_off(self._leaving, seat, action)

    def _put_off(
        self,
        queue: deque[tuple[str, Callable[[], None]]],
        seat: str,
        action: Callable[[], None],
    ) -> None:
        if not self.closed:
            action()
            return
        queue.append((seat, action))
        if self._alarm is None:
            self._wait_for_next_tick()

    def take(self, seat: str, size: int, action: Callable[[], None]) -> None:
        """Hold a message of a seat, which must not send any number of them meanwhile."""
        self._arrived_bytes[seat] += size + BYTES_AHEAD // MESSAGES_AHEAD
        if self._arrived_bytes[seat] > 2 * BYTES_AHEAD:
            raise ProtocolError(
                f"{seat} does not wait for this party's answers: it is out of step, or floods "
                "this party"
            )
        self._put_off(self._arrived, seat, action)

    def forget(self, seat: str) -> None:
        """Drop what is held for or from a seat whose connection is gone."""
        self._leaving = deque(one for one in self._leaving if one[0] != seat)
        self._arrived = deque(one for one in self._arrived if one[0] != seat)
        del self._arrived_bytes[seat]

    def clear(self) -> None:
        """Drop everything, and open."""
        self.open, self.closed = True, False
        self._leaving.clear()
        self._arrived.clear()
        self._arrived_bytes.clear()
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None

    def _wait_for_next_tick(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
        ticks = math.floor((self._clock.now() - self._began) / self._tick) + 1
        self._due = self._began + ticks * self._tick
        self._alarm = self._clock.call_at(self._due, self._leave)

    def _leave(self) -> None:
        """Let all leave in its order, and then take what has come, in its order."""
        self._alarm, self.closed = None, False
        self._arrived_bytes.clear()
        # Where an action ends the run, or a seat is gone, nothing of it is held any more.
        while self._leaving or self._arrived:
            _, action = (self._leaving or self._arrived).popleft()
            action()
        if self.open:
            return
        if self._answered:
            self.open = True
            self._opened(self._due)
        else:
            self.closed = True
