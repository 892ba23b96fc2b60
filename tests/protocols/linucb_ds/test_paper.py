"""LinUCB-DS's parties apart: they lose their memory at any step, and it changes nothing."""

import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache

import msgspec
import pytest

import lotor
from crashing import Fate, Simulation, Site, World
from lotor.core.errors import InputError, ProtocolError
from lotor.core.fixed_point import RewardScale
from lotor.crypto.signing import trusting_identities
from lotor.protocols.form import MODEL, Assignment, Contribution, Member
from lotor.protocols.linear_draws import simulated_keys
from lotor.protocols.linucb_ds.paper.comp import LinUCBComp
from lotor.protocols.linucb_ds.paper.customer import LinUCBCustomer
from lotor.protocols.linucb_ds.paper.form import LinUCBDSPaper
from lotor.protocols.linucb_ds.paper.game import LinUCBPrincipalMemory
from lotor.protocols.linucb_ds.paper.owner import LinUCBOwner
from lotor.protocols.linucb_ds.paper.principal import LinUCBPrincipal
from lotor.protocols.linucb_ds.paper.terms import LinUCBPaperTerms
from lotor.protocols.linucb_ds.terms import terms_from
from lotor.protocols.party import Party, Run
from lotor.protocols.protocol import PROTOCOLS
from lotor.runtime.durable import host as host_module
from lotor.runtime.durable.host import first_snapshot
from rebuilding import Rebuild

pytestmark = pytest.mark.filterwarnings("ignore::lotor.crypto.paillier.InsecureKeyWarning")

BUDGET, SEED, BITS = 14, 6, 512
VECTORS = [[1.0, 0.0], [0.0, 1.0], [0.7, 0.7], [0.5, -0.5]]
ARMS = lotor.LinearArms(VECTORS, theta=[0.6, 0.3])
RING = [[0.0, 1.0, 0.0, 1.0], [1.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 1.0], [1.0, 0.0, 1.0, 0.0]]
NODES = lotor.GraphArms(RING, values=[0.2, 0.5, 0.8, 0.5])
CASES: dict[str, tuple[lotor.LinUCBDS, lotor.LinearArms]] = {
    "linucb-ds": (lotor.LinUCBDS(insecure_key_bits=BITS, form="paper"), ARMS),
    "spectral-ucb-ds": (lotor.SpectralUCBDS(insecure_key_bits=BITS, form="paper"), NODES),
}


def rebuilder(party: Party, arms: lotor.LinearArms) -> Rebuild:
    def rebuild(snapshot: bytes) -> Party:
        if isinstance(party, LinUCBOwner):
            return LinUCBOwner(
                party._identity, "aa", arms, minimum_key_bits=BITS, snapshot=snapshot
            )
        if isinstance(party, LinUCBComp):
            return LinUCBComp(party._identity, "aa", insecure_key_bits=BITS, snapshot=snapshot)
        if isinstance(party, LinUCBPrincipal):
            return LinUCBPrincipal("aa", minimum_key_bits=BITS, snapshot=snapshot)
        assert isinstance(party, LinUCBCustomer)
        return LinUCBCustomer.restored(party._identity, "aa", snapshot, minimum_key_bits=BITS)

    return rebuild


def sites_of(name: str, budget: int = BUDGET) -> dict[str, Site]:
    protocol, arms = CASES[name]
    parties = protocol.parties(Run("aa", arms.k, budget, RewardScale(-9, 9), SEED, arms, 2))
    others = [seat for seat in parties if seat != "principal"]
    return {
        seat: Site(
            seat,
            party,
            rebuilder(party, arms),
            others if seat == "principal" else ["principal"],
        )
        for seat, party in parties.items()
    }


def arms_pulled(disk: sqlite3.Connection, budget: int) -> list[int]:
    rows = disk.execute("SELECT decision FROM pulls ORDER BY number").fetchall()
    decisions = [decision.split("/") for (decision,) in rows]
    assert [int(t) for _, _, t in decisions] == list(range(1, budget + 1))
    return [int(arm) for _, arm, _ in decisions]


@cache
def plain_run(name: str, budget: int) -> lotor.Result:
    protocol, arms = CASES[name]
    return lotor.run(protocol.plain(), arms, budget=budget, seed=SEED)


