"""How much time and memory a network transport lets one peer use."""

import math

import msgspec

from lotor.core.errors import ConfigError

MIB = 1 << 20


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """Bounds on time and memory; the defaults fit a federation on ordinary machines.

    Whoever is accepted passes three stages: silent, handshake, peer. The limits of the first two
    are all that a stranger without a certificate can use up; one source (an IPv4 address, or a
    network of IPv6) can have half of each. At the defaults these are at most 512 open files, and
    about a tenth of a core for whoever only connects, a fifth for whoever begins handshakes.

    max_frame: bytes of one frame, sent or received.
    handshake: seconds that an accepted connection may be silent, and as many again from its first
        bytes to the peer's Hello.
    keep_alive: seconds between pings; a peer silent for a whole interval after one is gone.
    backoff_first, backoff_last: seconds before the first retry, and at most, doubling between.
    max_connections: accepted connections of peers, who have said Hello.
    max_silent: accepted connections that have sent nothing yet.
    max_handshakes: accepted connections in their handshake, and as many that wait for theirs.
    accepts, handshakes: connections accepted and handshakes begun in a second. More have to wait,
        in the kernel and with their first bytes unread.
    outgoing: bytes sent but not yet taken by a peer, beyond which its connection is closed. From a
        quarter of it on the messages of runs wait, so that only a peer is cut that takes nothing
        of what cannot wait; it should be at least four times max_frame.
    unread: bytes arrived but not yet received, beyond which reading from the peer pauses.
    """

    max_frame: int = 16 * MIB
    handshake: float = 10.0
    keep_alive: float = 20.0
    backoff_first: float = 0.1
    backoff_last: float = 2.0
    max_connections: int = 256
    max_silent: int = 256
    max_handshakes: int = 128
    accepts: int = 3_000
    handshakes: int = 200
    outgoing: int = 64 * MIB
    unread: int = 32 * MIB

    def __post_init__(self) -> None:
        for field, value in msgspec.structs.asdict(self).items():
            if not (math.isfinite(value) and value > 0):
                raise ConfigError(f"limit {field} is {value}, but must be a number above 0")
