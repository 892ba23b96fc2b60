"""Parties with certificates of one authority, for tests of the network transport."""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from lotor.core.errors import LotorError
from lotor.crypto.certificates import Certificate, CertificateAuthority, PartyKey, Subject, Trust
from lotor.transport import Address, Hello, Limits, NetworkTransport, Tls

# Quick to try again, but patient with a busy machine.
QUICK = Limits(handshake=30.0, backoff_first=0.01, backoff_last=0.05)
HELLO = Hello(wire=1, journal=1, version="0.2.0", clock=0.0, card=b"card")


def hello() -> Hello:
    return HELLO


def admit(subject: Subject, hello: Hello) -> None:
    """Everybody is welcome."""


class Federation:
    """An authority, its parties' files, and a revocation list that grows."""

    def __init__(self, folder: Path, name: str = "clinics") -> None:
        self.folder = folder
        self.authority = CertificateAuthority.create(name)
        self.certificates: dict[str, Certificate] = {}
        self._revoked: dict[int, datetime] = {}
        self._trust = Trust(self.authority.certificate_pem)

    def trust(self) -> Trust:
        return self._trust

    def revoke(self, name: str) -> None:
        self._revoked[self.certificates[name].serial] = datetime.now(UTC)
        self._trust = Trust(
            self.authority.certificate_pem, self.authority.revocations(self._revoked)
        )

    def join(
        self,
        name: str,
        role: str = "owner",
        *,
        days: int = 30,
        now: datetime | None = None,
        password: bytes | None = None,
    ) -> Tls:
        """A party's certificate and key, written to files, and its Tls."""
        key = PartyKey.new()
        request = key.request(Subject(name, role))
        self.certificates[name] = self.authority.sign(request, days, now=now)
        certificate_path = self.folder / f"{name}.certificate.pem"
        key_path = self.folder / f"{name}.key.pem"
        certificate_path.write_bytes(self.certificates[name].to_pem())
        key_path.write_bytes(key.to_pem(password))
        return Tls(certificate_path, key_path, self.trust, password=password)


class Party:
    """A network transport, and a way to wait until something is so."""

    def __init__(
        self,
        tls: Tls,
        *,
        listen: bool | Address = False,
        dial: Mapping[str, Address] | None = None,
        limits: Limits = QUICK,
        hello: Callable[[], Hello] = hello,
        admit: Callable[[Subject, Hello], None] = admit,
    ) -> None:
        self.name = tls.subject().name
        self.changes: list[str] = []
        self._waiters: list[asyncio.Event] = []
        self.net = NetworkTransport(
            me=tls.subject(),
            tls=tls,
            listen=("127.0.0.1", 0) if listen is True else listen or None,
            dial=dial or {},
            hello=hello,
            admit=admit,
            changed=self._on_change,
            limits=limits,
        )

    @property
    def address(self) -> Address:
        assert self.net.address is not None
        return self.net.address

    def _on_change(self, peer: str) -> None:
        self.changes.append(peer)
        for waiter in self._waiters:
            waiter.set()

    def send(self, to: str, payload: bytes) -> None:
        self.net.send(self.name, to, payload)

    async def receive(self, sender: str) -> bytes:
        frames: list[bytes] = []

        def arrived() -> bool:
            frame = self.net.receive(self.name, sender)
            if frame is not None:
                frames.append(frame)
            return frame is not None

        await self.until(arrived)
        return frames[0]

    async def until(self, true: Callable[[], bool]) -> None:
        """Wait until `true()` holds; the test fails if that takes far too long."""
        async with asyncio.timeout(90):
            waiter = asyncio.Event()
            self._waiters.append(waiter)
            while not true():
                waiter.clear()
                # An error of a dialler changes without a call, so look now and then.
                try:
                    await asyncio.wait_for(waiter.wait(), 0.02)
                except TimeoutError:
                    continue
            self._waiters.remove(waiter)

    async def connected(self, *peers: str) -> None:
        await self.until(lambda: all(self.net.connected(peer) for peer in peers))

    async def error(self, peer: str, *, containing: str = "") -> LotorError:
        """The next reason why a peer is not connected."""
        await self.until(lambda: containing in str(self.net.last_error(peer) or ""))
        error = self.net.last_error(peer)
        if error is None:
            await self.until(lambda: self.net.last_error(peer) is not None)
            error = self.net.last_error(peer)
        assert error is not None
        return error


@asynccontextmanager
async def running(*parties: Party) -> AsyncIterator[None]:
    """Start these parties, and close them at the end, whatever happens."""
    try:
        for party in parties:
            await party.net.start()
        yield
    finally:
        for party in parties:
            await party.net.close()


async def exchange(first: Party, second: Party) -> None:
    """A frame there and one back."""
    await first.connected(second.name)
    await second.connected(first.name)
    first.send(second.name, b"there")
    assert await second.receive(first.name) == b"there"
    second.send(first.name, b"and back")
    assert await first.receive(second.name) == b"and back"


def without_host(name: str, patch: pytest.MonkeyPatch) -> None:
    """Let nobody know this host, and ask no name server: it may be slow, or not there."""
    known = socket.getaddrinfo

    def find(host: str, *rest: int, **options: int) -> object:
        if host == name:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return known(host, *rest, **options)

    patch.setattr(socket, "getaddrinfo", find)
