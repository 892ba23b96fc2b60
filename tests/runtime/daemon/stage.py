"""A federation in one event loop."""

import asyncio
import logging
import secrets
import sqlite3
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager, closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import cycle
from pathlib import Path

import msgspec
import pytest
from gmpy2 import mpz

import lotor
from lotor.crypto.certificates import Certificate, PartyKey, Subject
from lotor.crypto.paillier import private
from lotor.crypto.paillier.private import random_prime
from lotor.environments import Outcomes
from lotor.protocols.protocol import PROTOCOLS, SecureProtocol
from lotor.protocols.samba.cast import hospitals
from lotor.runtime.daemon import commands
from lotor.runtime.daemon import node as node_module
from lotor.runtime.daemon import start_run as start_run_module
from lotor.runtime.daemon.authority import AuthorityFolder
from lotor.runtime.daemon.clock import Clock
from lotor.runtime.daemon.config import read_config, write_config
from lotor.runtime.daemon.key_files import replace_file
from lotor.runtime.daemon.kit import CERTIFICATE, KEY, REVOKED, Kit
from lotor.runtime.daemon.live_run import LiveRun
from lotor.runtime.daemon.node import Node
from lotor.runtime.durable.host import Host
from lotor.runtime.durable.journal import Journal
from lotor.sandbox import Federation
from lotor.transport import NetworkTransport, PartyTransportFactory
from runtime.daemon.hostile import MeddlingTransport, Stranger, Twist
from runtime.daemon.waiting import until

EVERYONE = ("controller", "comp", "customer", "lyon", "porto")
NOBODY = ("-",)
MEANS = {"lyon": 0.3, "porto": 0.6}
BUDGET, SEED = 24, 7
HELD_AFTER = 8

# Each run finds the same patients, so that each can be compared with plain.
HOSPITAL = """
import asyncio
import shutil
from pathlib import Path

from lotor.environments import Outcomes

HERE = Path(__file__).parent


async def pull(decision):
    while (HERE / "hold").exists() and decision.round > int((HERE / "hold").read_text()):
        await asyncio.sleep(0.005)
    with (HERE / "calls").open("a") as calls:
        calls.write(decision.id + "\\n")
    if not (HERE / f"{decision.run}.db").exists():
        shutil.copy(HERE / "patients.db", HERE / f"{decision.run}.db")
    return Outcomes(HERE / f"{decision.run}.db")(decision)
"""


def plain() -> float:
    arms = lotor.BernoulliArms(list(MEANS.values()))
    return lotor.run(lotor.Samba(lotor.UCB()).plain(), arms, budget=BUDGET, seed=SEED).reward


