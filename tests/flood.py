"""A stranger without a certificate who opens connections at a given rate, in a process of its own.

It sends nothing, or the first bytes of TLS, and never answers; its latest thousands of connections
stay open. Run as a script it says when it has begun, goes on until its input ends, and then says
how many it opened.
"""

import resource
import select
import socket
import ssl
import struct
import subprocess
import sys
import time
from collections import deque
from contextlib import suppress
from types import TracebackType

TURN = 0.005
SPARE = 64  # files that are not connections
MOST = 4_096
RESET = struct.pack("ii", 1, 0)


def first_bytes() -> bytes:
    """What a client says first, which makes the other side compute a key and a signature."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    said = ssl.MemoryBIO()
    try:
        context.wrap_bio(ssl.MemoryBIO(), said).do_handshake()
    except ssl.SSLWantReadError:
        return said.read()
    raise AssertionError("nobody has answered, and yet there is TLS")


def attack(host: str, port: int, rate: float, words: bytes) -> int:
    """Open connections until the input ends; how many."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    files = min(hard, MOST) if hard != resource.RLIM_INFINITY else MOST
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, files), hard))
    held: deque[socket.socket] = deque()
    opened, began = 0, time.monotonic()
    sys.stdout.write("begun\n")
    sys.stdout.flush()
    while not select.select([sys.stdin], [], [], TURN)[0]:
        # Not more than a tenth of a second's share at once, where this process had to wait.
        due = min(rate * (time.monotonic() - began) - opened, rate / 10)
        for _ in range(int(due)):
            if len(held) > files - SPARE:
                held.popleft().close()
            one = socket.socket()
            one.setblocking(False)
            one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
            held.append(one)
            one.connect_ex((host, port))
            opened += 1
            # Near by, the kernel has connected it at once; far away, it has not and stays silent.
            if words:
                with suppress(OSError):
                    one.send(words)
        if rate * (time.monotonic() - began) - opened > rate:
            began = time.monotonic() - opened / rate  # what was missed is not made up for
    return opened


class Flood:
    """A stranger at work, until the end of a `with`."""

    def __init__(self, address: tuple[str, int], rate: float, *, speaks: bool = False) -> None:
        self._command = [sys.executable, __file__, *map(str, (*address, rate, int(speaks)))]
        self.opened = 0

    def __enter__(self) -> "Flood":
        self._process = subprocess.Popen(  # noqa: S603
            self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == "begun\n"
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        said, _ = self._process.communicate()
        self.opened = int(said)


if __name__ == "__main__":
    host, port, rate, speaks = sys.argv[1:]
    words = first_bytes() if int(speaks) else b""
    sys.stdout.write(f"{attack(host, int(port), float(rate), words)}\n")
