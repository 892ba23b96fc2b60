"""A toy protocol on two servers, with nothing of PPCB: who leads must pay.

A source brings K amounts and a cost in each step. The servers hold shares of K sums. After each
step's amounts are added, a reader alone learns which sum is the largest (the last of equals), and
the servers take the cost off that one, without knowing which it is.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from itertools import count
from typing import NamedTuple

import msgspec
import numpy as np
import pytest

from lotor.core.effects import Checkpoint, Send, Steps
from lotor.crypto.prf import new_key
from lotor.crypto.sharing import (
    Circuit,
    Engine,
    Shared,
    SharedBits,
    argmax,
    bit_to_word,
    mask,
    multiply,
    together,
)
from lotor.protocols.memory import Memory, restored
from lotor.protocols.party import Party
from lotor.protocols.two_server import dealer, server
from lotor.protocols.two_server.checks import place_of
from lotor.protocols.two_server.dealer import Dealer
from lotor.protocols.two_server.messages import PlacedShares
from lotor.protocols.two_server.outside import InputSharer, agree, read_bits
from lotor.protocols.two_server.schedule import DealerSchedule, ServerSeats, StepCircuit
from lotor.protocols.two_server.server import SharingKeys, SharingServer
from lotor.runtime.drive import Seat, drive
from lotor.runtime.recorder import Recorder
from lotor.transport import MemoryTransport, Transport

SEATS = ServerSeats("left", "right", "maker")
AMOUNTS, COST = 0, 1
"""The numbers of a step's two inputs, which have masks of their own."""


class Amounts(PlacedShares, frozen=True, tag="toy/1/amounts"):
    """Source to the second server."""


class Leader(PlacedShares, frozen=True, tag="toy/1/leader"):
    """Each server to the reader: its share of a one-hot vector."""


@dataclass(frozen=True)
class ToyTerms:
    run: str
    k: int
    steps: int

    @property
    def digest(self) -> bytes:
        return sha256(repr(self).encode()).digest()


class ToyCircuits:
    def __init__(self, terms: ToyTerms) -> None:
        sums, cost = zeros(terms.k), zeros(1)
        leader = SharedBits(np.zeros(terms.k, np.uint8), first=False)
        self.lead = StepCircuit(0, lead, (sums,), 1, terms.steps)
        self.pay = StepCircuit(1, pay, (sums, leader, cost), 1, terms.steps)
        self.schedule = DealerSchedule(self.lead, self.pay)


def zeros(size: int) -> Shared:
    return Shared(np.zeros(size, np.uint64), first=False)


def lead(engine: Engine, sums: Shared) -> Circuit[SharedBits]:
    k = len(sums)
    one_hot = yield from argmax(engine, sums * k + np.arange(k, dtype=np.uint64))
    return SharedBits(one_hot.share & np.uint8(1), first=engine.first)


def pay(engine: Engine, sums: Shared, leader: SharedBits, cost: Shared) -> Circuit[Shared]:
    chosen, less = yield from together(bit_to_word(engine, leader), mask(engine, cost))
    return sums - multiply(engine, chosen, less)


class ToyServerMemory(Memory, tag="toy/1/server"):
    keys: SharingKeys
    sums: bytes = b""
    cost: bytes = b""


class ToyServer(Party):
    def __init__(self, number: int, terms: ToyTerms, *, snapshot: bytes | None = None) -> None:
        me = SEATS[number]
        self.number, self.terms = number, terms
        self.memory = (
            ToyServerMemory(party=me, run=terms.run, keys=SharingKeys.fresh(number))
            if snapshot is None
            else restored(ToyServerMemory, snapshot, me, terms.run)
        )
        self.circuits = ToyCircuits(terms)
        self.sharing = SharingServer(number, SEATS, self.circuits.schedule, self.memory.keys)
        self.operations = self.sharing.operations  # type: ignore[method-assign]

    def _shared(self, data: bytes) -> Shared:
        return Shared(np.frombuffer(data, np.uint64), first=self.number == 0)

    def steps(self) -> Steps[None]:
        memory, terms, sharing = self.memory, self.terms, self.sharing
        yield Checkpoint(memory.dump, memory.t)
        if memory.t == 0:
            yield from sharing.set_up(terms.digest, readers=["reader"], sources=["source"])
            memory.sums = bytes(8 * terms.k)
            yield from self._take_inputs(1)
        for t in range(memory.t, terms.steps + 1):
            sums, cost = self._shared(memory.sums), self._shared(memory.cost)
            leader = yield from sharing.compute(t, self.circuits.lead, sums)
            yield from sharing.tell_bits("reader", Leader, t, leader.share)
            sums = yield from sharing.compute(t, self.circuits.pay, sums, leader, cost)
            memory.sums = sums.share.tobytes()
            if t < terms.steps:
                yield from self._take_inputs(t + 1)

    def _take_inputs(self, t: int) -> Steps[None]:
        memory, take = self.memory, self.sharing.take_input
        amounts = yield from take("source", Amounts, t, self.terms.k, AMOUNTS)
        cost = yield from take("source", Amounts, t, 1, COST)
        memory.sums = (self._shared(memory.sums).share + amounts).tobytes()
        memory.cost = cost.tobytes()
        memory.t = t
        yield Checkpoint(memory.dump, t, durable=True)


