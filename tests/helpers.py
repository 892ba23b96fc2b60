"""What several tests need."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from lotor.core.fixed_point import RewardScale
from lotor.environments import Environment
from lotor.protocols.party import Party, Protocol, Run
from lotor.runtime.drive import Seat, drive
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
    transport: Transport | None = None,
    wrap: Callable[[str, Party], Party] = lambda _, party: party,
) -> Outcome:
    """Like `lotor.run`, but keeps parties and views, and lets a test replace some of it."""
    run = Run("00" * 16, environment.k, budget, RewardScale(*environment.reward_range), seed)
    parties = {name: wrap(name, party) for name, party in protocol.parties(run).items()}
    recorder = Recorder()
    pull = environment.start(seed)

    def answer(decision: object) -> float:
        reward = pull(decision)  # type: ignore[arg-type]
        assert isinstance(reward, float)
        return reward

    seats = drive(parties, transport or MemoryTransport(), answer, recorder)
    outcome = Outcome(run, parties, seats, recorder, [0] * budget)
    for _, decision, _ in recorder.pulls:
        outcome.arms[decision.round - 1] = decision.arm
    return outcome
