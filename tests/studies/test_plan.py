"""What the planner says before a run is what the run takes."""

from collections import Counter
from collections.abc import Mapping

import pytest

import lotor
from lotor.core.errors import InputError
from lotor.environments.base import Environment
from lotor.protocols.protocol import PROTOCOLS, SecureProtocol
from lotor.studies.plan import Planned, plan
from lotor.studies.rehearsal import Clocks, bytes_of

ARMS = lotor.BernoulliArms([0.9, 0.5, 0.1])
# Fewer circuits than of few arms are garbled together.
MANY = lotor.BernoulliArms([0.2 + 0.02 * arm for arm in range(30)])
LINEAR = lotor.LinearArms([[1, 0], [0, 1], [0.7, 0.7]], theta=[0.8, 0.3])
GRAPH = lotor.GraphArms([[0, 1, 0], [1, 0, 1], [0, 1, 0]], [0.8, 0.5, 0.1])
FEATURES = lotor.ContextualArms.lookalike(rounds=400, arms=3, d=6, seed=1)
CONTEXTS = lotor.LinearContexts.toy(rounds=400, seed=5)

pytestmark = pytest.mark.filterwarnings("ignore::lotor.crypto.paillier.InsecureKeyWarning")

Case = tuple[SecureProtocol, Environment]
CASES: dict[str, Case] = {
    "samba/shared": (lotor.Samba(), ARMS),
    "samba/shared, two iterations": (lotor.Samba(lotor.Pursuit(), owners=3), ARMS),
    "samba/shared, many arms": (lotor.Samba(owners=5), MANY),
    "samba/dealt": (lotor.Samba(form="dealt", owners=3), ARMS),
    "samba/shared, tells the best arm": (lotor.Samba(owners=2, reveal="best"), ARMS),
    "samba/dealt, tells the best arm": (lotor.Samba(form="dealt", reveal="best"), ARMS),
    "samba/paper": (lotor.Samba(form="paper"), ARMS),
    "linucb-ds/shared": (lotor.LinUCBDS(), LINEAR),
    "linucb-ds/dealt": (lotor.LinUCBDS(form="dealt"), LINEAR),
    "linucb-ds/paper": (lotor.LinUCBDS(form="paper", insecure_key_bits=1024), LINEAR),
    "linucb-ds/paper-live": (lotor.LinUCBDS(form="paper-live", insecure_key_bits=1024), LINEAR),
    "spectral-ucb-ds/shared": (lotor.SpectralUCBDS(), GRAPH),
    "spectral-ucb-ds/dealt": (lotor.SpectralUCBDS(form="dealt"), GRAPH),
    "spectral-ucb-ds/paper": (lotor.SpectralUCBDS(form="paper", insecure_key_bits=1024), GRAPH),
    "spectral-ucb-ds/paper-live": (
        lotor.SpectralUCBDS(form="paper-live", insecure_key_bits=1024),
        GRAPH,
    ),
    "helba/shared": (lotor.Helba(), CONTEXTS),
    "helba/two-servers": (lotor.Helba(servers=2), CONTEXTS),
    "ppcb/shared": (lotor.PPCB(owners=3), FEATURES),
    "ppcb/shared, later rewards": (lotor.PPCB(delay=3, reciprocal="garbled"), FEATURES),
    "ppcb/dealt": (lotor.PPCB(form="dealt", owners=3), FEATURES),
    "ppcb/dealt, later rewards": (lotor.PPCB(form="dealt", delay=3), FEATURES),
    "ppcb/paper": (lotor.PPCB(form="paper"), FEATURES),
}
REPEATING = [
    # Each of several runs makes Paillier keys.
    pytest.param(name, marks=pytest.mark.long) if name == "samba/paper" else name
    for name in CASES
    if "ds/shared" not in name and "helba" not in name
]


def took(case: Case, budget: int) -> tuple[dict[str, int], float]:
    """Bytes of each party, and round trips, of a run on other draws than those of a rehearsal."""
    clocks = Clocks(0.0)
    result = lotor.run(*case, budget=budget, seed=3, transport=clocks)
    sent = {name: cost.bytes_sent for name, cost in result.parties.items()}
    end = clocks.mark(budget)
    assert Counter(sent) == bytes_of(end.sent)
    return sent, end.flights / 2


