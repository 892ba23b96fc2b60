"""Owners of a simulated run that are lost for good, and plain in which their arms are absent."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

import lotor
from crashing import HangError, Simulation, Site
from helpers import Outcome
from lotor.core.effects import Decision, Effect, Exclusion, Receive, Send, Steps
from lotor.core.fixed_point import RewardScale, Scores
from lotor.crypto.signing import Identity
from lotor.environments import Environment
from lotor.policies import Policy
from lotor.protocols.exclusion import agree
from lotor.protocols.party import Party, Run
from lotor.protocols.plain.bandit import BanditAgent, BanditLearner
from lotor.protocols.protocol import Protocol
from lotor.protocols.samba.shared.messages import OwnersLeft
from lotor.runtime.drive import drive
from lotor.runtime.late_outcomes import LateOutcomes
from lotor.runtime.recorder import Recorder
from lotor.transport import MemoryTransport
from power import PowerCuts
from rebuilding import rebuildable
from relayed import Relayed

SINCE = 1000.0


class Lost(Party):
    """An owner that is gone just before it would send its message of this number."""

    def __init__(self, party: Party, messages: int) -> None:
        self._party, self._left = party, messages

    def steps(self) -> Steps[object]:
        steps, value = self._party.steps(), None
        while True:
            effect = steps.send(value)
            if isinstance(effect, Send):
                if not self._left:
                    return None
                self._left -= 1
            value = yield effect


class Excluding(Party):
    """A Controller whose runtime excludes owners: `sent` says how many messages they sent.

    `together` leave at once, with the first of them that is missed.
    """

    def __init__(
        self,
        party: Party,
        sent: Mapping[str, int],
        identities: Mapping[str, Identity],
        run: str,
        *,
        together: bool,
    ) -> None:
        self._party, self._sent, self._identities = party, sent, identities
        self._run, self._together = run, together
        self._gone: set[str] = set()

    def steps(self) -> Steps[object]:
        taken = Counter[str]()
        steps, value = self._party.steps(), None
        while True:
            try:
                effect = steps.send(value)
            except StopIteration as end:
                return end.value
            if not isinstance(effect, Receive):
                value = yield effect
            elif taken[effect.sender] == self._sent.get(effect.sender):
                assert effect.may_leave, effect
                value = self.exclusion(effect.sender)
            else:
                taken[effect.sender] += 1
                value = yield effect

    def exclusion(self, owner: str) -> Exclusion:
        there = [one for one in self._sent if one not in self._gone]
        leaving = there if self._together else [owner]
        self._gone.update(leaving)
        staying = [name for name in self._identities if name not in self._gone]
        return exclusion_by(self._identities, self._run, leaving, staying)


def exclusion_by(
    identities: Mapping[str, Identity], run: str, leaving: list[str], staying: list[str]
) -> Exclusion:
    """What these parties agree to."""
    return Exclusion(
        dict.fromkeys(leaving, SINCE),
        {
            one: {name: agree(identities[name], run, one, SINCE) for name in staying}
            for one in leaving
        },
    )


def run_losing(
    samba: lotor.Samba,
    environment: Environment,
    sent: Mapping[str, int],
    *,
    budget: int,
    seed: int = 1,
    together: bool = False,
    change: Callable[[Effect, Mapping[str, Identity]], Effect] | None = None,
) -> Outcome:
    """A run whose owners are lost after so many messages each.

    A Controller that cheats may `change` what it does.
    """
    scale = RewardScale(*environment.reward_range)
    run = Run("aa" * 16, environment.k, budget, scale, seed, environment)
    made = rebuildable(samba, run)
    identities = {name: one.identity for name, one in made.items()}
    parties: dict[str, Party] = {}
    for name, one in made.items():
        parties[name] = Lost(one.party, sent[name]) if name in sent else one.party
    controller = Excluding(made["controller"].party, sent, identities, run.id, together=together)
    cheats = None if change is None else partial(_swapped, change, identities)
    parties["controller"] = controller if cheats is None else Relayed(controller, cheats)
    recorder, arms, pull = Recorder(), [0] * budget, environment.start(seed)

    def answer(decision: Decision) -> float:
        arms[decision.round - 1] = decision.arm
        return pull(decision)  # type: ignore[return-value]

    late = LateOutcomes(samba.delays(run))
    seats = drive(parties, MemoryTransport(), answer, recorder, late=late)
    return Outcome(run, {n: one.party for n, one in made.items()}, seats, recorder, arms)


def _swapped(
    change: Callable[[Effect, Mapping[str, Identity]], Effect],
    identities: Mapping[str, Identity],
    effect: Effect,
) -> Effect:
    return change(effect, identities)


def losses(outcome: Outcome) -> dict[str, int]:
    """Who left before which round, as Controller told Comp."""
    found: dict[str, int] = {}
    for one in outcome.recorder.exchanges:
        if isinstance(one.message, OwnersLeft) and one.to == "comp":
            found |= dict.fromkeys(one.message.exclusion.away, one.message.t)
    return found


class BereftLearner(BanditLearner):
    """Plain's learner, without the arms that are absent in a round."""

    def __init__(self, policy: Policy, run: Run, absent: Mapping[int, int]) -> None:
        super().__init__(policy, run)
        self._absent = absent

    def _select(self, scores: Scores, t: int, l: int) -> int:
        there = [arm for arm in range(len(scores)) if t < self._absent.get(arm, t + 1)]
        best = max(scores[arm] for arm in there)
        tied = [arm for arm in there if scores[arm] == best]
        return max(tied, key=self._draws.ties().__getitem__)


