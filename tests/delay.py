"""A TCP proxy, in a process of its own, that makes a network far away out of one that is near.

Each direction takes `delay` seconds. Now and then (`stalls` of all chunks) a direction stands
still for `stall` seconds, as when a packet is lost and sent again. While it is shut, connections
are cut and new ones refused. Run as a script it obeys standard input ("shut", "open"), and ends
with it.
"""

import asyncio
import random
import subprocess
import sys
from dataclasses import dataclass, field
from types import TracebackType

Address = tuple[str, int]
CHUNK = 65_536


@dataclass(frozen=True, slots=True)
class Weather:
    """How a network behaves, in seconds and as a share of chunks."""

    delay: float = 0.0
    stall: float = 0.0
    stalls: float = 0.0


class Direction(asyncio.Protocol):
    """Bytes that arrive here leave on the other side, in order and later."""

    def __init__(self, proxy: "Proxy") -> None:
        self._proxy = proxy
        self._loop = asyncio.get_running_loop()
        self._due = 0.0
        self._waiting: list[bytes] = []
        self.other: Direction | None = None
        self.transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self._proxy.open.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._proxy.open.discard(self)
        self.transport = None
        self._later(self._end_other)

    def data_received(self, data: bytes) -> None:
        self._later(self._pass, data)

    def _later(self, act: object, *arguments: bytes) -> None:
        """After the delay, and after all that came before."""
        assert callable(act)
        self._due = max(self._due, self._loop.time() + self._proxy.takes())
        self._loop.call_at(self._due, act, *arguments)

    def _pass(self, data: bytes) -> None:
        if self.other is None:
            self._waiting.append(data)
        elif self.other.transport is not None:
            self.other.transport.write(data)

    def _end_other(self) -> None:
        if self.other is not None and self.other.transport is not None:
            self.other.transport.close()

    def meet(self, other: "Direction") -> None:
        self.other = other
        for data in self._waiting:
            self._pass(data)
        self._waiting.clear()
        if self.transport is None:
            self._end_other()


@dataclass(slots=True)
class Proxy:
    """Passes connections on to `target`."""

    target: Address
    weather: Weather
    open: set[Direction] = field(default_factory=set)
    _is_shut: bool = False
    _chance: random.Random = field(default_factory=lambda: random.Random(7))
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    def takes(self) -> float:
        """How long the next chunk is on its way."""
        stalled = self.weather.stalls and self._chance.random() < self.weather.stalls
        return self.weather.delay + (self.weather.stall if stalled else 0.0)

    def shut(self) -> None:
        self._is_shut = True
        for direction in tuple(self.open):
            if direction.transport is not None:
                direction.transport.abort()

    def unshut(self) -> None:
        self._is_shut = False

    def accept(self) -> Direction:
        near = Direction(self)
        task = asyncio.get_running_loop().create_task(self._connect(near))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return near

    async def _connect(self, near: Direction) -> None:
        loop = asyncio.get_running_loop()
        try:
            if self._is_shut:
                raise ConnectionRefusedError
            _, far = await loop.create_connection(lambda: Direction(self), *self.target)
        except OSError:
            if near.transport is not None:
                near.transport.abort()
            return
        far.meet(near)
        near.meet(far)


async def serve(proxy: Proxy) -> None:
    """Until standard input ends; prints the port first."""
    loop = asyncio.get_running_loop()
    over = asyncio.Event()
    commands = {"shut\n": proxy.shut, "open\n": proxy.unshut, "": over.set}

    def obey() -> None:
        commands[sys.stdin.readline()]()

    server = await loop.create_server(proxy.accept, "127.0.0.1", 0)
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
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

    def open(self) -> None:
        self._say("open")

    def _say(self, word: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{word}\n")
        self._process.stdin.flush()


if __name__ == "__main__":
    _, host, port, *weather = sys.argv
    asyncio.run(serve(Proxy((host, int(port)), Weather(*map(float, weather)))))
