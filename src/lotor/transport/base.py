"""What the runtime asks of a transport: bytes between named parties, in order, nothing else."""

from typing import Protocol as Interface


class Transport(Interface):
    def send(self, sender: str, to: str, payload: bytes) -> None:
        """Deliver after everything that `sender` sent to `to` before.

        A network drops what is sent while `to` is not connected: the layer above sends again
        after each reconnect.
        """

    def receive(self, receiver: str, sender: str) -> bytes | None:
        """The next payload from `sender`, or None when there is none yet."""
