"""A federation in one process whose parties lose their memory at any step; journals survive."""

import random
import sqlite3
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache, partial
from typing import Protocol

import lotor
from lotor.core.fixed_point import RewardScale
from lotor.policies import Policy
from lotor.protocols.earlier import EndedRun
from lotor.protocols.party import Party, Run
from lotor.runtime.durable import record
from lotor.runtime.durable.frames import Ack, Data, Join, RunFrame
from lotor.runtime.durable.host import Host, first_snapshot
from lotor.runtime.durable.questions import Question
from lotor.runtime.durable.record import Answer, RunRecord
from one_use import Departure
from rebuilding import Rebuild, rebuildable


class CrashError(Exception):
    """The process is gone."""


class HangError(Exception):
    """Nobody can go on."""


class Fate:
    """Decides at each step whether the party that takes it dies."""

    def __init__(self, seed: int = 0, probability: float = 0.0, at: int | None = None) -> None:
        self._random = random.Random(seed)
        self._probability = probability
        self.at = at
        self.steps = self.crashes = 0

    def step(self) -> None:
        self.steps += 1
        if self.steps == self.at or self._random.random() < self._probability:
            self.crashes += 1
            raise CrashError


class Answers(Protocol):
    """What a simulation needs of a world."""

    def answer(self, asked: Question) -> Answer: ...


class World:
    """Answers by decision id; who asks a second time without saying so pulls twice."""

    def __init__(self, means: list[float], seed: int) -> None:
        self._pull = lotor.BernoulliArms(means).start(seed)
        self.done: dict[str, float] = {}
        self.arms: dict[int, int] = {}
        self.double_pulls = 0

    def answer(self, asked: Question) -> float:
        decision = asked.decision
        assert decision is not None
        if decision.id in self.done:
            self.double_pulls += not asked.again
        else:
            self.done[decision.id] = self._pull(decision)
            self.arms[decision.round] = decision.arm
        return self.done[decision.id]


class FatefulRecord(RunRecord):
    """A journal whose process may die before and after each commit."""

    fate: Fate

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self.fate.step()
        with super()._transaction():
            yield
        self.fate.step()

    def _write(self, statement: str, values: tuple[object, ...]) -> None:
        self.fate.step()
        super()._write(statement, values)
        self.fate.step()


class FatefulHost(Host):
    """A host whose process may die at each effect."""

    fate: Fate

    def _perform(self) -> bool:
        self.fate.step()
        return super()._perform()


def new_disk() -> sqlite3.Connection:
    """A site's disk; suites put another one in its place."""
    return sqlite3.connect(":memory:", isolation_level=None)


class Site:
    """One party's machine: its disk, and its process while it lives."""

    def __init__(self, name: str, party: Party, rebuild: Rebuild, peers: list[str]) -> None:
        self.name = name
        self.peers = peers
        self.rebuild = rebuild
        self.disk = new_disk()
        for statement in record.SCHEMA.split(";"):
            self.disk.execute(statement)
        RunRecord(self.disk, "aa").create(first_snapshot(party))
        self.host: Host | None = None