@dataclass(frozen=True)
class Bereft(Protocol):
    """Plain in which arms are absent from some round on."""

    samba: lotor.Samba
    absent: Mapping[int, int] = field(default_factory=dict)

    def parties(self, run: Run) -> Mapping[str, Party]:
        plain = self.samba.plain()
        agent = BanditAgent(self.samba.policy, run, plain.settings)
        learner = BereftLearner(self.samba.policy, run, self.absent)
        agent._learner = learner
        agent._pulls = agent._pulls_of(self.samba.policy, plain.settings)
        learner.to_score = agent._pulls.to_score
        return {"agent": agent}

    @property
    def learner(self) -> str:
        return "agent"

    def options(self) -> Mapping[str, str | int]:
        return {}


def drive_bereft(
    samba: lotor.Samba,
    environment: Environment,
    absent: Mapping[int, int],
    *,
    budget: int,
    seed: int = 1,
) -> tuple[list[int], list[tuple[int, int, float]]]:
    """Its arms, and of each round its number, arm and reward."""
    run = Run(
        "aa" * 16, environment.k, budget, RewardScale(*environment.reward_range), seed, environment
    )
    pull, found = environment.start(seed), []

    def answer(decision: Decision) -> float:
        reward = pull(decision)
        found.append((decision.round, decision.arm, reward))
        return reward  # type: ignore[return-value]

    late = LateOutcomes(samba.delays(run))
    drive(Bereft(samba, absent).parties(run), MemoryTransport(), answer, late=late)
    return [arm for _, arm, _ in found], found  # type: ignore[return-value]


class LosingSimulation(Simulation):
    """An owner's machine is gone for good, and all others agree, once nobody can go on without it.

    It is gone so many deliveries after Controller has begun round `t`, and comes back when it is
    excluded: then nobody listens any more.
    """

    lost: str
    t: int
    later: int
    identities: Mapping[str, Identity]
    excluded = False

    def run(self, limit: int = 200_000) -> None:
        gone = False
        for _ in range(limit):
            controller, owner = self.sites["controller"], self.sites[self.lost]
            if not gone and controller.host is not None and controller.host.round >= self.t:
                self.later -= 1
                gone = self.later <= 0
                if gone:
                    self._lose(owner)
            away = gone and not self.excluded
            dead = [one for one in self.sites.values() if one.host is None]
            dead = [one for one in dead if not (away and one is owner)]
            if dead:
                self._survive(dead[0], partial(self._start, dead[0]))
            elif all(
                one.host.drained for one in self.sites.values() if one.host and one is not owner
            ):
                return
            elif any(self._wires.values()):
                self._deliver_one()
            elif controller.host is not None and controller.host.finished:
                return  # only what the lost owner has not heard is left
            else:
                self._survive(controller, partial(self._exclude, controller))
        raise HangError("too many steps")

    def _lose(self, owner: Site) -> None:
        owner.host = None
        for peer in owner.peers:
            self._disconnect(owner.name, peer)

    def _exclude(self, controller: Site) -> None:
        host = controller.host
        assert host is not None
        if host.missed != self.lost or self.excluded:
            raise HangError(f"controller waits for {host.awaits}")
        host.exclude(exclusion_by(self.identities, "aa", [self.lost], self._staying()))
        self.excluded = True
        self._advance(controller)

    def _staying(self) -> list[str]:
        return [name for name in self.identities if name != self.lost]


class LosingPowerCuts(LosingSimulation, PowerCuts):
    """Whoever dies also loses all that nothing has waited for."""
