"""A TCP proxy, in a process of its own, that makes a network far away out of one that is near.

Each direction takes `delay` seconds. Now and then (`stalls` of all chunks) a direction stands
still for `stall` seconds, as when a packet is lost and sent again. While it is shut, connections
are cut and new ones refused. Run as a script it obeys standard input ("shut", "open"), says when
it refuses the first connection after each "shut", and ends with its input.
"""

import asyncio
import random
import subprocess
import sys
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from types import TracebackType

Address = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Weather:
    """How a network behaves, in seconds and as a share of chunks."""

    delay: float = 0.0
    stall: float = 0.0
    stalls: float = 0.0


class Direction(asyncio.Protocol):
    """Bytes that arrive here leave on the other side, in order and later."""

    def __init__(self, proxy: "Proxy", other: "Direction | None" = None) -> None:
        self._proxy = proxy
        self._loop = asyncio.get_running_loop()
        self._due = 0.0
        self._waiting: deque[bytes | None] = deque()
        self.other = other
        self.transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self._proxy.made(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._proxy.open.discard(self)
        self.transport = None
        self._later(None)

    def data_received(self, data: bytes) -> None:
        self._later(data)

    def _later(self, data: bytes | None) -> None:
        """After the delay, and not before what came earlier; None is the end."""
        self._waiting.append(data)
        self._due = max(self._due, self._loop.time() + self._proxy.takes())
        # Timers of one moment go off in any order, so each takes what is first in line.
        self._loop.call_at(self._due, self._pass)

    def _pass(self) -> None:
        data = self._waiting.popleft()
        out = self.other.transport if self.other is not None else None
        if out is not None and data is not None:
            out.write(data)
        elif out is not None:
            out.close()


@dataclass(slots=True)
class Proxy:
    """Passes connections on to `target`."""

    target: Address
    weather: Weather
    open: set[Direction] = field(default_factory=set)
    refused: Callable[[], None] = lambda: None
    _is_shut: bool = False
    _has_refused: bool = False
    _chance: random.Random = field(default_factory=lambda: random.Random(7))
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    def takes(self) -> float:
        """How long the next chunk is on its way."""
        stalled = self.weather.stalls and self._chance.random() < self.weather.stalls
        return self.weather.delay + (self.weather.stall if stalled else 0.0)

    def shut(self) -> None:
        self._is_shut, self._has_refused = True, False
        self._abort_all()

    def _abort_all(self) -> None:
        for direction in tuple(self.open):
            if direction.transport is not None:
                direction.transport.abort()

    def unshut(self) -> None:
        self._is_shut = False

    def made(self, side: Direction) -> None:
        self.open.add(side)
        if self._is_shut:
            self._abort_all()
            if not self._has_refused:
                self._has_refused = True
                self.refused()
        elif side.other is None and side.transport is not None:
            # Nothing is read before it can be passed on.
            side.transport.pause_reading()
            task = asyncio.get_running_loop().create_task(self._connect(side, side.transport))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _connect(self, near: Direction, transport: asyncio.Transport) -> None:
        loop = asyncio.get_running_loop()
        try:
            _, near.other = await loop.create_connection(
                lambda: Direction(self, near), *self.target
            )
        except OSError:
            transport.abort()
            return
        if not transport.is_closing():
            transport.resume_reading()


async def serve(proxy: Proxy) -> None:
    """Until standard input ends; prints the port first."""
    loop = asyncio.get_running_loop()
    over = asyncio.Event()
    commands = {"shut\n": proxy.shut, "open\n": proxy.unshut, "": over.set}

    def obey() -> None:
        commands[sys.stdin.readline()]()

    def say(line: str) -> None:
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()

    proxy.refused = lambda: say("refused")
    server = await loop.create_server(lambda: Direction(proxy), "127.0.0.1", 0)
    say(str(server.sockets[0].getsockname()[1]))
    loop.add_reader(sys.stdin, obey)
    await over.wait()
    loop.remove_reader(sys.stdin)
    server.close()
    proxy.shut()


class FarAway:
    """The proxy's process, for a `with` block."""

    def __init__(self, target: Address, weather: Weather) -> None:
        host, port = target
        numbers = (port, weather.delay, weather.stall, weather.stalls)
        self._process = subprocess.Popen(  # noqa: S603
            [sys.executable, __file__, host, *map(str, numbers)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        self.address: Address = ("127.0.0.1", int(self._process.stdout.readline()))

    def __enter__(self) -> "FarAway":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.communicate()

    def shut(self) -> None:
        self._say("shut")

    def refuses(self) -> None:
        """Wait until it has refused a connection since it was shut; call once after each time."""
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == "refused\n"

    def open(self) -> None:
        self._say("open")

    def _say(self, word: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{word}\n")
        self._process.stdin.flush()


if __name__ == "__main__":
    _, host, port, *weather = sys.argv
    asyncio.run(serve(Proxy((host, int(port)), Weather(*map(float, weather)))))
