"""A protocol whose owners bring features, whose actor acts, and whose receiver is paid for it.

Its server draws a token in each round that nobody could draw again, so it is written down before
it goes out: a party that hears of another token in the same round knows that this was left out.
"""

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import msgspec
import numpy as np

from lotor.core.effects import (
    HIDDEN,
    Act,
    Checkpoint,
    Decision,
    Message,
    Observe,
    Pull,
    Receive,
    Send,
    Steps,
)
from lotor.core.errors import InputError, ProtocolError
from lotor.crypto.signing import Identity
from lotor.protocols.form import (
    ACT,
    FEATURES,
    PULL,
    AnyForm,
    Assignment,
    Member,
    Role,
    RunPlan,
)
from lotor.protocols.party import Party
from lotor.protocols.protocol import SecureProtocol
from lotor.runtime.durable.questions import Question
from lotor.runtime.durable.record import Answer
from toy import ServedForm, ServedProtocol

ARMS = 3
COLUMNS = {"owner-1": (0, 1), "owner-2": (1, ARMS)}
PEERS = {
    "owner-1": ["server"],
    "owner-2": ["server"],
    "server": ["owner-1", "owner-2", "actor", "receiver"],
    "actor": ["server"],
    "receiver": ["server"],
}


class Features(Message, frozen=True, tag="split/1/features"):
    values: tuple[float, ...]


class Choice(Message, frozen=True, tag="split/1/choice"):
    arm: int
    token: int


class Token(Message, frozen=True, tag="split/1/token"):
    token: int


class Reward(Message, frozen=True, tag="split/1/reward"):
    reward: float
    token: int


class Memory(msgspec.Struct):
    t: int = 1
    total: float = 0.0
    arm: int = HIDDEN
    token: int = 0


class SplitParty(Party):
    def __init__(
        self, seat: str, budget: int, snapshot: bytes | None = None, run: str = "aa"
    ) -> None:
        self._seat = seat
        self._run = run
        self._budget = budget
        self._memory = (
            Memory() if snapshot is None else msgspec.msgpack.decode(snapshot, type=Memory)
        )

    def _snapshot(self) -> bytes:
        return msgspec.msgpack.encode(self._memory)

    def steps(self) -> Steps[float]:
        memory = self._memory
        scripts = {"server": self._serve, "actor": self._act, "receiver": self._get}
        step = scripts.get(self._seat, self._bring)
        while memory.t <= self._budget:
            yield Checkpoint(self._snapshot, memory.t, durable=memory.arm != HIDDEN)
            yield from step(memory.t)
        return memory.total

    def _bring(self, t: int) -> Steps[None]:
        mine = yield Observe(Decision.hidden(self._run, t), COLUMNS[self._seat])
        yield Send("server", Features(mine))
        self._memory.t += 1

    def _serve(self, t: int) -> Steps[None]:
        memory = self._memory
        if memory.arm == HIDDEN:
            first: Features = yield Receive("owner-1", Features)
            second: Features = yield Receive("owner-2", Features)
            memory.arm = int(np.argmax(first.values + second.values))
            memory.token = secrets.randbelow(2**32)
            return
        yield Send("actor", Choice(memory.arm, memory.token))
        done: Token = yield Receive("actor", Token)
        yield Send("receiver", Token(memory.token))
        paid: Reward = yield Receive("receiver", Reward)
        if not memory.token == done.token == paid.token:
            raise ProtocolError("another token was sent before")
        memory.total += paid.reward
        memory.t, memory.arm = t + 1, HIDDEN

    def _act(self, t: int) -> Steps[None]:
        choice: Choice = yield Receive("server", Choice)
        yield Act(Decision.of_step(self._run, t, choice.arm))
        yield Send("server", Token(choice.token))
        self._memory.t += 1

    def _get(self, t: int) -> Steps[None]:
        token: Token = yield Receive("server", Token)
        reward = yield Pull(Decision.hidden(self._run, t))
        yield Send("server", Reward(reward, token.token))
        self._memory.total += reward
        self._memory.t += 1


def rebuilder(seat: str, budget: int) -> Callable[[bytes], Party]:
    return lambda snapshot: SplitParty(seat, budget, snapshot)


class SplitOrder(msgspec.Struct, frozen=True):
    run: str
    budget: int


class SplitForm(ServedForm):
    """Its receiver orders runs; who is a second server or a dealer has no seat."""

    name: ClassVar[str] = "dealt"
    wire: ClassVar[str] = "split/1"
    roles: ClassVar[tuple[Role, ...]] = (
        Role.one("receiver", PULL),
        Role.one("server"),
        Role.one("actor", ACT),
        Role("owner", tuple(COLUMNS), (FEATURES,)),
    )
    hubs: ClassVar[tuple[str, ...]] = ("server",)

    def seats(self, members: Mapping[str, Sequence[Member]]) -> dict[str, Member]:
        if [one.contribution.features for one in members["owner"]] != [1, ARMS - 1]:
            raise InputError("the features do not fit")
        return super().seats(members)

    def open(
        self,
        protocol: SecureProtocol,
        run: str,
        members: Mapping[str, Sequence[Member]],
        budget: int,
        identity: Identity,
    ) -> tuple[bytes, Party]:
        order = msgspec.msgpack.encode(SplitOrder(run, budget))
        return order, SplitParty("receiver", budget, None, run)

    def plan(self, order: bytes) -> RunPlan:
        read = msgspec.msgpack.decode(order, type=SplitOrder)
        return RunPlan("", read.budget, ARMS, self.seats_of({}), owners=2)

    def build(self, assignment: Assignment, snapshot: bytes | None) -> Party:
        budget = self.plan(assignment.order).budget
        return SplitParty(assignment.seat, budget, snapshot, assignment.run)


@dataclass(frozen=True)
class Split(ServedProtocol):
    name: ClassVar[str] = "split"
    forms: ClassVar[Mapping[str, type[AnyForm]]] = {"dealt": SplitForm}

    form: str = "dealt"


class SplitWorld:
    """Contexts and rewards of each round; who asks a second time without saying so is caught."""

    def __init__(self, budget: int) -> None:
        draw = np.random.default_rng(5)
        self.contexts = draw.uniform(-0.5, 0.5, (budget, ARMS))
        self.rewards = draw.uniform(0.0, 1.0, (budget, ARMS))
        self.arms: dict[int, int] = {}
        self.double_pulls = 0
        self._done: set[tuple[type, str, int]] = set()

    def answer(self, asked: Question) -> Answer:
        effect = asked.effect
        assert effect.decision is not None
        t = effect.decision.round
        low, high = effect.columns if isinstance(effect, Observe) else (0, 0)
        question = type(effect), effect.decision.id, low
        self.double_pulls += question in self._done and not asked.again
        self._done.add(question)
        if isinstance(effect, Observe):
            return tuple(self.contexts[t - 1, low:high].tolist())
        if isinstance(effect, Act):
            assert self.arms.setdefault(t, effect.decision.arm) == effect.decision.arm
            return None
        return float(self.rewards[t - 1, self.arms[t]])

    def expected(self) -> tuple[list[int], float]:
        """The arms and the total of an uninterrupted run."""
        arms = np.argmax(self.contexts, axis=1).tolist()
        total = 0.0
        for t, arm in enumerate(arms):
            total += self.rewards[t, arm]
        return arms, total