class ToySourceMemory(Memory, tag="toy/1/source"):
    key: bytes


class ToySource(Party):
    """Brings in step t the t-th row: K amounts, and behind them the cost."""

    def __init__(
        self, terms: ToyTerms, rows: Sequence[Sequence[int]], *, snapshot: bytes | None = None
    ) -> None:
        self.terms, self.rows = terms, rows
        self.memory = (
            ToySourceMemory(party="source", run=terms.run, key=new_key())
            if snapshot is None
            else restored(ToySourceMemory, snapshot, "source", terms.run)
        )

    def operations(self) -> Mapping[str, int]:
        return {}

    def steps(self) -> Steps[None]:
        sharer = InputSharer(self.memory.key, SEATS)
        yield Checkpoint(self.memory.dump)
        yield from sharer.set_up(self.terms.digest)
        for t, row in enumerate(self.rows, start=1):
            words = np.array(row, np.int64).view(np.uint64)
            for number, part in ((AMOUNTS, words[:-1]), (COST, words[-1:])):
                message = Amounts(place_of(t, number), sharer.share(part, t, number))
                yield Send(SEATS.second, message)


class ToyReaderMemory(Memory, tag="toy/1/reader"):
    leaders: list[int] = msgspec.field(default_factory=list)


class ToyReader(Party):
    def __init__(self, terms: ToyTerms, *, snapshot: bytes | None = None) -> None:
        self.terms = terms
        self.memory = (
            ToyReaderMemory(party="reader", run=terms.run)
            if snapshot is None
            else restored(ToyReaderMemory, snapshot, "reader", terms.run)
        )

    def operations(self) -> Mapping[str, int]:
        return {}

    def steps(self) -> Steps[list[int]]:
        memory, terms = self.memory, self.terms
        yield Checkpoint(memory.dump, memory.t)
        if memory.t == 0:
            yield from agree(terms.digest, SEATS)
        for t in range(memory.t + 1, terms.steps + 1):
            one_hot = yield from read_bits(Leader, t, terms.k, SEATS)
            memory.leaders.append(int(one_hot.argmax()))
            memory.t = t
            yield Checkpoint(memory.dump, t)
        return memory.leaders


def plain(rows: Sequence[Sequence[int]]) -> list[int]:
    """The same with no cryptography."""
    sums, leaders = [0] * (len(rows[0]) - 1), []
    for *amounts, cost in rows:
        sums = [total + amount for total, amount in zip(sums, amounts, strict=True)]
        leaders.append(max(range(len(sums)), key=lambda i: (sums[i], i)))
        sums[leaders[-1]] -= cost
    return leaders


def parties_of(rows: Sequence[Sequence[int]]) -> dict[str, Party]:
    terms = ToyTerms("aa", len(rows[0]) - 1, len(rows))
    return {
        "source": ToySource(terms, rows),
        SEATS.first: ToyServer(0, terms),
        SEATS.second: ToyServer(1, terms),
        SEATS.dealer: Dealer(terms.run, terms.digest, SEATS, ToyCircuits(terms).schedule),
        "reader": ToyReader(terms),
    }


def rebuild(party: Party, snapshot: bytes) -> Party:
    """The same party after a crash."""
    if isinstance(party, ToyServer):
        return ToyServer(party.number, party.terms, snapshot=snapshot)
    if isinstance(party, ToySource):
        return ToySource(party.terms, party.rows, snapshot=snapshot)
    if isinstance(party, ToyReader):
        return ToyReader(party.terms, snapshot=snapshot)
    assert isinstance(party, Dealer)
    started = party._run, party._digest, party._seats, party._schedule
    return Dealer(*started, snapshot=snapshot)


class Played(NamedTuple):
    seats: dict[str, Seat]
    recorder: Recorder

    @property
    def leaders(self) -> object:
        return self.seats["reader"].output

    def wire(self) -> dict[tuple[str, str], list[bytes]]:
        """All that passed between any two parties, in its order."""
        passed: dict[tuple[str, str], list[bytes]] = {}
        for seen in self.recorder.exchanges:
            passed.setdefault((seen.sender, seen.to), []).append(seen.payload)
        return passed


def play(parties: Mapping[str, Party], transport: Transport | None = None) -> Played:
    recorder = Recorder()
    seats = drive(parties, transport or MemoryTransport(), lambda _: 0.0, recorder)
    return Played(seats, recorder)


@contextmanager
def fixed_keys() -> Iterator[None]:
    """The keys that parties make are the same in each run, so that runs can be compared."""
    numbers = count()
    with pytest.MonkeyPatch.context() as patch:
        for name in (f"{dealer.__name__}.new_key", f"{server.__name__}.new_key"):
            patch.setattr(name, lambda: sha256(b"%d" % next(numbers)).digest())
        patch.setitem(globals(), "new_key", lambda: sha256(b"%d" % next(numbers)).digest())
        yield