@dataclass
class Stage:
    """The parties of a federation, some of them with a daemon in this loop."""

    federation: Federation
    nodes: dict[str, Node] = field(default_factory=dict)
    log: list[str] = field(default_factory=list)
    _strangers: list[Stranger] = field(default_factory=list)

    @property
    def controller(self) -> Node:
        return self.nodes["controller"]

    def kit(self, name: str) -> Path:
        return self.federation.kits[name]

    @property
    def authority(self) -> AuthorityFolder:
        return AuthorityFolder(self.federation.folder / "authority")

    def certify(
        self, name: str, role: str, key: PartyKey | None = None, *, days_ago: int = 0
    ) -> Certificate:
        """One more certificate for 30 days, whatever the authority's register says."""
        request = (key or PartyKey.new()).request(Subject(name, role))
        now = datetime.now(UTC) - timedelta(days=days_ago)
        return self.authority.authority.sign(request, 30, now=now)

    def revoke(self, certificate: Certificate, at: Iterable[str] | None = None) -> None:
        """Let all parties, or these, know that a certificate no longer counts."""
        taken = self.authority.authority.revocations({certificate.serial: datetime.now(UTC)})
        for name in self.federation.kits if at is None else at:
            (self.kit(name) / REVOKED).write_bytes(taken)

    def reissue(self, name: str) -> None:
        """Give a party a new key and a certificate for it."""
        key, folder = PartyKey.new(), self.kit(name)
        certificate = self.certify(name, Kit(folder).subject.role, key)
        (folder / KEY).write_bytes(key.to_pem())
        (folder / CERTIFICATE).write_bytes(self.authority.bundle(certificate))

    async def configure_owners(self, *, repeatable: bool) -> None:
        """Let owners' pulls be asked again after a crash, or not, and start them anew."""
        for name in MEANS:
            path = self.kit(name) / "party.toml"
            config = read_config(path)
            assert config.owner is not None
            owner = msgspec.structs.replace(config.owner, repeatable=repeatable)
            write_config(path, msgspec.structs.replace(config, owner=owner))
            await self.stop(name)
            await self.start(name)

    async def start(
        self,
        *names: str,
        protocols: Mapping[str, type[SecureProtocol]] = PROTOCOLS,
        transport: PartyTransportFactory = NetworkTransport,
        clock: Clock | None = None,
    ) -> None:
        for name in names:
            kit = Kit(self.kit(name))
            config = read_config(kit.party_toml)
            journal = Journal(kit.path / config.state, str(kit.subject), kit.journal_key)
            assert journal.lock()
            self.nodes[name] = Node(
                kit, config, journal, protocols=protocols, transport=transport, clock=clock
            )
            await self.nodes[name].start()

    async def stop(self, *names: str) -> None:
        for name in names:
            node = self.nodes.pop(name)
            await node.close()
            node.journal.close()

    async def meddler(self, name: str, twist: Twist) -> None:
        await self.start(name, transport=MeddlingTransport)
        self.meddle(name, twist)

    def meddle(self, name: str, twist: Twist) -> None:
        transport = self.nodes[name].connections.transport
        assert isinstance(transport, MeddlingTransport)
        transport.twist = twist

    async def stranger(self, name: str) -> Stranger:
        stranger = Stranger(self.kit(name))
        self._strangers.append(stranger)
        await stranger.net.start()
        await until(lambda: stranger.net.connected("controller"))
        return stranger

    async def order(self, protocol: str = "samba") -> str:
        """What `lotor start` does."""
        run = secrets.token_hex(16)
        members = {"controller": ["controller"], "comp": ["comp"], "owner": list(MEANS)}
        # The kits of the federation agree to its form, and to no other.
        options: dict[str, str | int] = {"policy": "ucb"}
        options["form"] = self.federation.form.name
        order = commands.StartRun(protocol, BUDGET, options, members)
        self.ask("customer", run, order)
        await until(lambda: run in self.nodes["customer"].runs)
        return run

    def ask(self, name: str, run: str, command: commands.Command) -> None:
        """What `lotor runs …` does, from another process."""
        node = self.nodes[name]
        folder, party = node.journal.path.parent, str(node.kit.subject)
        with closing(Journal(folder, party, node.kit.journal_key)) as journal:
            journal.commands.add(run, commands.to_bytes(command))

    def hold(self, name: str = "porto", after: int = HELD_AFTER) -> None:
        """Let the first pull after this round take long."""
        replace_file(self.kit(name) / "hold", str(after).encode())

    def release(self, name: str = "porto") -> None:
        (self.kit(name) / "hold").unlink()

    async def held(self, run: str, name: str = "porto", after: int = HELD_AFTER) -> None:
        """Until everybody waits for a pull that takes long, and all is quiet."""
        await until(lambda: run in self.nodes[name].runs)
        await until(
            lambda: (
                (host := self.nodes[name].runs[run].host) is not None
                and host.round > after
                and host.asked is not None
                and host.asked.decision is not None
            )
        )
        await until(lambda: self._quiet(run, name))

    def _quiet(self, run: str, but: str) -> bool:
        """Whether everybody but one waits, and nothing is on its way that could change it."""
        hosts = {
            name: host
            for name, node in self.nodes.items()
            if run in node.runs and (host := node.runs[run].host) is not None
        }
        waits = all(host.awaits for name, host in hosts.items() if name != but)
        return waits and not under_way(hosts)

    def live(self, name: str, run: str) -> LiveRun:
        return self.nodes[name].runs[run]

    def host(self, name: str, run: str) -> Host:
        host = self.live(name, run).host
        assert host is not None
        return host

    async def ended(self, run: str, *names: str) -> dict[str, tuple[str, str]]:
        """State and note of the run at each party, when it is over."""
        members = names or ("controller", "comp", "customer", *MEANS)
        await until(lambda: all(run in self.nodes[name].runs for name in members))
        lives = {name: self.live(name, run) for name in members}
        await until(lambda: all(live.over.is_set() for live in lives.values()))
        return {name: (live.state, live.note) for name, live in lives.items()}

    async def finishes(self, run: str) -> None:
        """The run comes to the right result, and no decision was carried out twice."""
        states = await self.ended(run)
        assert {state for state, _ in states.values()} == {"finished"}, states
        assert self.nodes["customer"].journal.output(run) == plain()
        assert len(self.pulls(run)) == BUDGET
        for node in self.nodes.values():
            assert integrity(node.journal) == "ok"

    async def works(self) -> None:
        """Honest parties can still do a whole run."""
        await self.finishes(await self.order())

    def pulls(self, run: str) -> list[str]:
        """The decisions of a run that were carried out."""
        files = [self.kit(name) / f"{run}.db" for name in MEANS]
        there = [Outcomes(path) for path in files if path.exists()]
        asked = [decision for outcomes in there for decision, _ in outcomes.asked()]
        assert len(asked) == len(set(asked))
        return asked

    def calls(self, name: str) -> list[str]:
        """Every question that an owner's function was ever asked."""
        path = self.kit(name) / "calls"
        return path.read_text().split() if path.exists() else []

    def logged(self, words: str) -> bool:
        return any(words in line for line in self.log)

    async def close(self) -> None:
        for stranger in self._strangers:
            await stranger.net.close()
        await self.stop(*list(self.nodes))