def agrees(planned: Planned, real: tuple[Mapping[str, int], float]) -> bool:
    return (planned.bytes_sent, planned.round_trips) == real


def test_every_form_is_tried() -> None:
    forms = {f"{name}/{form}" for name, kind in PROTOCOLS.items() for form in kind.forms}
    assert forms - {name.split(",")[0] for name in CASES} == {"helba/paper"}


@pytest.mark.parametrize("name", CASES)
def test_a_whole_rehearsal_has_the_bytes_and_round_trips_of_any_run(name: str) -> None:
    case = CASES[name]
    planned = plan(*case, budget=40, rounds=40)
    assert planned.exact
    assert planned.rehearsed == 40
    assert agrees(planned, took(case, 40))


@pytest.mark.parametrize("name", REPEATING)
def test_the_beginning_of_a_run_tells_all_of_it(name: str) -> None:
    """Rounds and budgets have more digits then, and the last batch is not full."""
    case, budget = CASES[name], 309
    planned = plan(*case, budget=budget, rounds=150)
    assert planned.exact
    assert planned.rehearsed == 150
    assert agrees(planned, took(case, budget))


@pytest.mark.long
def test_products_that_serve_many_rounds() -> None:
    arms = lotor.LinearArms([[1, arm / 100, arm % 7 / 7] for arm in range(100)], [0.3, 0.4, 0.1])
    case = (lotor.LinUCBDS(), arms)
    planned = plan(*case, budget=650, rounds=450)
    assert planned.exact
    assert agrees(planned, took(case, 650))


@pytest.mark.parametrize(
    "name",
    [
        "helba/shared",
        pytest.param("helba/two-servers", marks=pytest.mark.long),
        "linucb-ds/shared",
    ],
)
def test_what_does_not_repeat_soon_is_an_estimate(name: str) -> None:
    case = CASES[name]
    planned = plan(*case, budget=200, rounds=100)
    assert not planned.exact
    sent, trips = took(case, 200)
    assert planned.bytes_in_all == pytest.approx(sum(sent.values()), rel=0.15)
    assert planned.round_trips == pytest.approx(trips, rel=0.05)


def test_the_time_of_a_run_has_its_round_trips() -> None:
    case = CASES["samba/dealt"]
    near, far = (plan(*case, budget=60, rounds=60, rtt=rtt) for rtt in (0.0, 0.5))
    assert near.round_trips == far.round_trips
    assert far.seconds >= far.round_trips * 0.5
    assert far.seconds - far.round_trips * 0.5 < 30


def test_processor_time_is_that_of_the_parties() -> None:
    planned = plan(*CASES["ppcb/dealt"], budget=300, rounds=100)
    assert set(planned.cpu_seconds) == set(planned.bytes_sent)
    assert all(seconds >= 0 for seconds in planned.cpu_seconds.values())
    # These two servers and their dealer do nearly all of the work.
    servers = sum(planned.cpu_seconds[name] for name in ("server-0", "server-1", "dealer"))
    assert servers > sum(planned.cpu_seconds.values()) / 2


def test_nobodys_data_is_asked() -> None:
    def real(decision: lotor.Decision) -> float:
        raise AssertionError(f"{decision} was asked for")

    with pytest.raises(InputError, match="as many simulated arms"):
        plan(lotor.Samba(), lotor.CallbackArms([real] * 3), budget=20)
    with pytest.raises(InputError, match="as many simulated arms, such as LinearArms"):
        plan(lotor.LinUCBDS(form="paper-live"), lotor.VectorArms([[1], [2]], real), budget=20)


def test_a_policy_alone_has_nothing_to_plan() -> None:
    with pytest.raises(InputError, match="takes a secure protocol"):
        plan(lotor.UCB(), ARMS, budget=20)  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", [{"rtt": -1}, {"rtt": float("nan")}, {"seconds": -0.5}])
def test_wrong_times_are_refused(wrong: Mapping[str, float]) -> None:
    with pytest.raises(InputError, match="give a number of seconds"):
        plan(lotor.Samba(), ARMS, budget=20, **wrong)  # type: ignore[arg-type]
