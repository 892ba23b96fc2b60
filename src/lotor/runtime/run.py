"""`lotor.run`: any protocol, in one process."""

import secrets
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from functools import partial as bind
from operator import index
from time import perf_counter
from typing import SupportsIndex, cast

from lotor.core.best_arm import BestArm
from lotor.core.errors import InputError, OutOfDataError
from lotor.core.fixed_point import Floats, RewardScale
from lotor.core.result import Ended, PartyCost, Result
from lotor.core.version import VERSION
from lotor.environments.base import Environment, names_of
from lotor.policies import AnyPolicy
from lotor.protocols.earlier import EndedRun
from lotor.protocols.party import RUN_ID_BYTES, Party, Run
from lotor.protocols.plain import Plain, agent_of
from lotor.protocols.protocol import Protocol, SecureProtocol
from lotor.runtime.drive import drive_until
from lotor.runtime.interruption import Interruption
from lotor.runtime.late_outcomes import LateOutcomes
from lotor.runtime.pull_log import OnRound, Progress, PullLog, RunStopped
from lotor.runtime.pulls import Puller, features
from lotor.runtime.recorder import Recorder
from lotor.transport.base import Transport
from lotor.transport.memory import MemoryTransport


def run(
    protocol: Protocol | AnyPolicy,
    environment: Environment,
    *,
    budget: SupportsIndex,
    seed: SupportsIndex | None = None,
    trajectory: bool = True,
    progress: Progress | None = None,
    on_round: OnRound | None = None,
    partial: bool = False,
    recorder: Recorder | None = None,
    transport: Transport | None = None,
    continues: Result | None = None,
) -> Result:
    """Run a protocol, or a policy in plain, on an environment within this process.

    `seed` fixes what decides arms and the simulated rewards (a fresh one is drawn and recorded
    when it is None); keys, masks, permutations and nonces always come from the operating system.
    `trajectory=False` keeps no arms and rewards of each round. `progress` is called with (round,
    budget) now and then, `on_round` with a `Round` after each one, and the run stops there if it
    returns True. With `partial`, ctrl-C ends the run after the round and returns what was done so
    far, instead of raising KeyboardInterrupt; a second one does not wait for the round. The result
    says that a run was stopped or interrupted, or that a log had no more data; its reward is then
    that of the rounds done, as the simulation saw them. `transport` moves the messages; without one
    they stay in memory. `continues` is the result of a run of the same protocol that kept what it
    had learnt (an option of the protocol), and that this one goes on from.

    >>> import lotor
    >>> arms = lotor.BernoulliArms([0.9, 0.5, 0.1])
    >>> result = lotor.run(lotor.ThompsonSampling(), arms, budget=200, seed=7)
    >>> result.reward == lotor.run(lotor.ThompsonSampling(), arms, budget=200, seed=7).reward
    True
    >>> enough = lambda one: one.total >= 50
    >>> lotor.run(lotor.ThompsonSampling(), arms, budget=200, seed=7, on_round=enough).reward
    50.0
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
    earlier = None if continues is None else _ended_run(continues, chosen)
    plan = Run(run_id, k, budget, scale, seed, environment, least, earlier)
    order, parties = chosen.opened(plan)
    names = names_of(environment)
    puller = Puller(environment.start(seed), scale)
    interruption = Interruption()
    log = PullLog(
        puller,
        plan,
        before=chosen.rounds_before(plan),
        decided=chosen.decided_reward(plan),
        trajectory=trajectory,
        progress=progress,
        on_round=on_round,
        names=names,
        after_round=interruption.come_through,
    )
    ends = (RunStopped, OutOfDataError, *((KeyboardInterrupt,) if partial else ()))
    started = perf_counter()
    try:
        with interruption if partial else nullcontext():
            seats, ended_by = drive_until(
                ends,
                parties,
                transport or MemoryTransport(),
                log,
                recorder,
                log.watch,
                bind(features, environment),
                LateOutcomes(chosen.delays(plan)),
            )
    finally:
        puller.close()
    best, revealed = parties[chosen.learner].best, parties[chosen.learner].revealed
    operations: Counter[str] = Counter()
    for party in parties.values():
        operations.update(party.operations())
    return Result(
        reward=log.total if ended_by else cast("float", seats[chosen.learner].output),
        arms=log.arms,
        rewards=log.rewards,
        regrets=_regrets(environment, log.arms),
        names=None if names is None else list(names),
        parties={
            name: PartyCost(
                seat.cpu_seconds, seat.messages_sent, seat.bytes_sent, seat.party.cpu_elsewhere
            )
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
        ended=_ended(ended_by, best),
        best=best,
        kept=None if ended_by else _kept(plan, chosen, order, parties),
        revealed=None if revealed is None else revealed.called(names),
    )


def _ended_run(result: Result, protocol: Protocol) -> EndedRun:
    """The run that is continued, if it kept what that takes."""
    kept = result.kept
    if not isinstance(kept, EndedRun):
        raise InputError(
            f"run {result.run} kept nothing that a further run could begin with: run it with "
            "keep=True, to its end, in a protocol that has this option"
        )
    if kept.protocol != protocol.name:
        raise InputError(
            f"run {result.run} is one of {kept.protocol}, and {protocol.name} cannot continue it"
        )
    if kept.form != (form := _form(protocol)):
        raise InputError(
            f"run {result.run} is one of {kept.protocol} in the form {kept.form}, and a run in the "
            f"form {form} cannot continue it: give form={kept.form!r}"
        )
    return kept


def _form(protocol: Protocol) -> str:
    return protocol.form if isinstance(protocol, SecureProtocol) else ""


def _kept(
    plan: Run, protocol: Protocol, order: bytes, parties: Mapping[str, Party]
) -> EndedRun | None:
    """What the parties keep for a further run, if they do."""
    kept = {seat: party.kept for seat, party in parties.items() if party.kept is not None}
    if not kept:
        return None
    return EndedRun(plan.id, protocol.name, order, kept, _form(protocol))


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


def _ended(cause: BaseException | None, best: BestArm | None) -> Ended:
    if cause is None:
        return "sure" if best is not None and best.sure else "by itself"
    if isinstance(cause, OutOfDataError):
        return "out of data"
    return "stopped" if isinstance(cause, RunStopped) else "interrupted"


def _regrets(environment: Environment, arms: list[int] | None) -> list[float] | None:
    """What each round missed, where the environment knows it."""
    known: Callable[[list[int]], Floats] | None = getattr(environment, "regrets", None)
    return None if known is None or arms is None else known(arms).tolist()


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
