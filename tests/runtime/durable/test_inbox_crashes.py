"""Outcomes that come later, by way of the inbox: each counts once, whatever crashes."""

from collections.abc import Callable
from functools import cache, partial
from typing import Any, ClassVar

import pytest

import lotor
from crashing import Fate, FatefulHost, Simulation, Site, samba_sites
from lotor.core.effects import Collect, Decision
from lotor.core.errors import InputError
from lotor.core.fixed_point import RewardScale
from lotor.protocols.party import Run
from lotor.runtime.durable.open_decisions import OpenDecisions
from lotor.runtime.durable.questions import Question
from lotor.runtime.durable.record import Answer
from power import PowerCuts, PowerRecord

pytestmark = pytest.mark.filterwarnings("ignore::lotor.crypto.paillier.InsecureKeyWarning")

MEANS = [0.2, 0.5, 0.8]
LATE: dict[str, Any] = {"delay": "uniform:0-6", "outstanding": 5, "batch": 2}
FORMS = ["shared", "dealt", "paper"]


@cache
def plain(budget: int) -> lotor.Result:
    late = lotor.Samba(lotor.UCB(), **LATE)
    return lotor.run(late.plain(), lotor.BernoulliArms(MEANS), budget=budget, seed=6)


@cache
def delay_of() -> Callable[[int], int]:
    run = Run("aa", len(MEANS), 99, RewardScale(), 6)
    return lotor.Samba(lotor.UCB(), **LATE).delays(run)


class Clerks:
    """The people at each site: they hand outcomes in when they are known, often twice."""

    def __init__(self) -> None:
        self._pull = lotor.BernoulliArms(MEANS).start(6)
        self.rewards: dict[str, float] = {}
        self.arms: dict[int, int] = {}
        self.sites: dict[int, Site] = {}

    def answer(self, asked: Question) -> Answer:
        raise AssertionError("nothing is asked for at once")

    def look(self, host: FatefulHost, t: int, awaited: tuple[Decision, ...]) -> None:
        """Before round t."""
        inbox = OpenDecisions(host._record._database, RewardScale())
        due = {one.id for one in awaited}
        for one in inbox.waiting():
            assert one.arm is not None
            if one.id not in self.rewards:
                self.rewards[one.id] = self._pull(Decision.named(one.run, one.round, one.arm))
                assert self.arms.setdefault(one.round, one.arm) == one.arm
            if one.id in due or one.round + 1 + delay_of()(one.round) <= t:
                assert inbox.tell(one.id, self.rewards[one.id])
                assert not inbox.tell(one.id, self.rewards[one.id])
                with pytest.raises(InputError, match="another outcome already"):
                    inbox.tell(one.id, 0.25)
        if isinstance(host._record, PowerRecord):
            host._record._reached()


class ClerkedHost(FatefulHost):
    clerks: ClassVar[Clerks]

    def _perform(self) -> bool:
        effect = self._effect
        if type(effect) is Collect:
            self.clerks.look(self, effect.t, ())
            if not super()._perform():
                self.clerks.look(self, effect.t, effect.awaited)
                return super()._perform()
            return True
        return super()._perform()


class Late(Simulation):
    hosts = ClerkedHost


class LateWithPowerCuts(PowerCuts):
    hosts = ClerkedHost


def assert_survives(
    form: str, budget: int, simulated: Callable[[dict[str, Site], Clerks], Simulation]
) -> None:
    """The total, and all arms, are those of the uninterrupted run with the same arrivals."""
    clerks = ClerkedHost.clerks = Clerks()
    sites = samba_sites(lotor.UCB(), len(MEANS), budget, seed=6, owners=2, form=form, **LATE)
    for site in sites.values():
        site.disk.execute("CREATE TABLE runs (id TEXT, state TEXT)")
        site.disk.execute("INSERT INTO runs VALUES ('aa', 'running')")
    simulated(sites, clerks).run()
    customer = sites["customer"].host
    assert customer is not None
    assert customer.output == plain(budget).reward
    assert [clerks.arms[t] for t in range(1, budget + 1)] == plain(budget).arms
    counted = [
        row
        for site in sites.values()
        for row in site.disk.execute("SELECT round FROM decisions WHERE counted > 0")
    ]
    assert sorted(counted) == [(t,) for t in range(1, budget + 1)]
    for site in sites.values():
        site.disk.close()


def crashing(fate: Fate, sites: dict[str, Site], clerks: Clerks) -> Simulation:
    return Late(sites, clerks, fate, seed=fate.at or 0, cuts=0.01)


def losing_power(fate: Fate, sites: dict[str, Site], clerks: Clerks) -> Simulation:
    return LateWithPowerCuts(sites, clerks, fate, seed=fate.at or 0)


def steps_of(form: str, budget: int) -> int:
    fate = Fate()
    assert_survives(form, budget, partial(crashing, fate))
    return fate.steps


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("stride", [29, pytest.param(2, marks=pytest.mark.long)])
@pytest.mark.parametrize("how", [crashing, losing_power])
def test_a_crash_at_every_step(
    form: str, stride: int, how: Callable[[Fate, dict[str, Site], Clerks], Simulation]
) -> None:
    for at in range(1, steps_of(form, 10), stride):
        assert_survives(form, 10, partial(how, Fate(at=at)))


@pytest.mark.long
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_many_crashes(form: str, seed: int) -> None:
    fate = Fate(seed, probability=0.004)
    assert_survives(form, 24, partial(crashing, fate))
    assert fate.crashes > 0
