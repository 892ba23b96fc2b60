"""Certified parties that do as they like: a daemon's transport that was changed, and no daemon."""

from collections.abc import Callable, Iterable
from pathlib import Path

from lotor.core.errors import LotorError
from lotor.protocols.form import Contribution
from lotor.runtime.daemon.config import read_config
from lotor.runtime.daemon.frames import WIRE_VERSION, AnyFrame, Card, decode, encode
from lotor.runtime.daemon.kit import Kit
from lotor.runtime.durable.frames import Data, RunFrame
from lotor.runtime.durable.journal import JOURNAL_VERSION
from lotor.transport import Hello, Limits, NetworkTransport, Tls
from runtime.daemon.waiting import until

Sent = Iterable[RunFrame | bytes]
Twist = Callable[[str, RunFrame], Iterable[RunFrame | bytes]]


def honest(name: str, frame: RunFrame) -> Iterable[RunFrame | bytes]:
    return [frame]


class MeddlingTransport(NetworkTransport):
    """The transport of a daemon whose operator has changed what it sends."""

    twist: Twist = staticmethod(honest)

    def send(self, sender: str, to: str, payload: bytes) -> None:
        for sent in self.twist(to, decode(payload, sender)):
            super().send(sender, to, sent if isinstance(sent, bytes) else encode(sent))


def once(
    matches: Callable[[str, RunFrame], bool],
    change: Callable[[RunFrame], Iterable[RunFrame | bytes]],
) -> Twist:
    """Change the first frame that matches, and behave from then on."""
    done: list[bool] = []

    def twist(name: str, frame: RunFrame) -> Iterable[RunFrame | bytes]:
        if done or not matches(name, frame):
            return [frame]
        done.append(True)
        return change(frame)

    return twist


def message(number: int, to: str = "controller") -> Callable[[str, RunFrame], bool]:
    return lambda name, frame: name == to and isinstance(frame, Data) and frame.seq == number


class Stranger:
    """A certified party without any daemon: it says to Controller what it likes."""

    def __init__(self, kit: Path, brings: Contribution | None = None) -> None:
        self.kit = Kit(kit)
        self.name = self.kit.subject.name
        self.frames: list[AnyFrame] = []
        self.errors: list[LotorError] = []
        card = Card(self.kit.certificate.to_der(), brings or Contribution())
        hello = Hello(WIRE_VERSION, JOURNAL_VERSION, "0", 0.0, encode(card))
        self.net = NetworkTransport(
            me=self.kit.subject,
            tls=Tls(self.kit.certificate_path, self.kit.key_path, self.kit.fresh_trust),
            listen=None,
            dial=read_config(self.kit.party_toml).peers,
            hello=lambda: hello,
            admit=lambda subject, hello: None,
            changed=self._changed,
            limits=Limits(backoff_first=0.01, backoff_last=0.02),
        )

    def _changed(self, peer: str) -> None:
        while (payload := self.net.receive(self.name, peer)) is not None:
            self.frames.append(decode(payload, peer))
        error = self.net.last_error(peer)
        if not self.net.connected(peer) and error is not None:
            self.errors.append(error)

    async def say(self, *frames: RunFrame | bytes) -> None:
        await until(lambda: self.net.connected("controller"))
        for frame in frames:
            payload = frame if isinstance(frame, bytes) else encode(frame)
            self.net.send(self.name, "controller", payload)

    async def refused(self, *frames: RunFrame | bytes) -> str:
        """Say something, and be told why that ends the connection."""
        told = len(self.errors)
        await self.say(*frames)
        await until(lambda: len(self.errors) > told)
        return str(self.errors[told])


def data(frame: RunFrame) -> Data:
    assert isinstance(frame, Data)
    return frame


def flipped(payload: bytes, place: int = -1) -> bytes:
    altered = bytearray(payload)
    altered[place] ^= 1
    return bytes(altered)
