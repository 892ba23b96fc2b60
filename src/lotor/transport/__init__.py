"""Moving bytes between named parties; knows nothing of bandits."""

from lotor.transport.base import Transport
from lotor.transport.memory import MemoryTransport

__all__ = ["MemoryTransport", "Transport"]