class Simulation:
    """Delivers frames in a random order, cuts connections, restarts the dead.

    `sent` are all messages that ever left a party, also if they were lost, or their sender died.
    """

    records = FatefulRecord
    hosts = FatefulHost

    def __init__(
        self,
        sites: Mapping[str, Site],
        world: Answers,
        fate: Fate,
        *,
        seed: int,
        cuts: float = 0.0,
        repeatable: bool = False,
        room: int = 1_000_000,
    ) -> None:
        """`room`: how many frames a connection holds before the messages of a run must wait."""
        for site in sites.values():
            site.disk.execute("UPDATE progress SET repeatable = ?", (repeatable,))
        self.sites = sites
        self.world = world
        self.fate = fate
        self.cuts = cuts
        self.room = room
        self.sent: list[Departure] = []
        self._random = random.Random(seed)
        self._wires: defaultdict[tuple[str, str], deque[RunFrame]] = defaultdict(deque)

    def run(self, limit: int = 200_000) -> None:
        for _ in range(limit):
            dead = [site for site in self.sites.values() if site.host is None]
            if dead:
                self._survive(dead[0], partial(self._start, dead[0]))
                continue
            if all(site.host.drained for site in self.sites.values() if site.host):
                return
            self._deliver_one()
        raise HangError("too many steps")

    def _survive(self, site: Site, action: Callable[[], None]) -> None:
        try:
            action()
        except CrashError:
            site.host = None
            for peer in site.peers:
                self._disconnect(site.name, peer)

    def _disconnect(self, a: str, b: str) -> None:
        for ends in ((a, b), (b, a)):
            self._wires[ends].clear()
            host = self.sites[ends[0]].host
            if host is not None:
                host.parted(ends[1])

    def _start(self, site: Site) -> None:
        fateful = self.records(site.disk, "aa")
        fateful.fate = self.fate

        def send(peer: str, frame: RunFrame) -> None:
            self.fate.step()
            if isinstance(frame, Data):
                self.sent.append(Departure(site.name, peer, frame.seq, frame.payload))
            self._wires[site.name, peer].append(frame)

        self.hosts.fate = self.fate
        site.host = self.hosts(
            *(site.name, site.rebuild, fateful, site.peers, send),
            admits=lambda peer: len(self._wires[site.name, peer]) < self.room,
            seal=lambda state: b"sealed " + state,
        )
        for peer in site.peers:
            self._connect(site.name, peer)
        self._advance(site)

    def _connect(self, a: str, b: str) -> None:
        self._disconnect(a, b)
        one, other = self.sites[a].host, self.sites[b].host
        if one is not None and other is not None:
            self._wires[a, b].append(one.join_to(b))
            self._wires[b, a].append(other.join_to(a))

    def _deliver_one(self) -> None:
        ready = [ends for ends, wire in self._wires.items() if wire]
        if not ready:
            waits = {name: site.host and site.host.awaits for name, site in self.sites.items()}
            raise HangError(f"nothing is under way: {waits}")
        sender, receiver = self._random.choice(ready)
        if self._random.random() < self.cuts:
            self._connect(sender, receiver)
            return
        frame = self._wires[sender, receiver].popleft()
        site = self.sites[receiver]
        self._survive(site, lambda: self._handle(site, sender, frame))
        other = self.sites[sender]
        if other.host is not None:
            self._survive(other, partial(other.host.catch_up, receiver))

    def _handle(self, site: Site, sender: str, frame: RunFrame) -> None:
        host = site.host
        assert host is not None
        if isinstance(frame, Join):
            host.joined(sender, frame)
        elif isinstance(frame, Data | Ack):
            host.received(sender, frame)
            if self._random.random() < self.cuts:  # a duplicate
                host.received(sender, frame)
        self._advance(site)

    def _advance(self, site: Site) -> None:
        host = site.host
        assert host is not None
        host.advance()
        while host.asked is not None:
            asked = host.asked
            answer: Answer = None
            if asked.decision is not None:
                self.fate.step()
                answer = self.world.answer(asked)
                self.fate.step()
            host.answered(answer)
            host.advance()


@cache
def _samba(policy: Policy, owners: int, form: str, **options: str | int) -> lotor.Samba:
    """A policy is checked when this is made, and tests make the same ones hundreds of times."""
    weak = 128 if form == "paper" else None
    return lotor.Samba(policy, owners=owners, form=form, insecure_key_bits=weak, **options)  # type: ignore[arg-type]


def samba_sites(
    policy: Policy,
    k: int,
    budget: int,
    *,
    seed: int,
    owners: int,
    form: str = "paper",
    earlier: EndedRun | None = None,
    **options: str | int,
) -> dict[str, Site]:
    """The machines of a SAMBA run with decision draws from a seed."""
    run = Run("aa", k, budget, RewardScale(), seed, earlier=earlier)
    made = rebuildable(_samba(policy, owners, form, **options), run)
    return {name: Site(name, one.party, one.rebuild, list(one.peers)) for name, one in made.items()}
