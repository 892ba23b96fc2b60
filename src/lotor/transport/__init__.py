"""Moving bytes between named parties; knows nothing of bandits."""

from lotor.transport.base import PartyTransport, PartyTransportFactory, Transport
from lotor.transport.dialer import probe
from lotor.transport.handshake import Hello, Refusal
from lotor.transport.limits import Limits
from lotor.transport.memory import MemoryNetwork, MemoryTransport
from lotor.transport.network import NetworkTransport
from lotor.transport.stream import Address
from lotor.transport.tls import Tls

__all__ = [
    "Address",
    "Hello",
    "Limits",
    "MemoryNetwork",
    "MemoryTransport",
    "NetworkTransport",
    "PartyTransport",
    "PartyTransportFactory",
    "Refusal",
    "Tls",
    "Transport",
    "probe",
]
