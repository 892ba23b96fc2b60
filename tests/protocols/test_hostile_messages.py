"""Messages and orders that somebody has altered, to every role of every protocol at every step."""

import random
import warnings
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache, partial

import pytest

import lotor
from lotor.core.effects import (
    Act,
    Checkpoint,
    Effect,
    Message,
    Observe,
    Pull,
    Receive,
    Steps,
)
from lotor.core.fixed_point import RewardScale
from lotor.crypto.signing import Identity
from lotor.environments import Environment
from lotor.protocols.form import AnyForm, Assignment
from lotor.protocols.party import Party, Run
from lotor.protocols.protocol import SecureProtocol
from lotor.protocols.store import MemoryStore
from lotor.runtime.drive import drive
from lotor.runtime.pulls import Puller, features
from lotor.runtime.recorder import Recorder
from lotor.runtime.wire import decode, encode
from lotor.transport import MemoryTransport
from mutations import SEED, HostileTarget, attack

pytestmark = [
    pytest.mark.filterwarnings("ignore::lotor.crypto.paillier.InsecureKeyWarning"),
    pytest.mark.filterwarnings("ignore::lotor.crypto.ckks.InsecureParametersWarning"),
]


MANY_ORDERS = 3_000


class Hoard(MemoryStore):
    """Keeps all, so that a party can be brought to an old moment."""

    def retain(self, names: Collection[str]) -> None:
        pass


@dataclass(frozen=True)
class Moment:
    """A party that waits for a message: how it came there, and what honest parties sent."""

    seat: str
    order: bytes
    rebuild: Callable[[bytes | None], Party]
    snapshot: bytes
    handed: Sequence[object]
    waits: Receive
    honest: bytes

    def party(self) -> Steps[object]:
        """The party at this moment, once more."""
        steps = self.rebuild(self.snapshot).steps()
        next(steps)
        for value in (None, *self.handed):
            steps.send(value)
        return steps

    def read(self, payload: bytes) -> None:
        """Let the party take a message, until it waits for something else."""
        steps = self.party()
        try:
            with suppress(StopIteration):
                effect = steps.send(decode(payload, self.waits, self.seat))
                while not isinstance(effect, Receive | Pull | Act | Observe):
                    if isinstance(effect, Checkpoint):
                        effect.snapshot()
                    effect = steps.send(None)
        finally:
            steps.close()


@dataclass
class Watched(Party):
    """A party that keeps its moments."""

    party: Party
    seat: str
    order: bytes
    rebuild: Callable[[bytes | None], Party]
    moments: list[Moment] = field(default_factory=list)

    def steps(self) -> Steps[object]:
        steps, snapshot = self.party.steps(), b""
        value: object = None
        handed: list[object] = []
        while True:
            try:
                effect: Effect = steps.send(value)
            except StopIteration as end:
                return end.value
            if isinstance(effect, Checkpoint):
                snapshot, handed = effect.snapshot(), []
            value = yield effect
            if isinstance(effect, Receive) and isinstance(value, Message):
                honest = encode(value)
                so_far = snapshot, tuple(handed)
                here = Moment(self.seat, self.order, self.rebuild, *so_far, effect, honest)
                self.moments.append(here)
            if not isinstance(effect, Checkpoint):
                handed.append(value)


@dataclass(frozen=True)
class Case:
    """A small run of one protocol. `few` and `many` hostile messages are tried on it."""

    protocol: Callable[[], SecureProtocol]
    arms: Callable[[], Environment]
    budget: int
    few: int
    many: int


def _helba() -> SecureProtocol:
    with warnings.catch_warnings(action="ignore"):
        return lotor.Helba(insecure_degree=1024, form="paper")


CASES = {
    "samba by bits": Case(
        lambda: lotor.Samba(lotor.Pursuit(), form="paper", insecure_key_bits=256, owners=2),
        lambda: lotor.BernoulliArms([0.5] * 4),
        *(8, 700, 14_000),
    ),
    "samba by position": Case(
        lambda: lotor.Samba(lotor.UCB(), form="paper", insecure_key_bits=256, selection="position"),
        lambda: lotor.BernoulliArms([0.5] * 3),
        *(6, 300, 6_000),
    ),
    "linucb-ds": Case(
        lambda: lotor.LinUCBDS(lotor.LinUCB(), insecure_key_bits=1024, form="paper"),
        lambda: lotor.LinearArms([[1, 0], [0, 1], [0.7, 0.7]], theta=[0.8, 0.3]),
        *(3, 100, 1_500),
    ),
    "linucb-ds, live": Case(
        lambda: lotor.LinUCBDS(insecure_key_bits=1024, form="paper-live"),
        lambda: lotor.VectorArms([[1, 0], [0, 1], [0.7, 0.7]], lambda one: 0.25 * one.arm),
        *(3, 60, 1_000),
    ),
    "ppcb": Case(
        lambda: lotor.PPCB(epsilon=0.1, owners=2),
        lambda: lotor.ContextualArms.lookalike(rounds=4, arms=3, d=4, seed=1),
        *(4, 60, 1_000),
    ),
    "helba": Case(_helba, lambda: lotor.LinearContexts.toy(rounds=3, seed=5), *(3, 10, 100)),
    "helba, shared": Case(
        lotor.Helba, lambda: lotor.LinearContexts.toy(rounds=3, seed=5), *(3, 60, 1_000)
    ),
}