def survives(
    name: str, fate: Fate, *, seed: int = 0, cuts: float = 0.0, budget: int = BUDGET
) -> None:
    """Run to the end and hold total and arms against plain."""
    sites = sites_of(name, budget)
    Simulation(sites, World([0.5], seed=0), fate, seed=seed, cuts=cuts).run()
    plain = plain_run(name, budget)
    customer = sites["customer"].host
    assert customer is not None
    assert customer.output == plain.reward
    assert arms_pulled(sites["principal"].disk, budget) == plain.arms
    for site in sites.values():
        site.disk.close()


@pytest.mark.parametrize(("rounds", "often"), [(1, 0.02), (5, 0.015)])
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize(
    "seeds", [range(3), pytest.param(range(3, 10), marks=pytest.mark.long)], ids=["some", "more"]
)
def test_many_crashes_cuts_and_duplicates(
    name: str, rounds: int, often: float, seeds: range, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host_module, "CHECKPOINT_ROUNDS", rounds)
    crashes = 0
    for seed in seeds:
        fate = Fate(seed, probability=often)
        survives(name, fate, seed=seed, cuts=0.01)
        crashes += fate.crashes
    assert crashes > 2 * len(seeds)


@pytest.mark.long
@pytest.mark.parametrize(("budget", "checkpoint"), [(6, 2), (BUDGET, 4)])
def test_a_crash_at_each_step(
    budget: int, checkpoint: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host_module, "CHECKPOINT_ROUNDS", checkpoint)
    fate = Fate()
    survives("linucb-ds", fate, budget=budget)
    assert fate.steps > 14 * budget
    for at in range(1, fate.steps + 1):
        crash = Fate(at=at)
        survives("linucb-ds", crash, budget=budget)
        assert crash.crashes == 1


# -- the form --------------------------------------------------------------------------------------

FORM = LinUCBDSPaper()
SEATS = tuple(role.name for role in FORM.roles)


def members() -> dict[str, list[Member]]:
    return {seat: [Member(f"the-{seat}", Contribution(4))] for seat in SEATS}


def order(name: str = "linucb-ds", **options: str | int) -> tuple[bytes, Party]:
    identity = trusting_identities(list(SEATS))["customer"]
    protocol = PROTOCOLS[name].ordered({"form": "paper", "key_bits": 2048, **options})
    return protocol.in_form().open(protocol, "aa", members(), 20, identity)


@pytest.fixture(scope="module")
def ordered() -> bytes:
    return order(slot_bits=96, policy="linucb:R=0.2")[0]


def place(ordered: bytes, seat: str, **more: object) -> Assignment:
    identity = trusting_identities(list(SEATS))[seat]
    made = Assignment("aa", seat, ordered, identity, brings=frozenset({MODEL}))
    return replace(made, **more)  # type: ignore[arg-type]


def test_an_order_says_what_was_asked_for(ordered: bytes) -> None:
    terms = terms_from(LinUCBPaperTerms, ordered)
    assert (terms.budget, terms.slot_bits, terms.key_bits) == (20, 96, 2048)
    plan = FORM.plan(ordered)
    assert plan.policy == "linucb:gamma=1.0,delta=0.01,R=0.2,S=1.0"
    assert plan.seats == {seat: seat for seat in SEATS}
    links = FORM.links(plan.seats)
    assert set(links["principal"]) == {"customer", "owner", "comp"}
    assert all(links[seat] == ("principal",) for seat in SEATS if seat != "principal")
    assert plan.k is None


def test_each_protocol_has_its_own_policy_by_default() -> None:
    for name, policy in (("linucb-ds", "linucb:"), ("spectral-ucb-ds", "spectral-ucb:")):
        assert PROTOCOLS[name].form_called("paper").plan(order(name)[0]).policy.startswith(policy)


