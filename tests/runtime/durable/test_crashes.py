"""A crash of any party at any step changes nothing; leaving out any rule does."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

import crashing
import lotor
from crashing import Fate, HangError, Simulation, World, samba_sites
from encrypted import encrypted_disks
from lotor.core.effects import Decision
from lotor.core.errors import LotorError
from lotor.policies import Policy, to_text
from lotor.runtime.durable import host as host_module
from lotor.runtime.durable.link import Link
from lotor.runtime.durable.record import RunRecord

pytestmark = pytest.mark.filterwarnings("ignore::lotor.crypto.paillier.InsecureKeyWarning")

MEANS = [0.2, 0.5, 0.8]
BUDGET = 24
POLICIES = [
    lotor.UCB(),
    lotor.ThompsonSampling(),
    lotor.EpsilonGreedy(0.3),
    lotor.Softmax(),
    lotor.Pursuit(),
]


@dataclass
class Outcome:
    total: object
    arms: dict[int, int]
    double_pulls: int
    steps: int
    crashes: int


def simulated(
    policy: Policy,
    fate: Fate,
    *,
    seed: int = 0,
    cuts: float = 0.0,
    repeatable: bool = False,
    budget: int = BUDGET,
    room: int = 1_000_000,
) -> Outcome:
    world = World(MEANS, seed=6)
    sites = samba_sites(policy, len(MEANS), budget, seed=6, owners=2)
    Simulation(sites, world, fate, seed=seed, cuts=cuts, repeatable=repeatable, room=room).run()
    customer = sites["customer"].host
    assert customer is not None
    for site in sites.values():
        site.disk.close()
    return Outcome(customer.output, world.arms, world.double_pulls, fate.steps, fate.crashes)


@cache
def plain(policy: Policy, budget: int) -> lotor.Result:
    samba = lotor.Samba(policy, form="paper", insecure_key_bits=128)
    return lotor.run(samba.plain(), lotor.BernoulliArms(MEANS), budget=budget, seed=6)


def assert_right(outcome: Outcome, policy: Policy, budget: int = BUDGET) -> None:
    expected = plain(policy, budget)
    assert outcome.total == expected.reward
    assert [outcome.arms[t] for t in range(1, budget + 1)] == expected.arms
    assert outcome.double_pulls == 0


@pytest.mark.parametrize(("rounds", "often"), [(1, 0.02), (5, 0.008), (16, 0.003)])
@pytest.mark.parametrize("policy", POLICIES, ids=to_text)
@pytest.mark.parametrize(
    "seeds", [range(3), pytest.param(range(3, 12), marks=pytest.mark.long)], ids=["some", "more"]
)
def test_many_crashes_cuts_and_duplicates(
    policy: Policy, rounds: int, often: float, seeds: range, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host_module, "CHECKPOINT_ROUNDS", rounds)
    crashes = 0
    for seed in seeds:
        outcome = simulated(
            policy,
            Fate(seed, probability=often),
            seed=seed,
            cuts=0.01,
            repeatable=seed % 2 == 0,
        )
        assert_right(outcome, policy)
        crashes += outcome.crashes
    assert crashes > 2.5 * len(seeds)


@pytest.mark.parametrize("room", [1, 3])
def test_many_crashes_where_connections_have_little_room(
    room: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host_module, "CHECKPOINT_ROUNDS", 16)
    for seed in range(3):
        fate = Fate(seed, probability=0.003)
        outcome = simulated(lotor.UCB(), fate, seed=seed, cuts=0.01, room=room)
        assert_right(outcome, lotor.UCB())
        assert outcome.crashes > 0


@pytest.mark.parametrize("rounds", [1, 5])
def test_many_crashes_with_encrypted_journals(
    rounds: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(crashing, "new_disk", encrypted_disks(tmp_path))
    monkeypatch.setattr(host_module, "CHECKPOINT_ROUNDS", rounds)
    crashes = 0
    for seed in range(2):
        fate = Fate(seed, probability=0.02)
        repeatable = seed == 0
        outcome = simulated(lotor.UCB(), fate, seed=seed, cuts=0.01, repeatable=repeatable)
        assert_right(outcome, lotor.UCB())
        crashes += outcome.crashes
    assert crashes > 5


@pytest.mark.slow
@pytest.mark.parametrize(
    ("budget", "checkpoint"),
    [(7, 2), pytest.param(BUDGET, 4, marks=pytest.mark.long)],
)
def test_a_crash_at_each_step(
    budget: int, checkpoint: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    crash_at_each_step(budget, checkpoint, monkeypatch)


@pytest.mark.long
def test_a_crash_at_each_step_with_encrypted_journals(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(crashing, "new_disk", encrypted_disks(tmp_path))
    crash_at_each_step(4, 2, monkeypatch)


def crash_at_each_step(budget: int, checkpoint: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every effect, commit, send and pull of every party, one run each."""
    monkeypatch.setattr(host_module, "CHECKPOINT_ROUNDS", checkpoint)
    policy = lotor.UCB()
    steps = simulated(policy, Fate(), budget=budget).steps
    assert steps > 40 * budget
    for at in range(1, steps + 1):
        outcome = simulated(policy, Fate(at=at), budget=budget)
        assert outcome.crashes == 1
        assert_right(outcome, policy, budget)


def ack_before_durable(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Link, "ack", property(lambda link: link.received))


def no_outbox(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(RunRecord, "_save_outbox", lambda record, link: None)


def no_sequence_check(patch: pytest.MonkeyPatch) -> None:
    def accept(link: Link, seq: int, payload: bytes) -> bool:
        link.received = max(seq, link.received)
        link.inbox.append(payload)
        return True

    patch.setattr(Link, "accept", accept)


def no_intent(patch: pytest.MonkeyPatch) -> None:
    def intend(record: RunRecord, number: int, decision: Decision | None) -> None:
        pass

    patch.setattr(RunRecord, "intend", intend)


def no_counters(patch: pytest.MonkeyPatch) -> None:
    save = RunRecord._save_counters
    patch.setattr(RunRecord, "_save_counters", lambda record, link: save(record, Link(link.peer)))


def leave_at_once(patch: pytest.MonkeyPatch) -> None:
    save = RunRecord._save_outbox

    def forgetful(record: RunRecord, link: Link) -> None:
        if not finishing:
            save(record, link)

    finishing: list[bool] = []
    finish = host_module.Host._finish

    def leave(host: host_module.Host, output: object) -> None:
        finishing.append(True)
        finish(host, output)
        finishing.clear()

    patch.setattr(RunRecord, "_save_outbox", forgetful)
    patch.setattr(host_module.Host, "_finish", leave)


@pytest.mark.parametrize(
    "broken",
    [
        ack_before_durable,
        no_outbox,
        no_sequence_check,
        no_intent,
        no_counters,
        leave_at_once,
    ],
)
def test_no_rule_can_be_left_out(
    broken: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host_module, "CHECKPOINT_ROUNDS", 2)
    broken(monkeypatch)
    assert any(goes_wrong(lotor.UCB(), seed) for seed in range(25))


def goes_wrong(policy: Policy, seed: int) -> bool:
    try:
        outcome = simulated(policy, Fate(seed, probability=0.02), seed=seed, cuts=0.02)
        assert_right(outcome, policy)
    except (AssertionError, HangError, LotorError):
        return True
    return False
