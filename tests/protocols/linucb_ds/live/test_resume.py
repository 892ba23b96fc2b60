"""Parties of a run with live rewards crash, lose power, and wait for people: nothing is lost."""

from collections import defaultdict
from collections.abc import Iterator
from functools import cache

import msgspec
import pytest

import lotor
from crashing import Answers, Fate, Simulation, Site
from helpers import run_openly
from lotor.core.effects import Decision, Pull
from lotor.core.errors import InputError
from lotor.core.fixed_point import RewardScale
from lotor.crypto.paillier import Ciphertext
from lotor.protocols.linucb_ds.live.messages import EncryptedReward
from lotor.protocols.linucb_ds.live.owner import LiveOwner
from lotor.protocols.linucb_ds.live.terms import LiveTerms
from lotor.protocols.party import Run
from lotor.runtime.durable.questions import Question
from one_use import Departure
from power import Fickle, PowerCuts
from protocols.linucb_ds.live.stage import NODES, SHOP, live, paid
from protocols.linucb_ds.stage import known_keys, small_key
from rebuilding import RestartingRun, rebuildable
from restarting import Restarting

pytestmark = pytest.mark.filterwarnings("ignore::lotor.crypto.paillier.InsecureKeyWarning")

BUDGET, SEED = 6, 6
_TAG = str(EncryptedReward.__struct_config__.tag).encode()
SETTINGS = {
    "linucb": (live(lotor.LinUCB()), SHOP),
    "lints": (live(lotor.LinTS()), SHOP),
    "spectral-ucb": (live(lotor.SpectralUCB()), NODES),
}


@pytest.fixture(scope="module", autouse=True)
def _keys() -> Iterator[None]:
    with known_keys(small_key("comp"), small_key("customer")):
        yield


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("every", [1, 2, 3])
def test_restarted_equals_uninterrupted(setting: str, every: int) -> None:
    """From the very first effect on, set-up and key switching included."""
    protocol, arms = SETTINGS[setting]
    smooth = run_openly(protocol, arms, budget=9, seed=SEED)
    broken = run_openly(RestartingRun(protocol, every), arms, budget=9, seed=SEED)  # type: ignore[arg-type]
    assert all(one.restarts > 0 for one in broken.parties.values() if isinstance(one, Restarting))
    assert broken.arms == smooth.arms
    assert broken.seats["customer"].output == smooth.seats["customer"].output


class Paying:
    """Answers each decision once by its id; who asks again says so."""

    def __init__(self) -> None:
        self.arms: dict[int, int] = {}
        self.double = 0

    def answer(self, asked: Question) -> float:
        decision = asked.decision
        assert decision is not None
        self.double += decision.round in self.arms and not asked.again
        self.arms[decision.round] = decision.arm
        return paid(decision)


def sites() -> dict[str, Site]:
    run = Run("aa", SHOP.k, BUDGET, RewardScale(), SEED, SHOP, 2)
    made = rebuildable(live(), run)
    return {name: Site(name, one.party, one.rebuild, list(one.peers)) for name, one in made.items()}


@cache
def plain() -> lotor.Result:
    return lotor.run(live().plain(), SHOP, budget=BUDGET, seed=SEED)


def rewards_sent(sent: list[Departure]) -> dict[bytes, set[int]]:
    """Which rewards ever left the owner for each round, decrypted."""
    key, found = small_key("comp"), defaultdict[bytes, set[int]](set)
    for one in sent:
        if one.sender == "owner" and _TAG in one.payload:
            message = msgspec.msgpack.decode(one.payload, type=EncryptedReward)
            value = key.decrypt(Ciphertext.from_bytes(message.reward, key.public))
            found[message.t].add(value)
    return found


def survived(fate: Fate, *, seed: int = 0, cuts: float = 0.0) -> None:
    """A run with crashes equals plain, and each reward entered as one value."""
    places, world = sites(), Paying()
    simulation = Simulation(places, world, fate, seed=seed, cuts=cuts)
    simulation.run()
    customer = places["customer"].host
    assert customer is not None
    assert customer.output == plain().reward
    assert [world.arms[t] for t in sorted(world.arms)] == plain().arms
    assert world.double == 0
    sent = rewards_sent(simulation.sent)
    assert len(sent) == BUDGET
    assert all(len(values) == 1 for values in sent.values())
    for site in places.values():
        site.disk.close()


STRIDES = [17, pytest.param(1, marks=pytest.mark.long)]


@pytest.mark.parametrize("stride", STRIDES)
def test_a_crash_at_every_step(stride: int) -> None:
    counted = Fate()
    survived(counted)
    for at in range(1, counted.steps + 1, stride):
        survived(Fate(at=at))


@pytest.mark.parametrize(
    "seeds", [range(3), pytest.param(range(3, 12), marks=pytest.mark.long)], ids=["some", "more"]
)
def test_many_crashes_cuts_and_duplicates(seeds: range) -> None:
    crashes = 0
    for seed in seeds:
        fate = Fate(seed, probability=0.01)
        survived(fate, seed=seed, cuts=0.02)
        crashes += fate.crashes
    assert crashes > 0  # the seeds decide it


def power_cut(world: Answers, fate: Fate) -> list[Departure]:
    places = sites()
    simulation = PowerCuts(places, world, fate, seed=fate.at or 0)
    simulation.run()
    for site in places.values():
        site.disk.close()
    return simulation.sent


@pytest.mark.parametrize("stride", STRIDES)
def test_a_power_cut_sends_no_second_reward(stride: int) -> None:
    """Though the world breaks its promise to answer the same again."""
    counted = Fate()
    power_cut(Fickle(), counted)
    for at in range(1, counted.steps + 1, stride):
        sent = rewards_sent(power_cut(Fickle(), Fate(at=at)))
        assert all(len(values) == 1 for values in sent.values())


def test_it_would_send_another_one_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that the test above would notice."""

    def unmasked(decision: Decision, masked: bool) -> Pull:
        return Pull(decision)

    monkeypatch.setattr("lotor.protocols.linucb_ds.live.owner.Pull", unmasked)
    counted = Fate()
    power_cut(Fickle(), counted)
    for at in range(counted.steps, 0, -3):
        sent = rewards_sent(power_cut(Fickle(), Fate(at=at)))
        if any(len(values) > 1 for values in sent.values()):
            return
    pytest.fail("each reward left as one value")


def test_an_owner_that_states_another_range_takes_no_part() -> None:
    made = rebuildable(live(), Run("aa", SHOP.k, BUDGET, RewardScale(), SEED, SHOP, 2))
    owner = made["owner"].party
    assert isinstance(owner, LiveOwner)
    terms = LiveTerms(
        run="aa",
        budget=BUDGET,
        policy="linucb",
        slot_bits=128,
        key_bits=512,
        customer_key=b"",
        low=0.0,
        high=2.0,
    )
    with pytest.raises(InputError, match="from 0 to 2, and the owner's lie from 0 to 1"):
        owner.layout_of(terms)
