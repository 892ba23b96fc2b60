"""Checks of connections: this party's own port, and each peer that it dials."""

import asyncio
import socket
import time
from collections.abc import Iterator

from lotor.core.errors import LotorError, TransportError
from lotor.core.version import VERSION
from lotor.crypto.certificates import Certificate, Subject, Trust
from lotor.protocols.form import Contribution
from lotor.runtime.daemon.config import Address, PartyConfig
from lotor.runtime.daemon.doctor.findings import DoctorFinding, ok, problem, refused, warning
from lotor.runtime.daemon.doctor.journal_checks import is_served
from lotor.runtime.daemon.doctor.kit_checks import ExaminedKit
from lotor.runtime.daemon.frames import WIRE_VERSION, Card, encode
from lotor.runtime.daemon.kit import CERTIFICATE, KEY
from lotor.runtime.durable.journal import JOURNAL_VERSION
from lotor.transport import Hello, Limits, Tls, probe
from lotor.transport.handshake import plain_text

CLOCK_NOTICE, CLOCK_LIMIT = 5.0, 60.0
# A party that listens at every address of its machine is asked at this one.
_HERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104


class Caller:
    """Asks who answers at an address, as this party."""

    def __init__(
        self, kit: ExaminedKit, certificate: Certificate, trust: Trust, config: PartyConfig
    ) -> None:
        password = None if kit.keys is None else kit.keys.password
        self._tls = Tls(kit.path / CERTIFICATE, kit.path / KEY, lambda: trust, password=password)
        self._limits = Limits(handshake=config.limits.handshake)
        self._card = encode(Card(certificate.to_der(), Contribution()))

    async def ask(self, address: Address) -> tuple[Subject, Hello, float]:
        """The party at this address, its Hello, and how far its clock is ahead of this one."""
        hello = Hello(WIRE_VERSION, JOURNAL_VERSION, VERSION, time.time(), self._card)
        before = time.time()
        subject, theirs = await probe(address, self._tls, hello, self._limits)
        return subject, theirs, theirs.clock - (before + time.time()) / 2


def check_port(kit: ExaminedKit) -> Iterator[DoctorFinding]:
    """Whether the port can be had (if this party is not served) or answers (if it is)."""
    listen = None if kit.config is None else kit.config.listen
    if kit.config is None:
        return
    if listen is None:
        yield ok("port", "this party does not listen; it dials its peers")
    elif listen.port == 0:
        yield warning(
            "port",
            f"`listen` is {listen}: a port that is another one after each start",
            "set a port that peers can know",
        )
    elif is_served(kit):
        yield from _answers(kit, kit.config, listen)
    else:
        _bind(listen)
        yield ok("port", f"{listen} is free for this party")


def _answers(kit: ExaminedKit, config: PartyConfig, listen: Address) -> Iterator[DoctorFinding]:
    if kit.certificate is None or kit.trust is None or kit.locked:
        return
    address = Address(_HERE.get(listen.host, listen.host), listen.port)
    caller = Caller(kit, kit.certificate, kit.trust, config)
    subject, _, _ = asyncio.run(caller.ask(address))
    if subject != kit.subject:
        yield problem(
            "port",
            f"{subject} answers at {address}, not this party",
            "give each party a port of its own",
        )
    else:
        yield ok("port", f"this party answers at {address}")


def _bind(listen: Address) -> None:
    """Take the port and give it back at once; LotorError says why not."""
    try:
        found = socket.getaddrinfo(*listen, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        for family, kind, protocol, _, address in found:
            with socket.socket(family, kind, protocol) as attempt:
                # Like the daemon's own socket: a port that was in use a moment ago is free.
                attempt.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                if family == socket.AF_INET6:
                    attempt.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
                attempt.bind(address)
    except OSError as error:
        raise TransportError(
            f"this party cannot listen at {listen} ({error.strerror}): end the program that uses "
            "the port, or correct `listen` in party.toml"
        ) from None


def check_peers(kit: ExaminedKit) -> Iterator[DoctorFinding]:
    """All peers at once: a silent one takes its time."""
    config, certificate, trust = kit.config, kit.certificate, kit.trust
    if config is None or certificate is None or trust is None or kit.locked:
        return
    caller = Caller(kit, certificate, trust, config)
    for findings in asyncio.run(_ask_all(caller, config.peers)):
        yield from findings


async def _ask_all(caller: Caller, peers: dict[str, Address]) -> list[list[DoctorFinding]]:
    return await asyncio.gather(*(_peer(caller, name, peers[name]) for name in peers))


async def _peer(caller: Caller, name: str, address: Address) -> list[DoctorFinding]:
    check = f"peer {name}"
    try:
        subject, hello, ahead = await caller.ask(address)
    except LotorError as error:
        return [refused(check, error)]
    if subject.name != name:
        return [
            problem(
                check,
                f"{subject} answers at {address}, not {name}",
                f"correct the address of {name} under [peers] in party.toml, or find out who "
                "poses as it",
            )
        ]
    return [
        ok(check, f"{subject} answers at {address}"),
        _version(check, plain_text(hello.version)),
        _clock(check, ahead),
    ]


def _version(check: str, version: str) -> DoctorFinding:
    if version == VERSION:
        return ok(check, f"has lotor {VERSION}, as this party")
    return warning(
        check,
        f"has lotor {version}, and this party {VERSION}",
        "install the same version at all parties between two runs",
    )


def _clock(check: str, ahead: float) -> DoctorFinding:
    text = f"its clock is {abs(ahead):.1f} s {'ahead of' if ahead > 0 else 'behind'} this one"
    todo = "let both machines take their time from the network (NTP)"
    # Written so that a clock that shows "not a number" is a problem, too.
    if not abs(ahead) <= CLOCK_LIMIT:
        return problem(check, text, f"{todo}: dates of certificates and logs depend on it")
    return warning(check, text, todo) if abs(ahead) > CLOCK_NOTICE else ok(check, text)