@pytest.mark.parametrize("role", SEATS)
@pytest.mark.parametrize("count", [0, 2])
def test_each_role_is_there_once(role: str, count: int) -> None:
    named = {**members(), role: [Member(f"m{i}", Contribution(4)) for i in range(count)]}
    with pytest.raises(InputError, match=f"needs 1 of the role {role}, but {count} are named"):
        FORM.seats(named)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"policy": "spectral-ucb"}, "which is for spectral-ucb-ds"),
        ({"policy": "ucb"}, "which is for samba"),
        ({"slot_bits": 32}, "64 or 96"),
        ({"key_bits": 512}, "2048"),
    ],
)
def test_what_cannot_be_ordered(options: Mapping[str, str | int], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        order("linucb-ds", **options)


def test_a_budget_of_one_leaves_nothing_to_choose() -> None:
    identity = trusting_identities(list(SEATS))["customer"]
    with pytest.raises(InputError, match="1 pulls"):
        FORM.open(lotor.LinUCBDS(key_bits=2048, form="paper"), "aa", members(), 1, identity)


@pytest.mark.parametrize(
    "change",
    [
        {"policy": "spectral-ucb"},
        {"policy": "nope"},
        {"key_bits": 3072},
        {"key_bits": 1 << 40},
        {"customer_key": b"none"},
        {"budget": 1},
    ],
    ids=str,
)
def test_an_order_that_no_run_can_fulfil_is_refused(
    ordered: bytes, change: Mapping[str, object]
) -> None:
    terms: LinUCBPaperTerms = msgspec.structs.replace(
        terms_from(LinUCBPaperTerms, ordered), **change
    )
    with pytest.raises(ProtocolError, match="customer"):
        FORM.plan(terms.to_bytes())


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (None, "a model of type NoneType"),
        (lotor.BernoulliArms([0.1, 0.2]), "a model of type BernoulliArms"),
        (lotor.LinearArms(VECTORS, theta=[0.6, 0.3], first=1), "first arm"),
        (lotor.LinearArms(VECTORS, theta=[0.6, 0.3], noise=[0.1] * 20), "fixes the noise"),
        (lotor.LinearArms(VECTORS, theta=[6.125, 3.5]), "theta is longer than S = 1"),
    ],
)
def test_an_owner_without_the_right_model_says_so_and_shows_nothing(
    ordered: bytes, data: object, complaint: str
) -> None:
    with pytest.raises(InputError, match=complaint) as caught:
        FORM.party(place(ordered, "owner", data=data))
    assert "6.125" not in str(caught.value)
    assert "7.05" not in str(caught.value)


def test_an_owner_without_a_model_is_told_to_bring_one(ordered: bytes) -> None:
    with pytest.raises(InputError, match=r"has no model of its arms.*let it set `model`"):
        FORM.party(place(ordered, "owner", brings=frozenset()))


def test_a_place_does_not_show_its_data(ordered: bytes) -> None:
    secret = lotor.LinearArms(VECTORS, theta=[0.6125, 0.3])
    assert "LinearArms" not in repr(place(ordered, "owner", data=secret))


def test_a_trial_draws_as_plain_does_and_nothing_else_is_foreseen(ordered: bytes) -> None:
    def keys(**more: object) -> dict[str, bytes]:
        party = FORM.party(place(ordered, "principal", **more))
        snapshot = first_snapshot(party)
        return msgspec.msgpack.decode(snapshot, type=LinUCBPrincipalMemory).keys

    simulated = simulated_keys(Run("aa", 4, 20, RewardScale(), 5, ARMS, 2))
    trial, again = keys(seed=5), keys(seed=5)
    assert {name: trial[name] for name in simulated} == simulated
    assert {name for name in trial if trial[name] != again[name]} == set(trial) - set(simulated)
    one, other = keys(), keys()
    assert all(one[name] != other[name] for name in one)


@pytest.mark.parametrize("seat", ["principal", "comp", "owner"])
def test_parties_are_rebuilt_from_their_own_snapshot(ordered: bytes, seat: str) -> None:
    build: Callable[..., Party] = FORM.party
    at = place(ordered, seat, data=ARMS)
    snapshot = first_snapshot(build(at))
    assert first_snapshot(build(at, snapshot)) == snapshot


def test_the_customer_is_made_by_its_order() -> None:
    ordered, party = order()
    at = place(ordered, "customer")
    snapshot = first_snapshot(party)
    rebuilt = FORM.party(at, snapshot)
    assert first_snapshot(rebuilt) == snapshot
    with pytest.raises(InputError, match="made when it orders"):
        FORM.party(at)
