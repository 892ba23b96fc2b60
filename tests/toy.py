"""A protocol of three roles that has nothing to do with bandits: the runtime must run it, too.

A caller sends numbers to a ring of two: the doubler doubles, the adder adds what its world says,
and hands the sum back. Doubler and adder talk to each other directly.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import msgspec

from lotor.core.effects import Checkpoint, Decision, Message, Pull, Receive, Send, Steps
from lotor.core.options import option
from lotor.crypto.signing import Identity
from lotor.environments.base import Environment
from lotor.environments.sources import ArmsSource, BanditSource
from lotor.policies import UCB, AnyPolicy
from lotor.protocols.cast import Cast
from lotor.protocols.form import AnyForm, Assignment, Member, Role, RunPlan
from lotor.protocols.leakage import Finding
from lotor.protocols.party import Party, Run
from lotor.protocols.plain import Plain
from lotor.protocols.protocol import SecureProtocol
from lotor.protocols.report import Counts

SEATS = ("caller", "doubler", "adder")


class Number(Message, frozen=True, tag="toy/1/number"):
    value: int


class Memory(msgspec.Struct):
    t: int = 1
    total: int = 0


class ToyParty(Party):
    def __init__(self, seat: str, run: str, budget: int, snapshot: bytes | None) -> None:
        self._seat = seat
        self._run = run
        self._budget = budget
        self._memory = (
            Memory() if snapshot is None else msgspec.msgpack.decode(snapshot, type=Memory)
        )

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


class ServedForm(AnyForm):
    """A form for daemons only: nobody simulates or demonstrates it."""

    name: ClassVar[str] = "paper"
    apart: ClassVar[str] = "nobody"
    leakage: ClassVar[Mapping[str, Finding]] = {}

    def simulated(self, protocol: SecureProtocol, run: Run) -> Mapping[str, Sequence[Member]]:
        raise NotImplementedError

    def cast(self, protocol: SecureProtocol, budget: int, seed: int, size: int | None) -> Cast:
        raise NotImplementedError

    def complexity(self, protocol: SecureProtocol, environment: Environment, budget: int) -> Counts:
        raise NotImplementedError


class ToyForm(ServedForm):
    """Everybody talks to everybody."""

    wire: ClassVar[str] = "toy/1"
    roles: ClassVar[tuple[Role, ...]] = tuple(map(Role.one, SEATS))
    hubs: ClassVar[tuple[str, ...]] = SEATS

    def open(
        self,
        protocol: SecureProtocol,
        run: str,
        members: Mapping[str, Sequence[Member]],
        budget: int,
        identity: Identity,
    ) -> tuple[bytes, Party]:
        order = msgspec.msgpack.encode(ToyOrder(run, budget))
        return order, ToyParty("caller", run, budget, None)

    def plan(self, order: bytes) -> RunPlan:
        read = msgspec.msgpack.decode(order, type=ToyOrder)
        return RunPlan("", read.budget, 1, self.seats_of({}))

    def build(self, assignment: Assignment, snapshot: bytes | None) -> Party:
        budget = self.plan(assignment.order).budget
        return ToyParty(assignment.seat, assignment.run, budget, snapshot)


@dataclass(frozen=True)
class ServedProtocol(SecureProtocol):
    """A protocol for daemons only; what it says of a policy is not used."""

    summary: ClassVar[str] = "for tests"
    arms: ClassVar[type[ArmsSource]] = BanditSource

    policy: AnyPolicy = field(default_factory=UCB)
    form: str = field(default="paper", metadata=option("Which form of it to run."))

    def plain(self) -> Plain:
        raise NotImplementedError

    def options(self) -> Mapping[str, str | int]:
        return {}


@dataclass(frozen=True)
class Toy(ServedProtocol):
    name: ClassVar[str] = "toy"
    forms: ClassVar[Mapping[str, type[AnyForm]]] = {"paper": ToyForm}