def under_way(hosts: Mapping[str, Host]) -> list[tuple[str, str]]:
    """Pairs of parties of which one has sent what the other has not received yet, or not read."""
    return [
        (sender, receiver)
        for sender, host in hosts.items()
        for receiver, link in host.links.items()
        if receiver in hosts
        and (
            link.sent > hosts[receiver].links[sender].received
            or (hosts[receiver].awaits == sender and hosts[receiver].links[sender].inbox)
        )
    ]


def integrity(journal: Journal) -> str:
    (answer,) = journal.database.execute("PRAGMA integrity_check").fetchone()
    return str(answer)


def rows(node: Node) -> dict[str, list[tuple[object, ...]]]:
    """What a journal holds of its runs, but for what is said about them."""
    queries = {
        "progress": "SELECT * FROM progress",
        "links": "SELECT * FROM links",
        "outbox": "SELECT * FROM outbox",
        "pulls": "SELECT * FROM pulls",
        "runs": "SELECT id, announcement, signature, seat, state, version FROM runs",
    }
    database: sqlite3.Connection = node.journal.database
    return {name: database.execute(query).fetchall() for name, query in queries.items()}


class Lines(logging.Handler):
    """Keeps what daemons log."""

    def __init__(self, lines: list[str]) -> None:
        super().__init__()
        self._lines = lines

    def emit(self, record: logging.LogRecord) -> None:
        self._lines.append(record.getMessage())


@cache
def _primes(bits: int) -> Iterator[mpz]:
    """A few, again and again: no test here is about how keys are drawn, which takes long."""
    return cycle([random_prime(bits) for _ in range(6)])


def few_primes(bits: int) -> mpz:
    return next(_primes(bits))


@asynccontextmanager
async def stage(folder: Path, *names: str) -> AsyncIterator[Stage]:
    """A federation with daemons for all members, or for these ("-": for nobody yet)."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(start_run_module, "ASK_SECONDS", 0.02)
        patch.setattr(node_module, "LOOK_SECONDS", 0.02)
        patch.setattr(sys, "path", list(sys.path))
        patch.setattr(private, "random_prime", few_primes)
        cast = hospitals({**MEANS, "graz": 0.5}, budget=BUDGET, seed=SEED, policy="ucb")
        federation = Federation(folder, lotor.Samba.form_called("shared"), cast, SEED)
        federation.prepare()
        for name in cast.pullers:
            (federation.kits[name] / "hospital.py").write_text(HOSPITAL)
        made = Stage(federation)
        handler = Lines(made.log)
        logger = logging.getLogger("lotor.daemon")
        level = logger.level
        logger.addHandler(handler)
        logger.setLevel(logging.INFO)
        try:
            everyone = names or ("controller", "comp", "customer", *MEANS)
            await made.start(*(name for name in everyone if name != "-"))
            yield made
        finally:
            await made.close()
            logger.removeHandler(handler)
            logger.setLevel(level)
            sys.modules.pop("hospital", None)


@contextmanager
def unchanged(node: Node) -> Iterator[None]:
    """Nothing of a run is written down, or lost, meanwhile."""
    before = rows(node)
    yield
    assert rows(node) == before
    assert integrity(node.journal) == "ok"


def play(scene: Callable[[Stage], Awaitable[None]], folder: Path, *names: str) -> None:
    async def whole() -> None:
        async with stage(folder, *names) as made:
            await scene(made)

    asyncio.run(whole())
