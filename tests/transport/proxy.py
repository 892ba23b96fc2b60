"""A TCP proxy between two parties that can cut, swallow, and pass on only a part."""

import asyncio
import contextlib

from lotor.transport import Address


class Proxy:
    """Passes bytes to `target`; `cut()` breaks all connections, `allow` bounds what passes, and
    while `swallow` is set nothing does."""

    def __init__(self, target: Address) -> None:
        self.target = target
        self.allow: int | None = None
        self.swallow = False
        self._writers: list[asyncio.StreamWriter] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None

    async def __aenter__(self) -> "Proxy":
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        self.cut()
        while self._tasks:
            await asyncio.wait(self._tasks)

    @property
    def address(self) -> Address:
        assert self._server is not None
        host, port = self._server.sockets[0].getsockname()
        return host, port

    def cut(self) -> None:
        for writer in self._writers:
            writer.transport.abort()
        self._writers.clear()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        self._writers.append(writer)
        try:
            there, back = await asyncio.open_connection(*self.target)
        except OSError:
            writer.transport.abort()
            return
        self._writers.append(back)
        if self._server is None or not self._server.is_serving():
            self.cut()
        await asyncio.gather(self._pass(reader, back, limited=True), self._pass(there, writer))

    async def _pass(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, limited: bool = False
    ) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(65_536):
                if self.swallow:
                    continue
                if limited and self.allow is not None:
                    data = data[: self.allow]
                    self.allow -= len(data)
                    if self.allow == 0:
                        writer.write(data)
                        await writer.drain()
                        self.allow = None
                        self.cut()
                        return
                writer.write(data)
                await writer.drain()
        if not self.swallow:
            writer.transport.abort()
