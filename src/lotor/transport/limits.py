"""How much time and memory a network transport lets one peer use."""

import math

import msgspec

from lotor.core.errors import ConfigError

MIB = 1 << 20


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """Bounds on time and memory; the defaults fit a federation on ordinary machines.

    max_frame: bytes of one frame, sent or received.
    handshake: seconds from the TCP connection to the peer's Hello.
    keep_alive: seconds between pings; a peer silent for a whole interval after one is gone.
    backoff_first, backoff_last: seconds before the first retry, and at most, doubling between.
    max_connections: connections accepted at one time, greeted or not.
    outgoing: bytes sent but not yet taken by a peer, beyond which its connection is closed.
    unread: bytes arrived but not yet received, beyond which reading from the peer pauses.
    """

    max_frame: int = 16 * MIB
    handshake: float = 10.0
    keep_alive: float = 20.0
    backoff_first: float = 0.1
    backoff_last: float = 10.0
    max_connections: int = 256
    outgoing: int = 64 * MIB
    unread: int = 32 * MIB

    def __post_init__(self) -> None:
        for field, value in msgspec.structs.asdict(self).items():
            if not (math.isfinite(value) and value > 0):
                raise ConfigError(f"limit {field} is {value}, but must be a number above 0")
