"""Nothing is opened before the inputs that it depends on are written down; no pad is used twice."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import count

import msgspec
import numpy as np
import pytest

import lotor
from lotor.core.effects import Checkpoint, Message, Receive, Send, Steps
from lotor.core.errors import ProtocolError
from lotor.protocols.earlier import EndedRun
from lotor.protocols.party import Party
from lotor.protocols.ppcb.dealt.circuits import cheapest_circuits
from lotor.protocols.ppcb.dealt.server import PPCBServer
from lotor.protocols.ppcb.dealt.server_memory import CONTEXT, REWARDED, PPCBServerMemory
from lotor.protocols.ppcb.messages import Features, OneHot, Reward
from lotor.protocols.ppcb.terms import FIRST, SECOND
from lotor.protocols.two_server.checks import place_of
from lotor.protocols.two_server.messages import Opened
from protocols.ppcb.stage import (
    ONE_ARM_LEARNS,
    SERVERS,
    Watched,
    ended,
    learning,
    play,
    rebuild,
    some_arms,
    terms_of,
    traced_once,
    watched,
)
from protocols.two_server.noting import noted_pads
from restarting import Restarting

ARMS, BUDGET = some_arms(4, rounds=6, k=3, d=2), 6
LEARN, BEGIN = 1, 3
PROTOCOLS = [
    lotor.PPCB(epsilon=0.3, form="dealt"),
    lotor.PPCB(epsilon=0.3, delay=2, form="dealt"),
    lotor.PPCB(epsilon=0.3, delay=2, keep=True, form="dealt"),
]


@pytest.fixture(scope="module", autouse=True, params=ONE_ARM_LEARNS)
def _traced(request: pytest.FixtureRequest) -> Iterator[None]:
    with traced_once(), learning(one_arm=ONE_ARM_LEARNS[request.param]):
        yield


def too_early(watch: Watched) -> list[str]:
    """What the second server sent before its last durable checkpoint held all the inputs to it."""
    found: list[str] = []
    written: PPCBServerMemory | None = None
    unwritten = False
    for done in watch.done:
        effect = done.effect
        if isinstance(effect, Checkpoint) and effect.durable:
            written = msgspec.msgpack.decode(done.snapshot, type=PPCBServerMemory)
            unwritten = False
        if isinstance(effect, Receive):
            unwritten = unwritten or effect.kind in (Features, Reward)
        if isinstance(effect, Send) and isinstance(effect.message, Opened | OneHot):
            name = type(effect.message).__name__
            if written is None or unwritten or not _holds(written, effect.message):
                found.append(f"{name} in step {int.from_bytes(effect.message.place[:8], 'big')}")
    return found


def _holds(written: PPCBServerMemory, message: Opened | OneHot) -> bool:
    if not written.waiting or not written.table:
        return False
    oldest, latest = written.waiting[0], written.waiting[-1]
    t, circuit = written.t, int.from_bytes(message.place[10:12], "big")
    if isinstance(message, Opened) and circuit == BEGIN:  # which needs no inputs
        return message.place[:8] == place_of(0)[:8]
    if isinstance(message, Opened) and circuit == LEARN:
        at, there = t, written.stage == REWARDED and len(oldest.reward) == 8
    else:
        # The context of a step is written down with the reward of the one before.
        at = t + 1 if written.stage == REWARDED else t
        there = len(latest.x) == 8 * ARMS.d and not latest.one_hot
    return there and message.place[:8] == place_of(at)[:8]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_nothing_is_opened_before_its_inputs_are_written_down(protocol: lotor.PPCB) -> None:
    _, watches = watched(protocol, ARMS, budget=BUDGET)
    assert len(watches[SECOND].sent(Opened)) > 5 * BUDGET
    assert len(watches[SECOND].sent(OneHot)) == BUDGET
    assert too_early(watches[SECOND]) == []


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_first_server_is_brought_no_inputs(protocol: lotor.PPCB) -> None:
    """Its shares of them are functions of keys: so it need not wait for its disk."""
    _, watches = watched(protocol, ARMS, budget=BUDGET)
    effects = [done.effect for done in watches[FIRST].done]
    assert not any(isinstance(e, Receive) and e.kind in (Features, Reward) for e in effects)


class Hasty(PPCBServer):
    """Does not wait for the disk."""

    stage = CONTEXT

    def _inputs_written(self) -> Checkpoint:
        checkpoint = super()._inputs_written()
        if self._memory.stage == self.stage:
            return msgspec.structs.replace(checkpoint, durable=False)
        return checkpoint


class HastyReward(Hasty):
    stage = REWARDED


class Forgetful(PPCBServer):
    """Writes down that the context is there, without it."""

    def _snapshot(self) -> bytes:
        whole = msgspec.msgpack.decode(super()._snapshot(), type=PPCBServerMemory)
        whole.waiting = []
        return whole.dump()


@pytest.mark.parametrize("kind", [Hasty, HastyReward, Forgetful])
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_servers_that_do_not_write_down_are_noticed(
    protocol: lotor.PPCB, kind: type[PPCBServer]
) -> None:
    def replace(name: str, party: Party) -> Party:
        if not isinstance(party, PPCBServer):
            return party
        return kind(SERVERS.index(name), party._terms, draw_key=party._memory.draw_key)

    _, watches = watched(protocol, ARMS, budget=BUDGET, replace=replace)
    assert too_early(watches[SECOND])


class Opening(Party):
    """Notes all that a party opens, again and again after each crash."""

    def __init__(self, party: Party, opened: dict[bytes, list[bytes]]) -> None:
        self._party = party
        self._opened = opened
        self.operations = party.operations  # type: ignore[method-assign]

    def steps(self) -> Steps[object]:
        steps = self._party.steps()
        value: object = None
        while True:
            try:
                effect = steps.send(value)
            except StopIteration as end:
                return end.value
            if isinstance(effect, Send) and isinstance(effect.message, Opened):
                self._opened.setdefault(effect.message.place, []).append(effect.message.shares)
            value = yield effect


def opened_again(
    protocol: lotor.PPCB, rebuilt: Callable[[Party, bytes], Party]
) -> dict[str, dict[bytes, list[bytes]]]:
    """What each server opens at each place, when both crash after every effect."""
    opened: dict[str, dict[bytes, list[bytes]]] = {name: {} for name in SERVERS}

    def wrap(name: str, party: Party) -> Party:
        if name not in SERVERS:
            return party
        return Restarting(
            Opening(party, opened[name]),
            lambda snapshot: Opening(rebuilt(party, snapshot), opened[name]),
            every=1,
        )

    with suppress(ProtocolError):  # of p', where servers no longer agree
        play(protocol, ARMS, budget=4, wrap=wrap)
    return opened


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_no_place_is_ever_opened_with_other_inputs(protocol: lotor.PPCB) -> None:
    ends = 4 + (protocol.delay if protocol.keep else 0)
    # What a model begins with takes no inputs.
    begun = {place_of(0)[:8]}
    for places in opened_again(protocol, rebuild).values():
        assert {place[:8] for place in places} - begun == {
            place_of(t)[:8] for t in range(1, ends + 1)
        }
        assert max(map(len, places.values())) > 5
        assert all(len(set(shares)) == 1 for shares in places.values())


def test_other_inputs_after_a_crash_are_noticed() -> None:
    """They would show their difference, since they are opened under the same pads."""
    numbers = count()

    def changed(party: Party, snapshot: bytes) -> Party:
        again = rebuild(party, snapshot)
        assert isinstance(again, PPCBServer)
        again._model.table.share = again._model.table.share + np.uint64(next(numbers))
        return again

    places = opened_again(PROTOCOLS[0], changed)[SECOND]
    assert any(len(set(shares)) > 1 for shares in places.values())


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_each_pad_is_used_once(protocol: lotor.PPCB) -> None:
    """By each who holds its key: a server and the dealer, or whoever brings inputs and a server."""
    with noted_pads() as noted:
        outcome = play(protocol, ARMS, budget=BUDGET)
    used = noted.used
    used_circuits = cheapest_circuits(terms_of(outcome)).schedule.circuits
    learnt = BUDGET if protocol.keep else BUDGET - protocol.delay
    assert set(used["server"].values()) == set(used["dealer"].values()) == {1}
    assert used["server"] == used["dealer"]
    assert len(used["dealer"]) == 2 * sum(circuit.times for circuit in used_circuits)
    assert {learnt, BUDGET} <= {circuit.times for circuit in used_circuits} <= {learnt, BUDGET, 1}
    # Of two feature parties and the receiver: the party itself and the first server. What covers
    # the one-hot vector: both servers.
    assert set(used["outside"].values()) == {2}
    assert len(used["outside"]) == 3 * BUDGET + learnt
    assert not used["outside"].keys() & used["dealer"].keys()
    noted.check_unequal()


def test_only_inputs_and_openings_are_sent() -> None:
    """No kind of message was left out above."""
    outcome, _ = watched(PROTOCOLS[0], ARMS, budget=2)
    kinds: set[type[Message]] = {
        type(seen.message) for seen in outcome.recorder.exchanges if seen.sender in SERVERS
    }
    named = {kind.__name__ for kind in kinds}
    assert named == {"Agreed", "BlindKey", "Opened", "OneHot", "Due"}


@pytest.fixture(scope="module")
def earlier(_traced: None) -> EndedRun:
    return ended(play(lotor.PPCB(epsilon=0.3, keep=True, form="dealt"), ARMS, budget=2))


GOING_ON = [
    lotor.PPCB(epsilon=0.3, delay=1, keep=True, form="dealt"),
    lotor.PPCB(epsilon=0.3, predict=True, form="dealt"),
]


@pytest.mark.parametrize("protocol", GOING_ON)
def test_nothing_is_opened_early_in_a_run_that_goes_on(
    earlier: EndedRun, protocol: lotor.PPCB
) -> None:
    _, watches = watched(protocol, ARMS, budget=4, earlier=earlier)
    assert len(watches[SECOND].sent(OneHot)) == 4
    assert too_early(watches[SECOND]) == []


@pytest.mark.parametrize("protocol", GOING_ON)
def test_each_pad_of_a_run_that_goes_on_is_used_once(
    earlier: EndedRun, protocol: lotor.PPCB
) -> None:
    """One more is drawn by both servers: what moves between the shares of the kept model."""
    learnt = 0 if protocol.predict else 4
    with noted_pads() as noted:
        outcome = play(protocol, ARMS, budget=4, run_id="bb", earlier=earlier)
    used = noted.used
    circuits = cheapest_circuits(terms_of(outcome)).schedule.circuits
    assert used["server"] == used["dealer"]
    assert set(used["dealer"].values()) == {1}
    assert len(used["dealer"]) == 2 * sum(circuit.times for circuit in circuits)
    assert set(used["outside"].values()) == {2}
    # Two feature parties' contexts, the arms, and rewards where there are some.
    assert len(used["outside"]) == 1 + 3 * 4 + learnt
    noted.check_unequal()
