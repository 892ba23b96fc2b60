"""What goes out under a mask that is used once stays the same, also when the power is cut."""

import sqlite3
from collections import defaultdict
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import pytest

import crashing
from crashing import Fate, Site
from encrypted import encrypted_disks
from lotor.core.effects import (
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
from lotor.protocols.party import Party
from lotor.runtime.durable import record
from lotor.runtime.durable.host import Host, first_snapshot
from lotor.runtime.durable.questions import Question
from lotor.runtime.durable.record import Answer, RunRecord
from power import Fickle, PowerCuts

BUDGET = 4


class Told(Message, frozen=True, tag="test/1/told"):
    value: float


class Owner(Party):
    """Brings a feature to each round, hears of it, and then says what it was paid."""

    def __init__(self, snapshot: bytes = b"1") -> None:
        self._t = int(snapshot)

    def steps(self) -> Steps[int]:
        while self._t <= BUDGET:
            yield Checkpoint(lambda: b"%d" % self._t, self._t)
            decision = Decision.hidden("aa", self._t)
            (feature,) = yield Observe(decision, (0, 1))
            yield from self._tell(feature)
            reward = yield Pull(decision)
            yield from self._tell(reward)
            self._t += 1
        return self._t

    def _tell(self, value: float) -> Steps[None]:
        yield Send("server", Told(value))
        yield Receive("server", Told)


class Server(Owner):
    """Hears, and says so."""

    def steps(self) -> Steps[int]:
        while self._t <= BUDGET:
            yield Checkpoint(lambda: b"%d" % self._t, self._t)
            for _ in range(2):
                yield Receive("owner", Told)
                yield Send("owner", Told(0.0))
            self._t += 1
        return self._t


def sent(fate: Fate, seed: int = 0) -> Mapping[int, set[bytes]]:
    """What the owner of a run with power cuts sent: under each number, all that went out."""
    sites = {
        "owner": Site("owner", Owner(), Owner, ["server"]),
        "server": Site("server", Server(), Server, ["owner"]),
    }
    try:
        simulation = PowerCuts(sites, Fickle(), fate, seed=seed)
        simulation.run()
    finally:
        for site in sites.values():
            site.disk.close()
    seen: defaultdict[int, set[bytes]] = defaultdict(set)
    for left in simulation.sent:
        if left.sender == "owner":
            seen[left.seq].add(left.payload)
    return seen


def assert_once(seen: Mapping[int, set[bytes]]) -> None:
    assert sorted(seen) == list(range(1, 2 * BUDGET + 1))
    assert all(len(payloads) == 1 for payloads in seen.values())


def test_no_message_ever_goes_out_with_two_contents() -> None:
    fate = Fate()
    assert_once(sent(fate))
    for at in range(1, fate.steps + 1):
        fate = Fate(at=at)
        assert_once(sent(fate))
        assert fate.crashes == 1


@pytest.mark.parametrize(
    ("seeds", "encrypted"),
    [(40, False), (6, True), pytest.param(40, True, marks=pytest.mark.long)],
)
def test_many_power_cuts(
    seeds: int, encrypted: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if encrypted:
        monkeypatch.setattr(crashing, "new_disk", encrypted_disks(tmp_path))
    crashes = 0
    for seed in range(seeds):
        fate = Fate(seed, probability=0.03)
        assert_once(sent(fate, seed))
        crashes += fate.crashes
    assert crashes > 2.5 * seeds


@pytest.mark.parametrize("kind", [Observe, Pull])
def test_the_rule_cannot_be_left_out(
    kind: type[Observe | Pull], monkeypatch: pytest.MonkeyPatch
) -> None:
    masked = Question.masked.fget  # type: ignore[attr-defined]
    monkeypatch.setattr(
        Question, "masked", property(lambda asked: type(asked.effect) is not kind and masked(asked))
    )
    numbers: set[int] = set()
    for seed in range(40):
        seen = sent(Fate(seed, probability=0.03), seed)
        numbers |= {number for number, payloads in seen.items() if len(payloads) > 1}
    assert {number % 2 for number in numbers} == {1 if kind is Observe else 0}


class FunctionCaller(Party):
    """Asks one question."""

    def __init__(self, effect: Pull | Act | Observe) -> None:
        self._effect = effect

    def steps(self) -> Steps[None]:
        yield Checkpoint(lambda: b"")
        yield self._effect


@pytest.mark.parametrize(
    ("effect", "answer", "waits"),
    [
        (Observe(Decision.hidden("aa", 1), (0, 2)), (0.5, 0.25), 1),
        (Pull(Decision.hidden("aa", 1)), 0.5, 1),
        (Pull(Decision.named("aa", 1, 0)), 0.5, 0),
        # On the disk, but not counted, or peers would see who was pulled.
        (Pull(Decision.named("aa", 1, 0), masked=True), 0.5, 0),
        (Pull(None, masked=True), None, 0),
        (Pull(None), None, 0),
        (Act(Decision.of_step("aa", 1, 2)), None, 0),
    ],
)
def test_only_what_is_masked_in_every_round_counts(
    effect: Pull | Act | Observe, answer: Answer, waits: int
) -> None:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as disk:
        for statement in record.SCHEMA.split(";"):
            disk.execute(statement)
        RunRecord(disk, "aa").create(first_snapshot(FunctionCaller(effect)), repeatable=True)
        run = RunRecord(disk, "aa")
        host = Host("lyon", lambda _: FunctionCaller(effect), run, [], lambda *_: None)
        host.advance()
        assert disk.execute("SELECT * FROM pulls").fetchall() == []  # no intent
        host.answered(answer)
        assert run.commits == waits
        again = RunRecord(disk, "aa")
        again.begin()
        assert again.commits == waits
        assert [pull.answer for pull in again.pulls_after(0)] == [answer]
        host.close()
