"""A run in this process with everything that its parties saw, and what really happened."""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from operator import index

from lotor.core.effects import HIDDEN, Decision
from lotor.core.fixed_point import RewardScale
from lotor.core.views import Passing, Truth, View
from lotor.environments.base import Environment
from lotor.protocols.party import RUN_ID_BYTES, Party, Run
from lotor.protocols.protocol import SecureProtocol
from lotor.runtime.drive import drive
from lotor.runtime.pulls import Puller, features
from lotor.runtime.recorder import Recorder
from lotor.transport.memory import MemoryTransport


@dataclass(frozen=True, slots=True)
class Recording:
    """One run; `truth` is what attacks are measured against."""

    order: bytes
    recorder: Recorder
    parties: Mapping[str, Party]
    truth: Truth

    def view(self, *seats: str) -> View:
        """What these parties saw together; with no seats, what the network saw."""
        seen = [
            one
            for one in self.recorder.exchanges
            if not seats or one.sender in seats or one.to in seats
        ]
        passed = [Passing(one.sender, one.to, len(one.payload), one.at) for one in seen]
        if not seats:
            return View((), self.order, passed)
        pulls = [(asked, reward) for seat, asked, reward in self.recorder.pulls if seat in seats]
        parties = {seat: self.parties[seat] for seat in seats}
        return View(seats, self.order, passed, seen, pulls, parties)


def record(
    protocol: SecureProtocol, environment: Environment, *, budget: int, seed: int
) -> Recording:
    """Run a protocol as `lotor.run` does, and keep it all."""
    scale = RewardScale.of(environment.reward_range)
    run = Run(
        secrets.token_hex(RUN_ID_BYTES),
        index(environment.k),
        budget,
        scale,
        seed,
        environment,
        protocol.least_budget,
    )
    order, parties = protocol.opened(run)
    recorder, puller = Recorder(), Puller(environment.start(seed), scale)
    arms: dict[int, int] = {}

    def pull(decision: Decision) -> float:
        note(decision)
        return puller(decision)

    def note(decision: Decision) -> None:
        if decision.arm != HIDDEN:
            arms[decision.round] = decision.arm

    try:
        drive(parties, MemoryTransport(), pull, recorder, note, partial(features, environment))
    finally:
        puller.close()
    paid = {decision.round: reward for _, decision, reward in recorder.pulls}
    truth = Truth(
        arms=[arms[t] for t in sorted(arms)],
        rewards=[paid[t] for t in sorted(paid)],
        environment=environment,
        parties=parties,
        features=recorder.features,
    )
    return Recording(order, recorder, parties, truth)
