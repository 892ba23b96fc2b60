"""What the runtime asks of a transport: bytes between named parties, in order, nothing else.

There are two interfaces, since there are two ways to run parties:

- `Transport`: all parties are in this process. `lotor.run` calls `send` and `receive` for each of
  them in turn. `MemoryTransport` is the default.
- `PartyTransport`: this process is one party, and the others come and go. A daemon makes one with
  a `PartyTransportFactory` and is told by a callback when something has changed.
  `NetworkTransport` (mutual TLS 1.3) is the default; `MemoryNetwork().join` connects daemons of
  one process.

To bring your own transport, write a class with the methods of the interface; nothing is inherited.
Hand an object with the methods of `Transport` to `lotor.run(..., transport=...)`. Hand a callable
that takes the arguments of `PartyTransportFactory`, such as the class itself, as `transport` to
`serve`, `served` or `follow` of lotor.runtime.daemon.serving. A `PartyTransport` must authenticate
its peers: the daemon believes that a frame comes from the party whose certificate `certificate`
returns. Every transport must pass its suite: tests/transport/test_transports.py and
tests/transport/test_party_transports.py.
"""

from collections.abc import Callable, Mapping
from typing import Protocol as Interface

from lotor.core.errors import LotorError
from lotor.crypto.certificates import Subject
from lotor.transport.handshake import Hello
from lotor.transport.limits import Limits
from lotor.transport.stream import Address
from lotor.transport.tls import Tls


class Transport(Interface):
    """Moves bytes between named parties."""

    def send(self, sender: str, to: str, payload: bytes) -> None:
        """Deliver after everything that `sender` sent to `to` before."""

    def receive(self, receiver: str, sender: str) -> bytes | None:
        """The next payload from `sender`, or None when there is none yet."""


class PartyTransport(Transport, Interface):
    """One party's connections to all others; parties are named as in their certificates.

    A frame to a peer that is not connected is dropped, and frames on their way when a connection
    is cut may be lost: the layer above sends again what was not acknowledged whenever `session`
    of a peer has changed. Within one session frames arrive in order, each once. `send` and
    `receive` raise TransportError for a sender or receiver that is not this party.
    """

    async def start(self) -> None:
        """Listen, and start to dial; peers are connected when they can be."""

    async def close(self) -> None:
        """Close every connection; nothing is called back afterwards."""

    @property
    def address(self) -> Address | None:
        """Where this party listens; None if it does not."""

    def session(self, peer: str) -> int:
        """The number of the connection that is up, or 0 where none is."""

    def admits(self, peer: str) -> bool:
        """Whether a peer is connected, and takes more than what waits to be sent to it.

        Frames that are sent regardless are not lost for that, but a connection for which far too
        much waits may be closed. `changed` is called when a full one admits frames again.
        """

    def certificate(self, peer: str) -> bytes | None:
        """The certificate (DER) that the peer has proven to be its own; None if not connected."""

    def hello_of(self, peer: str) -> Hello | None:
        """What the peer said when it connected last."""

    def down_since(self, peer: str) -> float | None:
        """When the peer went away (time.monotonic), at the latest the start; None if connected."""

    def last_error(self, peer: str) -> LotorError | None:
        """Why the peer is not connected, as far as known; None if it is."""

    def kick(self, peer: str, error: LotorError) -> None:
        """Close the connection to a peer and tell it why; either side may connect again."""


class PartyTransportFactory(Interface):
    """Makes the transport of one party; called within the event loop that it will run in."""

    def __call__(
        self,
        *,
        me: Subject,
        tls: Tls,
        listen: Address | None,
        dial: Mapping[str, Address],
        hello: Callable[[], Hello],
        admit: Callable[[Subject, Hello], None],
        changed: Callable[[str], None],
        limits: Limits | None = None,
    ) -> PartyTransport:
        """`me` is this party, and `tls` has its certificate and knows whom it trusts.

        It accepts connections at `listen`, and keeps a connection to each party of `dial`. On each
        new connection both sides exchange `hello()`. `admit(subject, hello)` may raise a
        LotorError, which refuses the peer and is told to it. `changed(peer)` must be called in the
        event loop, and never from within `send`, when frames of the peer have arrived, when its
        connection has gone up or down, and when that admits frames again; it does not raise.
        """
