"""A protocol of three roles that has nothing to do with bandits: the runtime must run it, too.

A caller sends numbers to a ring of two: the doubler doubles, the adder adds what its world says,
and hands the sum back. Doubler and adder talk to each other directly.
"""

from collections.abc import Mapping, Sequence

import msgspec

from lotor.core.effects import Checkpoint, Decision, Message, Pull, Receive, Send, Steps
from lotor.core.errors import InputError
from lotor.crypto.signing import Identity
from lotor.protocols.deployment import Member, Place, Plan
from lotor.protocols.party import Party

SEATS = ("caller", "doubler", "adder")


class Number(Message, frozen=True, tag="toy/1/number"):
    value: int


class Memory(msgspec.Struct):
    t: int = 1
    total: int = 0


class ToyParty:
    def __init__(self, seat: str, run: str, budget: int, snapshot: bytes | None) -> None:
        self._seat = seat
        self._run = run
        self._budget = budget
        self._memory = (
            Memory() if snapshot is None else msgspec.msgpack.decode(snapshot, type=Memory)
        )

    def operations(self) -> Mapping[str, int]:
        return {}

    def _snapshot(self) -> bytes:
        return msgspec.msgpack.encode(self._memory)

    def steps(self) -> Steps[object]:
        memory = self._memory
        step = {"caller": self._call, "doubler": self._double, "adder": self._add}[self._seat]
        for t in range(memory.t, self._budget + 1):
            memory.t = t
            yield Checkpoint(self._snapshot, t)
            yield from step(t)
        return memory.total if self._seat == "caller" else None

    def _call(self, t: int) -> Steps[None]:
        yield Send("doubler", Number(t))
        answer: Number = yield Receive("adder", Number)
        self._memory.total += answer.value

    def _double(self, t: int) -> Steps[None]:
        number: Number = yield Receive("caller", Number)
        yield Send("adder", Number(2 * number.value))

    def _add(self, t: int) -> Steps[None]:
        number: Number = yield Receive("doubler", Number)
        reward: float = yield Pull(Decision.named(self._run, t, 0))
        yield Send("caller", Number(number.value + int(reward)))


class ToyOrder(msgspec.Struct, frozen=True):
    run: str
    budget: int


class ToyDeployment:
    name = "toy"
    wire = "toy/1"
    opener = "caller"

    def seats(self, members: Mapping[str, Sequence[Member]]) -> dict[str, Member]:
        if any(len(members.get(seat, ())) != 1 for seat in SEATS):
            raise InputError("the toy needs one of each")
        return {seat: members[seat][0] for seat in SEATS}

    def open(
        self,
        run: str,
        members: Mapping[str, Sequence[Member]],
        budget: int,
        options: Mapping[str, str | int],
        identity: Identity,
    ) -> tuple[bytes, Party]:
        order = msgspec.msgpack.encode(ToyOrder(run, budget))
        return order, ToyParty("caller", run, budget, None)

    def plan(self, order: bytes) -> Plan:
        read = msgspec.msgpack.decode(order, type=ToyOrder)
        links = {seat: tuple(other for other in SEATS if other != seat) for seat in SEATS}
        return Plan("", read.budget, 1, {seat: seat for seat in SEATS}, links)

    def party(self, place: Place, snapshot: bytes | None = None) -> Party:
        return ToyParty(place.seat, place.run, self.plan(place.order).budget, snapshot)
