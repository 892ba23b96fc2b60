"""The toy's three roles: who asks, who compares, and who owns an arm."""

from collections.abc import Mapping

import msgspec
import numpy as np

from lotor.core.draws import Draws
from lotor.core.effects import Checkpoint, Decision, Message, Pull, Receive, Send, Steps
from lotor.core.errors import ProtocolError
from lotor.core.fixed_point import RewardScale, to_scores
from lotor.crypto.prf import Prf, new_key
from lotor.policies import ArmSnapshot, ArmStates, Policy
from lotor.protocols.memory import Memory, restored
from lotor.protocols.party import Party

ASKER, REFEREE = "asker", "referee"


class ToyTerms(msgspec.Struct, frozen=True):
    """What was ordered; each owner has one arm."""

    run: str
    budget: int
    owners: tuple[str, ...]
    policy: str
    rehearsals: int
    low: float
    high: float

    @property
    def k(self) -> int:
        return len(self.owners)

    def to_bytes(self) -> bytes:
        return msgspec.msgpack.encode(self)


class Hello(Message, frozen=True, tag="toy/1/hello"):
    """Nothing."""


class OwnScore(Message, frozen=True, tag="toy/1/score"):
    """A score, and behind it what decides between equals."""

    t: int
    l: int
    value: bytes


class Verdict(Message, frozen=True, tag="toy/1/verdict"):
    t: int
    l: int
    selected: bool


class OwnSum(Message, frozen=True, tag="toy/1/sum"):
    value: int


class ToyMemory(Memory, tag="toy/1"):
    own_key: bytes = b""
    arms: ArmSnapshot | None = None


class Asker(Party):
    """Orders the run, and is told the total."""

    def __init__(self, terms: ToyTerms, *, snapshot: bytes | None = None) -> None:
        self._terms = terms
        self._memory = _memory(ASKER, terms, snapshot)

    def steps(self) -> Steps[float]:
        yield Checkpoint(self._memory.dump)
        total: OwnSum = yield Receive(REFEREE, OwnSum)
        return RewardScale(self._terms.low, self._terms.high).total(total.value, self._terms.budget)


class Referee(Party):
    """Compares all scores of a round."""

    def __init__(self, terms: ToyTerms, policy: Policy, *, snapshot: bytes | None = None) -> None:
        self._terms = terms
        self._policy = policy
        self._memory = _memory(REFEREE, terms, snapshot)
        self._compared = 0

    def operations(self) -> Mapping[str, int]:
        return {"scores_compared": self._compared}

    def steps(self) -> Steps[None]:
        memory, terms = self._memory, self._terms
        if memory.t == 0:
            yield Checkpoint(memory.dump)
            for _ in range(terms.rehearsals):
                for owner in terms.owners:
                    yield Send(owner, Hello())
            memory.t = terms.k + 1
        for t in range(memory.t, terms.budget + 1):
            memory.t = t
            yield Checkpoint(memory.dump, t)
            for l in range(1, self._policy.iterations + 1):
                yield from self._compare(t, l)
        total = 0
        for owner in terms.owners:
            part: OwnSum = yield Receive(owner, OwnSum)
            total += part.value
        yield Send(ASKER, OwnSum(total))

    def _compare(self, t: int, l: int) -> Steps[None]:
        values = []
        for owner in self._terms.owners:
            score: OwnScore = yield Receive(owner, OwnScore)
            if (score.t, score.l) != (t, l):
                raise ProtocolError(f"{owner} sent a score of round {score.t} in round {t}")
            values.append(int.from_bytes(score.value, "big", signed=True))
        self._compared += len(values)
        winner = self._policy.selected(values, t, l)
        for number, owner in enumerate(self._terms.owners):
            yield Send(owner, Verdict(t, l, number == winner))


class ArmOwner(Party):
    """Scores and pulls its one arm."""

    def __init__(
        self,
        name: str,
        terms: ToyTerms,
        policy: Policy,
        *,
        keys: tuple[bytes, bytes] | None = None,
        snapshot: bytes | None = None,
    ) -> None:
        self._name, self._terms, self._policy = name, terms, policy
        self._scale = RewardScale(terms.low, terms.high)
        self._memory = _memory(name, terms, snapshot)
        own, coin = keys or (self._memory.own_key or new_key(), bytes(32))
        self._memory.own_key = own
        self._draws = Draws(Prf(own, [terms.owners.index(name)]), Prf(coin, [0]))

    def steps(self) -> Steps[None]:
        memory, terms = self._memory, self._terms
        if memory.arms is None:
            yield Checkpoint(memory.dump)
            for _ in range(terms.rehearsals):
                yield Receive(REFEREE, Hello)
            arms = ArmStates(1, terms.k)
            self._policy.start(arms)
            t = terms.owners.index(self._name) + 1
            yield from self._pull(arms, t)
            memory.arms, memory.t = arms.snapshot(), terms.k + 1
        arms = ArmStates.restore(memory.arms)
        for t in range(memory.t, terms.budget + 1):
            memory.arms, memory.t = arms.snapshot(), t
            yield Checkpoint(memory.dump, t)
            yield from self._round(arms, t)
        yield Send(REFEREE, OwnSum(int(arms.s.sum())))

    def _round(self, arms: ArmStates, t: int) -> Steps[None]:
        policy, verdict = self._policy, Verdict(t, 0, selected=False)
        for l in range(1, policy.iterations + 1):
            draw = self._draws.at(t, l)
            (score,) = to_scores(policy.score(arms, t, l, draw)).tolist()
            (tie,) = draw.ties()
            value = (score << 64 | tie).to_bytes(24, "big", signed=True)
            yield Send(REFEREE, OwnScore(t, l, value))
            verdict = yield Receive(REFEREE, Verdict)
            policy.observe(arms, t, l, np.array([verdict.selected]))
        if verdict.selected:
            yield from self._pull(arms, t)
        else:
            yield Pull(None)

    def _pull(self, arms: ArmStates, t: int) -> Steps[None]:
        arm = self._terms.owners.index(self._name)
        reward: float = yield Pull(Decision.named(self._terms.run, t, arm))
        self._policy.learn(arms, 0, self._scale.to_fixed(reward), self._draws.at(t, 0))


def _memory(party: str, terms: ToyTerms, snapshot: bytes | None) -> ToyMemory:
    if snapshot is None:
        return ToyMemory(party=party, run=terms.run)
    return restored(ToyMemory, snapshot, party, terms.run)
