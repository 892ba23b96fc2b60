"""A party rebuilt from its checkpoint goes on as if nothing had happened, and opens the same."""

from collections.abc import Iterator

import pytest

import lotor
from helpers import Outcome
from lotor.core.effects import Checkpoint, Send
from lotor.core.errors import FormatError, InputError, JournalError
from lotor.protocols.party import Party
from lotor.protocols.ppcb.dealt.actor import PPCBActor
from lotor.protocols.ppcb.dealt.server import PPCBServer
from lotor.protocols.ppcb.receiver import PPCBReceiver, PPCBReceiverMemory
from lotor.protocols.two_server import schedule
from lotor.protocols.two_server.checks import place_of
from lotor.protocols.two_server.messages import Opened
from protocols.ppcb.stage import (
    ONE_ARM_LEARNS,
    SERVERS,
    Watched,
    fixed_keys,
    learning,
    play,
    rebuild,
    some_arms,
    traced_once,
    watched,
    wire,
)
from restarting import Restarting

PARTIES = ["receiver", "actor", "dealer", *SERVERS, "owner-1", "owner-2"]
ARMS, BUDGET = some_arms(3, rounds=7, k=3, d=3), 7
SETTINGS = {
    "at once": lotor.PPCB(epsilon=0.3, form="dealt"),
    "late": lotor.PPCB(epsilon=0.3, delay=2, form="dealt"),
}


@pytest.fixture(scope="module", autouse=True, params=ONE_ARM_LEARNS)
def _traced(request: pytest.FixtureRequest) -> Iterator[None]:
    with traced_once(), learning(one_arm=ONE_ARM_LEARNS[request.param]):
        yield


@pytest.fixture(scope="module")
def smooth(_traced: None) -> dict[str, Outcome]:
    """Uninterrupted runs."""
    runs = {}
    for name, protocol in SETTINGS.items():
        with fixed_keys():
            runs[name] = play(protocol, ARMS, budget=BUDGET)
    return runs


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize(
    ("names", "every"),
    [*(([name], 1) for name in PARTIES), (PARTIES, 1), (PARTIES, 3), (list(SERVERS), 5)],
)
def test_restarted_equals_uninterrupted(
    smooth: dict[str, Outcome], setting: str, names: list[str], every: int
) -> None:
    """From the very first effect on; every byte that anybody sends is the same."""
    crashing: list[Restarting] = []

    def wrap(name: str, party: Party) -> Party:
        if name not in names:
            return party
        crashing.append(Restarting(party, lambda snapshot: rebuild(party, snapshot), every))
        return crashing[-1]

    with fixed_keys():
        broken = play(SETTINGS[setting], ARMS, budget=BUDGET, wrap=wrap)
    assert len(crashing) == len(names)
    assert all(party.restarts > 0 for party in crashing)
    assert broken.arms == smooth[setting].arms
    assert broken.seats["receiver"].output == smooth[setting].seats["receiver"].output
    assert wire(broken) == wire(smooth[setting])


def redo(watch: Watched, begin: int) -> int:
    """Go on from a checkpoint with what was handed then; how many effects were the same."""
    steps = rebuild(watch.party, watch.done[begin].snapshot).steps()
    value: object = None
    for number, done in enumerate(watch.done[begin:]):
        effect = steps.send(value)
        if isinstance(effect, Checkpoint):
            assert isinstance(done.effect, Checkpoint)
            # A checkpoint that is gone back to need not be written again.
            assert number == 0 or effect.durable == done.effect.durable
            assert effect.snapshot() == done.snapshot
        else:
            assert effect == done.effect
        value = done.handed
    with pytest.raises(StopIteration):
        steps.send(value)
    return len(watch.done) - begin


@pytest.mark.parametrize("setting", SETTINGS)
def test_what_is_redone_from_any_checkpoint_is_the_same(
    setting: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also what is written down, so that it does not matter how often a party goes back."""
    monkeypatch.setattr(schedule, "MOST_AHEAD", 2)  # each step is a batch
    _, watches = watched(SETTINGS[setting], ARMS, budget=5)
    for watch in watches.values():
        points = [
            number
            for number, done in enumerate(watch.done)
            if isinstance(done.effect, Checkpoint) and done.effect.round <= 4
        ]
        assert len(points) >= 4
        assert all(redo(watch, point) > 0 for point in points)


def test_another_reward_or_context_would_open_something_else() -> None:
    """So that the tests above would notice."""
    _, watches = watched(SETTINGS["at once"], ARMS, budget=3)
    watch = watches[SERVERS[0]]
    first = next(
        number
        for number, done in enumerate(watch.done)
        if isinstance(done.effect, Checkpoint) and done.effect.round == 1
    )
    party = rebuild(watch.party, watch.done[first].snapshot)
    assert isinstance(party, PPCBServer)
    party._memory.waiting[-1].x = bytes(8 * ARMS.d)
    steps = party.steps()
    value: object = None
    for done in watch.done[first:]:
        effect = steps.send(value)
        if isinstance(effect, Send) and effect != done.effect:
            break
        value = done.handed
    assert isinstance(effect, Send)
    assert isinstance(effect.message, Opened)
    assert effect.message.place == place_of(1)


def snapshots(watches: dict[str, Watched]) -> dict[str, bytes]:
    return {
        name: [done.snapshot for done in watch.done if done.snapshot][-1]
        for name, watch in watches.items()
    }


def test_snapshots_of_others_and_junk_are_refused() -> None:
    outcome, watches = watched(SETTINGS["at once"], ARMS, budget=2)
    last = snapshots(watches)
    for name, party in outcome.parties.items():
        good = last[name]
        next(rebuild(party, good).steps())
        other = last["actor" if name != "actor" else "dealer"]
        for junk in (b"", good[:-1], b"junk", other):
            with pytest.raises(FormatError, match="not a snapshot of a"):
                rebuild(party, junk)
    with pytest.raises(InputError, match="of server-1 in run aa, not of server-0"):
        rebuild(outcome.parties["server-0"], last["server-1"])
    with pytest.raises(InputError, match="of owner-2 in run aa, not of owner-1"):
        rebuild(outcome.parties["owner-1"], last["owner-2"])
    with pytest.raises(InputError, match="in run aa, not of receiver in run bb"):
        PPCBReceiver.restored("bb", last["receiver"])


def test_a_receivers_snapshot_without_its_order_is_refused() -> None:
    empty = PPCBReceiverMemory(party="receiver", run="aa", share_key=bytes(32)).dump()
    with pytest.raises(FormatError, match="has no order"):
        PPCBReceiver.restored("aa", empty)


def test_a_snapshot_of_a_run_of_another_shape_is_refused() -> None:
    outcome, _ = watched(SETTINGS["at once"], ARMS, budget=2)
    _, others = watched(SETTINGS["at once"], some_arms(3, rounds=2, k=4, d=3), budget=2)
    with pytest.raises(JournalError, match="does not belong to a run of 3 arms and 3 features"):
        rebuild(outcome.parties["server-0"], snapshots(others)["server-0"])
    actor = outcome.parties["actor"]
    assert isinstance(actor, PPCBActor)
    next(rebuild(actor, snapshots(others)["actor"]).steps())
