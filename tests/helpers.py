"""What several tests need."""

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from secrets import token_hex

from lotor.core.effects import Decision
from lotor.core.fixed_point import RewardScale
from lotor.core.views import Passing, Truth, View
from lotor.environments import Environment
from lotor.protocols.earlier import EndedRun
from lotor.protocols.party import Party, Run
from lotor.protocols.protocol import Protocol
from lotor.protocols.samba.paper import mask
from lotor.protocols.samba.paper.comp import SambaPaperComp
from lotor.protocols.samba.paper.messages import PermutedScores
from lotor.protocols.samba.paper.wire import Bindings
from lotor.runtime.drive import Seat, drive
from lotor.runtime.late_outcomes import LateOutcomes
from lotor.runtime.pulls import features
from lotor.runtime.recorder import Recorder
from lotor.transport import MemoryTransport, Transport


@dataclass
class Outcome:
    """A run whose parties a test may look into."""

    run: Run
    parties: Mapping[str, Party]
    seats: dict[str, Seat]
    recorder: Recorder
    arms: list[int] = field(default_factory=list)


def run_openly(
    protocol: Protocol,
    environment: Environment,
    *,
    budget: int,
    seed: int = 1,
    run_id: str | None = None,
    transport: Transport | None = None,
    wrap: Callable[[str, Party], Party] = lambda _, party: party,
    earlier: EndedRun | None = None,
    before: int = 0,
) -> Outcome:
    """Like `lotor.run`, but keeps parties and views, and lets a test replace some of it."""
    run = Run(
        run_id or token_hex(16),
        environment.k,
        budget,
        RewardScale(*environment.reward_range),
        seed,
        environment,
        getattr(protocol, "least_budget", None),
        earlier,
    )
    parties = {name: wrap(name, party) for name, party in protocol.parties(run).items()}
    recorder = Recorder()
    pull = environment.start(seed)

    def answer(decision: object) -> float:
        reward = pull(decision)  # type: ignore[arg-type]
        assert isinstance(reward, float)
        return reward

    arms = [0] * budget

    def note(decision: Decision) -> None:
        arms[decision.round - before - 1] = decision.arm

    observe = partial(features, environment)
    late = LateOutcomes(protocol.delays(run))
    seats = drive(parties, transport or MemoryTransport(), answer, recorder, note, observe, late)
    for _, decision, _ in recorder.pulls:
        note(decision)
    return Outcome(run, parties, seats, recorder, arms)


def drive_plain(
    plain: Protocol,
    environment: Environment,
    *,
    budget: int,
    seed: int,
    delay: Callable[[int], int],
) -> tuple[list[int], object]:
    """The arms and the total of plain, each round's outcome so many rounds late."""
    plan = Run("aa", environment.k, budget, RewardScale(*environment.reward_range), seed)
    arms: list[int] = []
    pull = environment.start(seed)

    def answer(decision: Decision) -> float:
        arms.append(decision.arm)
        return pull(decision)  # type: ignore[return-value]

    late = LateOutcomes(delay)
    seats = drive(plain.parties(plan), MemoryTransport(), answer, late=late)
    return arms, seats["agent"].output


class HopTransport(MemoryTransport):
    """Counts, for each party, the hops of the longest chain of messages that it has waited for.

    As if each message took 1 on its way and computing took nothing: a round trip is 2.
    """

    def __init__(self) -> None:
        super().__init__()
        self.hops: Counter[str] = Counter()
        self._under_way: defaultdict[tuple[str, str], deque[int]] = defaultdict(deque)

    def send(self, sender: str, to: str, payload: bytes) -> None:
        super().send(sender, to, payload)
        self._under_way[sender, to].append(self.hops[sender] + 1)

    def receive(self, receiver: str, sender: str) -> bytes | None:
        payload = super().receive(receiver, sender)
        if payload is not None:
            arrival = self._under_way[sender, receiver].popleft()
            self.hops[receiver] = max(self.hops[receiver], arrival)
        return payload


def seen_by_comp(outcome: Outcome) -> list[list[int]]:
    """The lists of masked scores that Comp decrypts."""
    comp = outcome.parties["comp"]
    assert isinstance(comp, SambaPaperComp)
    lists = []
    for exchange in outcome.recorder.received("comp"):
        message = exchange.message
        if isinstance(message, PermutedScores):
            bound = Bindings(outcome.run.id).to_comp(message.place)
            values = comp._aead.open(message.sealed, mask.WIDTH, bound)
            lists.append([int.from_bytes(value, "big") for value in values])
    return lists


def view_of(outcome: Outcome, order: bytes, *seats: str) -> View:
    """All that these parties saw together; `order` are the public terms."""
    recorder = outcome.recorder
    return View(
        seats,
        order,
        [Passing(one.sender, one.to, len(one.payload), one.at) for one in recorder.exchanges],
        [one for one in recorder.exchanges if {one.sender, one.to} & set(seats)],
        [(decision, reward) for name, decision, reward in recorder.pulls if name in seats],
        {name: outcome.parties[name] for name in seats},
    )


def truth_of(outcome: Outcome) -> Truth:
    """What really happened, for attacks to be measured against."""
    pulls = sorted(outcome.recorder.pulls, key=lambda pull: pull[1].round)
    return Truth(
        outcome.arms,
        [reward for _, _, reward in pulls],
        outcome.run.environment,
        outcome.parties,
        outcome.recorder.features,
    )
