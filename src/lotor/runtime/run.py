"""`lotor.run`: any protocol, in one process."""

import secrets
from collections import Counter
from collections.abc import Callable
from functools import partial
from operator import index
from time import perf_counter
from typing import SupportsIndex, cast

from lotor.core.effects import Decision
from lotor.core.errors import InputError
from lotor.core.fixed_point import RewardScale
from lotor.core.result import PartyCost, Result
from lotor.core.version import VERSION
from lotor.environments.base import Environment
from lotor.policies import AnyPolicy
from lotor.protocols.party import RUN_ID_BYTES, Run
from lotor.protocols.plain import Plain, agent_of
from lotor.protocols.protocol import Protocol
from lotor.runtime.drive import drive
from lotor.runtime.pulls import Puller, features
from lotor.runtime.recorder import Recorder
from lotor.transport.base import Transport
from lotor.transport.memory import MemoryTransport

Progress = Callable[[int, int], None]
_REPORTS = 200


def run(
    protocol: Protocol | AnyPolicy,
    environment: Environment,
    *,
    budget: SupportsIndex,
    seed: SupportsIndex | None = None,
    trajectory: bool = True,
    progress: Progress | None = None,
    recorder: Recorder | None = None,
    transport: Transport | None = None,
) -> Result:
    """Run a protocol, or a policy in plain, on an environment within this process.

    `seed` fixes what decides arms and the simulated rewards (a fresh one is drawn and recorded
    when it is None); keys, masks, permutations and nonces always come from the operating system.
    `progress` is called with (round, budget) now and then. `transport` moves the messages; without
    one they stay in memory.

    >>> import lotor
    >>> arms = lotor.BernoulliArms([0.9, 0.5, 0.1])
    >>> result = lotor.run(lotor.ThompsonSampling(), arms, budget=200, seed=7)
    >>> result.reward == lotor.run(lotor.ThompsonSampling(), arms, budget=200, seed=7).reward
    True
    """
    budget = _whole("budget", budget)
    seed = secrets.randbits(48) if seed is None else _whole("seed", seed)
    chosen = _protocol(protocol)
    if isinstance(environment, type) or not hasattr(environment, "start"):
        raise InputError(
            f"run takes an environment such as BernoulliArms([0.9, 0.1]), not {environment!r}"
        )
    k, scale = _described(environment)
    run_id, least = secrets.token_hex(RUN_ID_BYTES), chosen.least_budget
    plan = Run(run_id, k, budget, scale, seed, environment, least)
    parties = chosen.parties(plan)
    puller = Puller(environment.start(seed), scale)
    log = _PullLog(puller, budget, trajectory=trajectory, progress=progress)
    started = perf_counter()
    try:
        seats = drive(
            parties,
            transport or MemoryTransport(),
            log,
            recorder,
            log.watch,
            partial(features, environment),
        )
    finally:
        puller.close()
    operations: Counter[str] = Counter()
    for party in parties.values():
        operations.update(party.operations())
    return Result(
        reward=cast("float", seats[chosen.learner].output),
        arms=None if log.arms is None else log.arms[: log.done],
        parties={
            name: PartyCost(seat.cpu_seconds, seat.messages_sent, seat.bytes_sent)
            for name, seat in seats.items()
        },
        operations=dict(operations),
        seconds=perf_counter() - started,
        run=plan.id,
        version=VERSION,
        protocol=chosen.name,
        options=dict(chosen.options()),
        seed=seed,
        budget=budget,
        k=plan.k,
        rounds=log.done,
        privacy=_privacy(chosen, plan),
    )


def _protocol(protocol: Protocol | AnyPolicy) -> Protocol:
    """A protocol as it is, a policy in plain."""
    if isinstance(protocol, Protocol):
        return protocol
    if agent_of(protocol) is None:
        raise InputError(f"run takes a protocol or a policy such as UCB(), not {protocol!r}")
    return Plain(protocol)


def _privacy(protocol: Protocol, plan: Run) -> dict[str, float | int | str | None] | None:
    """What the run spent of privacy, where the protocol accounts for it."""
    spent = protocol.privacy(plan)
    return None if spent is None else dict(spent)


def _described(environment: Environment) -> tuple[int, RewardScale]:
    """How many arms an environment has, and the range of its rewards."""
    try:
        low, high = environment.reward_range
        return index(environment.k), RewardScale(low, high)
    except InputError:
        raise
    except (AttributeError, TypeError, ValueError) as error:
        raise InputError(
            "an environment has a whole number k of arms and a reward_range (lowest, highest), "
            f"{type(environment).__name__} has not: {error}"
        ) from None


def _whole(name: str, value: SupportsIndex) -> int:
    try:
        number = -1 if isinstance(value, bool) else index(value)
    except TypeError:
        number = -1
    if number < 0:
        raise InputError(f"{name} is a whole number that is not negative, {value!r} is not")
    return number


class _PullLog:
    """Passes pulls on, keeps the trajectory and reports progress."""

    def __init__(
        self, pull: Puller, budget: int, *, trajectory: bool, progress: Progress | None
    ) -> None:
        self._pull = pull
        self._budget = budget
        self._progress = progress
        self._every = max(1, budget // _REPORTS)
        self.done = 0
        self.arms: list[int] | None = [0] * budget if trajectory else None

    def __call__(self, decision: Decision) -> float:
        reward = self._pull(decision)
        self.watch(decision)
        return reward

    def watch(self, decision: Decision) -> None:
        """Take note of a decision."""
        if self.arms is not None:
            self.arms[decision.round - 1] = decision.arm
        self.done += 1
        if self._progress is not None and self.done % self._every == 0:
            self._progress(self.done, self._budget)