@cache
def moments(name: str) -> list[Moment]:
    """All moments at which some party of a small run waits for a message."""
    case = CASES[name]
    protocol, arms = case.protocol(), case.arms()
    form = protocol.in_form()
    assignments: dict[str, Assignment] = {}
    identities: list[Identity] = []
    with pytest.MonkeyPatch.context() as patch:
        kind, build, opens = type(form), type(form).party, type(form).open

        def party(self: AnyForm, assignment: Assignment, snapshot: bytes | None = None) -> Party:
            assignments[assignment.seat] = replace(assignment, store=Hoard())
            return build(self, assignments[assignment.seat], snapshot)

        def opened(self: AnyForm, *about: object) -> tuple[bytes, Party]:
            identities.append(about[-1])  # type: ignore[arg-type]
            return opens(self, *about)  # type: ignore[arg-type]

        patch.setattr(kind, "party", party)
        patch.setattr(kind, "open", opened)
        scale = RewardScale(*arms.reward_range)
        least = getattr(protocol, "least_budget", None)
        run = Run("aa" * 16, arms.k, case.budget, scale, 1, arms, least)
        parties = protocol.parties(run)
    some = next(iter(assignments.values()))
    role = form.role(form.opener)
    assignments[form.opener] = replace(
        some,
        store=Hoard(),
        seat=form.opener,
        identity=identities[0],
        brings=frozenset(role.brings),
    )
    watched = {
        seat: Watched(party, seat, some.order, partial(form.party, assignments[seat]))
        for seat, party in parties.items()
    }
    observe = lambda asked: features(arms, asked)  # noqa: E731
    pull = Puller(arms.start(1), scale)
    drive(watched, MemoryTransport(), pull, Recorder(), observe=observe)
    return [moment for party in watched.values() for moment in party.moments]


def each_moment(name: str) -> Iterator[HostileTarget]:
    for number, one in enumerate(moments(name)):
        title = f"{one.waits.kind.__name__} to {one.seat} (moment {number} of {name})"
        others = [other.honest for other in moments(name) if other.waits.kind is one.waits.kind]
        # The honest one most often, so that the place fits and the rest is looked at.
        yield HostileTarget(title, [*[one.honest] * 3, *others[:3]], one.read)


def attack_all(name: str, count: int, seed: int) -> int:
    """So many hostile messages in all, spread over the moments of a run; how many were refused."""
    targets = list(each_moment(name))
    dice = random.Random(seed)
    chosen = [dice.choice(targets) for _ in range(count)] if count < 2 * len(targets) else targets
    share = max(1, count // len(chosen))
    return sum(attack(target, share, seed + place) for place, target in enumerate(chosen))


@pytest.mark.parametrize("name", CASES)
def test_a_party_can_be_brought_to_each_of_its_moments_again(name: str) -> None:
    for number, moment in enumerate(moments(name)):
        if number % 7 == 0:
            moment.read(moment.honest)


@pytest.mark.parametrize("name", CASES)
def test_altered_messages_are_refused_in_plain_words(name: str) -> None:
    assert attack_all(name, CASES[name].few, SEED) > 0


@pytest.mark.long
@pytest.mark.parametrize("name", CASES)
def test_very_many_altered_messages_are_refused_in_plain_words(name: str) -> None:
    assert attack_all(name, CASES[name].many, SEED + 1) > 0


def orders(name: str) -> HostileTarget:
    """An order as the form's opener writes it, and what every other party reads of it."""
    case = CASES[name]
    form = case.protocol().in_form()
    order = moments(name)[0].order
    return HostileTarget(f"an order of {name}", [order], form.plan)


@pytest.mark.parametrize("name", CASES)
def test_altered_orders_are_refused_in_plain_words(name: str) -> None:
    assert attack(orders(name), 200) > 0


@pytest.mark.long
@pytest.mark.parametrize("name", CASES)
def test_very_many_altered_orders_are_refused_in_plain_words(name: str) -> None:
    assert attack(orders(name), MANY_ORDERS, SEED + 1) > 0
