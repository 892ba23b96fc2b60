"""A bare echo between processes over Lotor's own transport: the yardstick of the federation.

One server sends a frame to each client in every round and waits until all have answered. Run as
`echo.py KIT ADDRESS PEERS SIZE`, by a client with the server's address and name. Either prints a
line when it is up and ends with its standard input, from which the server reads a number of rounds;
it prints the seconds that they took. With one more size, the server's last peer is Comp, which gets
a frame of that size when all others have answered: these are all frames of a federation's round.
"""

import asyncio
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from lotor.crypto.certificates import Subject
from lotor.runtime.daemon.address import Address
from lotor.runtime.daemon.kit import Kit
from lotor.transport import Hello, NetworkTransport, Tls


def hello() -> Hello:
    return Hello(wire=1, journal=1, version="echo", clock=time.time(), card=b"")


def admit(subject: Subject, hello: Hello) -> None:
    """Everybody is welcome."""


class Echo:
    """What client and server have in common: a transport, and a size of frames."""

    def __init__(
        self, kit: Kit, size: int, *, listen: Address | None, dial: Mapping[str, Address]
    ) -> None:
        self.name = kit.subject.name
        self.frame = bytes(size)
        self.net = NetworkTransport(
            me=kit.subject,
            tls=Tls(kit.certificate_path, kit.key_path, kit.fresh_trust),
            listen=listen,
            dial=dial,
            hello=hello,
            admit=admit,
            changed=self.changed,
        )

    def changed(self, peer: str) -> None:
        """Answer every frame."""
        while self.net.receive(self.name, peer) is not None:
            self.net.send(self.name, peer, self.frame)

    def asked(self, line: str) -> None:
        """A client is asked nothing."""


class Server(Echo):
    """Counts answers, and begins the next round when all are there."""

    def __init__(self, kit: Kit, address: Address, clients: list[str], size: int) -> None:
        super().__init__(kit, size, listen=address, dial={})
        self._clients = clients
        self._missing = 0
        self._left = 0
        self._began = 0.0

    def asked(self, line: str) -> None:
        self._left, self._missing = int(line), 0
        self._begin()

    def changed(self, peer: str) -> None:
        while self.net.receive(self.name, peer) is not None:
            self._missing -= 1
            if not self._missing:
                self._next()
        if not self._missing:
            self._begin()

    def _begin(self) -> None:
        """Start the clock as soon as everybody is there."""
        if self._left and all(map(self.net.connected, self._clients)):
            self._began = time.perf_counter()
            self._next()

    def _next(self) -> None:
        if not self._left:
            print(time.perf_counter() - self._began, flush=True)
            return
        self._left -= 1
        self._missing = len(self._clients)
        for client in self._clients:
            self.net.send(self.name, client, self.frame)


class Relay(Server):
    """A server that asks Comp, too, once all clients have answered."""

    def __init__(
        self, kit: Kit, address: Address, clients: list[str], size: int, onward: int
    ) -> None:
        *owners, self._comp = clients
        super().__init__(kit, address, owners, size)
        self._onward = bytes(onward)
        self._busy = False

    def changed(self, peer: str) -> None:
        while self.net.receive(self.name, peer) is not None:
            self._missing -= peer != self._comp
            if peer == self._comp:
                self._next()
            elif not self._missing:
                self.net.send(self.name, self._comp, self._onward)
        if not self._busy and self.net.connected(self._comp):
            self._begin()

    def _next(self) -> None:
        self._busy = self._left > 0
        super()._next()


async def serve(echo: Echo) -> None:
    """Until standard input ends."""
    over = asyncio.Event()

    def read() -> None:
        line = sys.stdin.readline()
        if line:
            echo.asked(line)
        else:
            over.set()

    await echo.net.start()
    print("up", flush=True)
    loop = asyncio.get_running_loop()
    loop.add_reader(sys.stdin, read)
    await over.wait()
    loop.remove_reader(sys.stdin)
    await echo.net.close()


async def main(path: str, address: str, peers: str, size: str, onward: str = "") -> None:
    kit, (host, _, port), names = Kit(Path(path)), address.partition(":"), peers.split(",")
    there = Address(host, int(port))
    if kit.subject.role != "controller":
        await serve(Echo(kit, int(size), listen=None, dial={names[0]: there}))
    elif onward:
        await serve(Relay(kit, there, names, int(size), int(onward)))
    else:
        await serve(Server(kit, there, names, int(size)))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
