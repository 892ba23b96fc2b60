"""An owner is lost for good, and everybody else crashes around its exclusion."""

from functools import cache

import msgspec
import pytest

import lotor
from crashing import Fate, HangError, Site, World
from losing import LosingPowerCuts, LosingSimulation, drive_bereft
from lotor.core.effects import Message
from lotor.core.errors import LotorError
from lotor.core.fixed_point import RewardScale
from lotor.crypto.signing import Identity
from lotor.policies import Policy
from lotor.protocols.garbled import messages as garbled
from lotor.protocols.party import Run
from lotor.protocols.samba.shared import messages
from lotor.protocols.samba.shared.messages import OwnersLeft
from lotor.runtime.durable.record import RunRecord
from one_use import Departure, used_twice
from rebuilding import rebuildable

MEANS = [0.2, 0.5, 0.8]
ARMS, BUDGET, SEED = lotor.BernoulliArms(MEANS), 10, 6
OWNERS = {"owner-1": [0], "owner-2": [1, 2]}
ONE_USE: tuple[type[Message], ...] = (
    garbled.Columns,
    garbled.GarbledTables,
    messages.CoveredScores,
    messages.Escrow,
    garbled.InputLabels,
    messages.ResultBits,
    messages.ResultShares,
)
UCB, PURSUIT = lotor.UCB(), lotor.Pursuit()


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that their ends fall anywhere."""
    monkeypatch.setattr("lotor.protocols.garbled.schedule.MOST_TOGETHER", 3)


@cache
def samba_of(policy: Policy) -> lotor.Samba:
    return lotor.Samba(policy, owners=2, exclude_after="7d")


def sites_of(policy: Policy) -> tuple[dict[str, Site], dict[str, Identity]]:
    run = Run("aa", len(MEANS), BUDGET, RewardScale(), SEED)
    made = rebuildable(samba_of(policy), run)
    sites = {
        name: Site(name, one.party, one.rebuild, list(one.peers)) for name, one in made.items()
    }
    return sites, {name: one.identity for name, one in made.items()}


def survived(
    policy: Policy,
    fate: Fate,
    lost: str,
    t: int,
    later: int,
    *,
    seed: int = 0,
    cuts: float = 0.0,
    power: bool = False,
) -> list[Departure]:
    """All that left the parties of a run without its lost owner, which equals plain without it."""
    world = World(MEANS, seed=SEED)
    sites, identities = sites_of(policy)
    simulation = (
        LosingPowerCuts(sites, world, fate, seed=seed)
        if power
        else LosingSimulation(sites, world, fate, seed=seed, cuts=cuts)
    )
    simulation.lost, simulation.t, simulation.later = lost, t, later
    simulation.identities = identities
    simulation.run()
    customer, excluded = sites["customer"].host, sites[lost].host
    assert customer is not None
    assert used_twice(simulation.sent, *ONE_USE) == []
    assert world.double_pulls == 0
    left = [told(one) for one in simulation.sent if one.to == "comp" and is_left(one)]
    if not simulation.excluded:
        return simulation.sent  # it was needed no more
    assert len({msgspec.msgpack.encode(one) for one in left}) == 1
    assert excluded is not None
    assert not excluded.finished
    absent = dict.fromkeys(OWNERS[lost], left[0].t)
    arms, pulls = drive_bereft(samba_of(policy), ARMS, absent, budget=BUDGET, seed=SEED)
    for number, arm in enumerate(arms, 1):
        # It may be gone before it pulls the arm that was selected last.
        last = number == left[0].t - 1 and arm in OWNERS[lost]
        assert world.arms.get(number, arm if last else None) == arm
    _, escrowed = left[0].escrows.get(lost, (0, 0))
    paid = [x for t, arm, x in pulls if arm not in OWNERS[lost] or t < escrowed]
    assert customer.output == sum(paid)
    for site in sites.values():
        site.disk.close()
    return simulation.sent


def is_left(departure: Departure) -> bool:
    tag = msgspec.msgpack.decode(departure.payload)[0]
    return bool(tag == OwnersLeft.__struct_config__.tag)


def told(departure: Departure) -> OwnersLeft:
    return msgspec.msgpack.decode(departure.payload, type=OwnersLeft)


@pytest.mark.parametrize("policy", [UCB, PURSUIT], ids=["ucb", "pursuit"])
@pytest.mark.parametrize("lost", OWNERS)
@pytest.mark.parametrize(
    "seeds", [range(2), pytest.param(range(2, 12), marks=pytest.mark.long)], ids=["some", "more"]
)
def test_at_any_moment_with_crashes_cuts_and_duplicates(
    policy: Policy, lost: str, seeds: range
) -> None:
    crashes = 0
    for seed in seeds:
        fate = Fate(seed, probability=0.006)
        survived(policy, fate, lost, 4 + seed % 4 * 2, 3 * seed, seed=seed, cuts=0.02)
        crashes += fate.crashes
    assert crashes > 0  # the seeds decide it


def crashing_once(fate: Fate, *, power: bool = False) -> None:
    survived(PURSUIT, fate, "owner-1", 6, 5, power=power)


def steps(*, power: bool = False) -> int:
    counted = Fate()
    crashing_once(counted, power=power)
    return counted.steps


@pytest.mark.parametrize("stride", [47, pytest.param(7, marks=pytest.mark.long)])
def test_a_crash_at_every_step(stride: int) -> None:
    for at in range(1, steps() + 1, stride):
        crashing_once(Fate(at=at))


@pytest.mark.parametrize("stride", [61, pytest.param(9, marks=pytest.mark.long)])
def test_a_power_cut_at_every_step(stride: int) -> None:
    for at in range(1, steps(power=True) + 1, stride):
        crashing_once(Fate(at=at), power=True)


@pytest.mark.long
def test_a_controller_that_does_not_keep_what_the_lost_owner_said_cannot_go_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """So that the test above would notice."""
    monkeypatch.setattr(RunRecord, "keep_taken", lambda *_: None)

    def fails(at: int) -> bool:
        try:
            crashing_once(Fate(at=at))
        except (AssertionError, LotorError, HangError):
            return True
        return False

    assert any(fails(at) for at in range(steps(), 0, -5))


class LosingTwo(LosingSimulation):
    """When Comp has heard that an owner left, Controller dies, and another owner is lost."""

    def run(self, limit: int = 200_000) -> None:
        self.gone: set[str] = set()
        for _ in range(limit):
            controller = self.sites["controller"]
            if not self.gone and controller.host is not None and controller.host.round >= self.t:
                self._lose_for_good("owner-1")
            if self.gone == {"owner-1"} and self._comp_has_begun_anew():
                self._lose_for_good("owner-3")
                self._lose(controller)
            there = [one for name, one in self.sites.items() if name not in self.gone]
            dead = [one for one in there if one.host is None]
            if dead:
                self._start(dead[0])
            elif all(one.host.drained for one in there if one.host):
                return
            elif any(self._wires.values()):
                self._deliver_one()
            else:
                self._exclude(controller)
        raise HangError("too many steps")

    def _lose_for_good(self, owner: str) -> None:
        self.lost, self.excluded = owner, False
        self.gone.add(owner)
        self._lose(self.sites[owner])

    def _comp_has_begun_anew(self) -> bool:
        said = [msgspec.msgpack.decode(one.payload) for one in self.sent if one.sender == "comp"]
        return [tag for tag, *_ in said].count(garbled.BaseOffer.__struct_config__.tag) == 2

    def _staying(self) -> list[str]:
        return [name for name in self.identities if name not in self.gone]


def test_who_has_left_stays_so_if_another_one_is_lost_while_controller_is_dead() -> None:
    """All others have heard of the first one alone."""
    samba, means = lotor.Samba(PURSUIT, owners=3, exclude_after="7d"), [0.2, 0.5, 0.8, 0.4]
    made = rebuildable(samba, Run("aa", len(means), BUDGET, RewardScale(), SEED))
    sites = {
        name: Site(name, one.party, one.rebuild, list(one.peers)) for name, one in made.items()
    }
    simulation = LosingTwo(sites, World(means, seed=SEED), Fate(), seed=1)
    simulation.t, simulation.identities = 7, {name: one.identity for name, one in made.items()}
    simulation.run()
    assert used_twice(simulation.sent, *ONE_USE) == []
    left = [told(one) for one in simulation.sent if one.to == "comp" and is_left(one)]
    names = [tuple(one.exclusion.away) for one in left]
    assert list(dict.fromkeys(names)) == [("owner-1",), ("owner-3",)]
    customer = sites["customer"].host
    assert customer is not None
    assert customer.result.left == {away: one.t for one in left for away in one.exclusion.away}
    for site in sites.values():
        site.disk.close()


def test_nobody_is_excluded_who_is_not_missed() -> None:
    with pytest.raises(HangError, match="controller waits for"):
        survived(UCB, Fate(), "owner-2", 0, 1)  # in the set-up
