"""Runs that continue each other: plain does the same, and P keeps nothing of theta."""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lotor
from crashing import Fate, Simulation, Site, World
from lotor.core.errors import FormatError, InputError, ProtocolError
from lotor.core.fixed_point import MAXIMAL_BUDGET, RewardScale
from lotor.core.result import Result
from lotor.crypto.paillier import InsecureKeyWarning
from lotor.policies.linear import LinearPolicy
from lotor.protocols.earlier import EndedRun, check_room
from lotor.protocols.kept_linear import KeptLinear
from lotor.protocols.linucb_ds.form import LinearForm
from lotor.protocols.linucb_ds.terms import ContinuedPulls, LinUCBTerms, terms_from
from lotor.protocols.party import Party, Run
from lotor.runtime.drive import drive
from lotor.transport import MemoryTransport
from protocols.linucb_ds.instances import sampling, vectors
from protocols.linucb_ds.stage import BITS, known_keys, small_key, some_arms, some_graph
from rebuilding import RestartingRun, rebuildable

FORMS = ["shared", "dealt", "paper"]
ARMS = some_arms(5, k=4, d=2)


pytestmark = [
    pytest.mark.filterwarnings("ignore::lotor.policies.noise.NoiseWarning"),
    pytest.mark.filterwarnings("ignore::lotor.crypto.paillier.InsecureKeyWarning"),
]


@pytest.fixture(scope="module", autouse=True)
def _keys() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InsecureKeyWarning)
        keys = small_key("comp"), small_key("customer")
    with known_keys(*keys):
        yield


def secured(policy: LinearPolicy, form: str, *, keep: bool = True) -> lotor.LinUCBDS:
    kind = lotor.SpectralUCBDS if isinstance(policy, lotor.SpectralUCB) else lotor.LinUCBDS
    weak = BITS if form == "paper" else None
    return kind(policy, form=form, keep=keep, insecure_key_bits=weak)


def chain(
    protocol: object, arms: Sequence[lotor.LinearArms], parts: Sequence[int], seed: int
) -> list[Result]:
    runs: list[Result] = []
    for budget, world in zip(parts, arms, strict=True):
        last = runs[-1] if runs else None
        runs.append(lotor.run(protocol, world, budget=budget, seed=seed, continues=last))  # type: ignore[arg-type]
    return runs


def check(
    policy: LinearPolicy,
    form: str,
    arms: Sequence[lotor.LinearArms],
    parts: Sequence[int],
    seed: int,
) -> list[Result]:
    protocol = secured(policy, form)
    secure, plain = (chain(one, arms, parts, seed) for one in (protocol, protocol.plain()))
    for one, other in zip(secure, plain, strict=True):
        assert one.arms == other.arms
        assert one.reward == other.reward
        assert one.rounds == one.budget
    return secure


@st.composite
def chains(draw: st.DrawFn) -> tuple[LinearPolicy, lotor.LinearArms, list[int], int]:
    """Any arms, three policies, and runs of one round."""
    parts = [draw(st.integers(2, 6)), *draw(st.lists(st.integers(1, 5), min_size=1, max_size=2))]
    seed = draw(st.integers(0, 2**32))
    if draw(st.booleans()):
        return lotor.SpectralUCB(C=20.0), some_graph(seed, k=draw(st.integers(2, 9))), parts, seed
    x, _ = draw(vectors())
    generator = np.random.default_rng(seed)
    bound = 10.0 ** draw(st.integers(-9, 9))
    theta = generator.normal(size=x.shape[1])
    theta *= bound * draw(st.sampled_from([0.0, 0.5, 1.0])) / np.sqrt(np.square(theta).sum())
    unit = bound * float(np.abs(x).max())
    noise = unit * generator.normal(size=sum(parts)) if draw(st.booleans()) else None
    arms = lotor.LinearArms(x, theta, noise_sd=0.1 * unit, noise=noise)
    gamma = float(np.square(x).sum(axis=1).max()) * 10.0 ** draw(st.integers(-2, 1))
    policy = lotor.LinUCB(gamma=gamma, R=0.1 * unit, S=bound)
    return sampling(policy, 0.3) if draw(st.booleans()) else policy, arms, parts, seed


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=4)
@given(instance=chains())
def test_secure_equals_plain(
    form: str, instance: tuple[LinearPolicy, lotor.LinearArms, list[int], int]
) -> None:
    policy, arms, parts, seed = instance
    check(policy, form, [arms] * len(parts), parts, seed)


@pytest.mark.long
@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=30)
@given(instance=chains())
def test_secure_equals_plain_in_many_more(
    form: str, instance: tuple[LinearPolicy, lotor.LinearArms, list[int], int]
) -> None:
    policy, arms, parts, seed = instance
    check(policy, form, [arms] * len(parts), parts, seed)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("policy", [lotor.LinUCB(), lotor.LinTS()], ids=["linucb", "lints"])
def test_runs_that_continue_each_other_are_one(policy: LinearPolicy, form: str) -> None:
    """To the last bit of the total; it is that of each run's own rounds."""
    runs = check(policy, form, [ARMS] * 3, [5, 1, 6], 3)
    whole = lotor.run(secured(policy, form), ARMS, budget=12, seed=3)
    assert [arm for run in runs for arm in run.arms or []] == whole.arms
    assert sum(run.reward for run in runs) == pytest.approx(whole.reward, rel=1e-12)


def test_spectral_ucb_explores_by_the_length_of_the_run() -> None:
    """Its effective dimension depends on how many rounds there will be: the others' do not."""
    graph, policy = some_graph(2, k=6), lotor.SpectralUCB(C=20.0)
    runs = check(policy, "dealt", [graph] * 2, [8, 8], 2)
    assert all(len(run.arms or []) == 8 for run in runs)


def test_p_cannot_tell_that_theta_is_another_one() -> None:
    """All pulls then count as if they had paid by the new one, in plain, too."""
    other = lotor.LinearArms(ARMS.vectors, -ARMS.theta, noise_sd=ARMS.noise_sd)
    check(lotor.LinUCB(), "shared", [ARMS, other], [6, 6], 1)


def ended(result: Result) -> EndedRun:
    assert isinstance(result.kept, EndedRun)
    return result.kept


def kept_of(result: Result) -> KeptLinear:
    (data,) = ended(result).kept.values()
    return msgspec.msgpack.decode(data, type=KeptLinear)


@pytest.mark.parametrize("form", FORMS)
def test_only_p_keeps_anything_and_nothing_of_theta(form: str) -> None:
    """It follows from the arms that were pulled and their noise alone, as plain's does."""
    protocol = secured(lotor.LinUCB(), form)
    secure, plain = (lotor.run(one, ARMS, budget=7, seed=1) for one in (protocol, protocol.plain()))
    assert set(ended(secure).kept) == {"principal"}
    assert msgspec.structs.replace(kept_of(secure), run="") == msgspec.structs.replace(
        kept_of(plain), run=""
    )
    # Another theta, the same pulls: what is kept is the same to the last byte.
    vectors = [[1.0, 0.0], [1.0, 0.0]]
    same = [
        kept_of(lotor.run(protocol, lotor.LinearArms(vectors, [x, 0.1]), budget=5, seed=2))
        for x in (0.2, 0.7)
    ]
    assert same[0].model == same[1].model
    assert repr(same[0]) == f"<KeptLinear after run {same[0].run}>"
    unkept = lotor.run(secured(lotor.LinUCB(), form, keep=False), ARMS, budget=5, seed=1)
    assert unkept.kept is None


@pytest.fixture(scope="module")
def earlier() -> Mapping[str, EndedRun]:
    return {
        form: ended(lotor.run(secured(lotor.LinUCB(), form), ARMS, budget=5, seed=6))
        for form in FORMS
    }


def planned(form: str, earlier: EndedRun, budget: int = 4, arms: lotor.LinearArms = ARMS) -> Run:
    return Run("bb", arms.k, budget, RewardScale(-9, 9), 6, arms, 2, earlier)


def terms_of(protocol: lotor.LinUCBDS, order: bytes) -> LinUCBTerms:
    form = protocol.in_form()
    assert isinstance(form, LinearForm)
    terms = terms_from(form.terms_kind, order)
    assert isinstance(terms, LinUCBTerms)
    return terms


def played(parties: Mapping[str, Party]) -> tuple[list[int], object, bytes | None]:
    """The arms, the total, and what P keeps."""
    arms: list[int] = []
    seats = drive(
        parties,
        MemoryTransport(),
        lambda _: 0.0,
        watch=lambda decision: arms.append(decision.arm),
    )
    assert [name for name, seat in seats.items() if seat.party.kept] == ["principal"]
    return arms, seats["customer"].output, seats["principal"].party.kept


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("every", [1, 3])
def test_restarted_equals_uninterrupted(
    earlier: Mapping[str, EndedRun], form: str, every: int
) -> None:
    """From the very first effect on; what is kept is there at the end, and the same."""
    protocol, run = secured(lotor.LinUCB(), form), planned(form, earlier[form])
    smooth = played(protocol.parties(run))
    broken = played(RestartingRun(protocol, every).parties(run))
    # P says again what it decided since its last checkpoint, when it comes to it again.
    assert broken[1:] == smooth[1:]
    assert broken[0][-1] == smooth[0][-1]
    assert smooth[2] is not None


@pytest.mark.parametrize("form", ["shared", "dealt"])
def test_many_crashes(earlier: Mapping[str, EndedRun], form: str) -> None:
    protocol, run = secured(lotor.LinUCB(), form), planned(form, earlier[form])
    _, total, kept = played(protocol.parties(run))
    crashes = 0
    for seed in range(2):
        made = rebuildable(protocol, run)
        sites = {
            name: Site(name, one.party, one.rebuild, list(one.peers)) for name, one in made.items()
        }
        fate = Fate(seed, probability=0.01)
        Simulation(sites, World([0.5], seed=0), fate, seed=seed, cuts=0.02).run()
        host = sites["customer"].host
        assert host is not None
        assert host.output == total
        for site in sites.values():
            site.disk.close()
        crashes += fate.crashes
    assert kept is not None
    assert crashes > 0


def test_nothing_is_kept_before_the_end(earlier: Mapping[str, EndedRun]) -> None:
    protocol, run = secured(lotor.LinUCB(), "dealt"), planned("dealt", earlier["dealt"])
    party = protocol.parties(run)["principal"]
    next(party.steps())
    assert party.kept is None


def test_rounds_count_on(earlier: Mapping[str, EndedRun]) -> None:
    for form in FORMS:
        protocol, run = secured(lotor.LinUCB(), form), planned(form, earlier[form])
        order, parties = protocol.opened(run)
        rounds: list[int] = []
        drive(
            parties,
            MemoryTransport(),
            lambda _: 0.0,
            watch=lambda decision, into=rounds: into.append(decision.round),  # type: ignore[misc]
        )
        assert rounds == [6, 7, 8, 9]
        terms = terms_of(protocol, order)
        assert terms.continued == ContinuedPulls(earlier[form].run, 5)
        if form != "paper":  # whose plan refuses such small keys
            plan = protocol.in_form().plan(order)
            assert (plan.keeps, plan.continues, plan.before) == (True, earlier[form].run, 5)
            assert plan.first_rounds == 0


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "other",
    [
        lotor.LinearArms(ARMS.vectors[::-1], ARMS.theta),
        lotor.LinearArms(ARMS.vectors * 0.5, ARMS.theta),
        lotor.LinearArms(ARMS.vectors[:3], ARMS.theta),
        lotor.LinearArms(ARMS.vectors, ARMS.theta, noise_sd=0.05),
    ],
    ids=["order", "length", "number", "noise"],
)
def test_other_arms_are_refused(
    earlier: Mapping[str, EndedRun], form: str, other: lotor.LinearArms
) -> None:
    protocol = secured(lotor.LinUCB(), form)
    with pytest.raises(ProtocolError, match=r"another one than in run .* that it had"):
        played(protocol.parties(planned(form, earlier[form], arms=other)))
    first = lotor.run(protocol.plain(), ARMS, budget=5, seed=1)
    with pytest.raises(InputError, match=r"another one than in run .* that it had"):
        lotor.run(protocol.plain(), other, budget=5, seed=1, continues=first)


def altered(earlier: EndedRun, **changes: object) -> EndedRun:
    (data,) = earlier.kept.values()
    kept = msgspec.structs.replace(msgspec.msgpack.decode(data, type=KeptLinear), **changes)
    return replace(earlier, kept={"principal": kept.to_bytes()})


def test_a_state_of_another_run_version_or_policy_is_refused(
    earlier: Mapping[str, EndedRun],
) -> None:
    run, protocol = earlier["dealt"], secured(lotor.LinUCB(), "dealt")
    data = run.kept["principal"]
    for junk in (b"", data[:-1], data.replace(b"kept-linear/1", b"kept-linear/2")):
        with pytest.raises(FormatError, match="cannot be read by this version"):
            protocol.parties(planned("dealt", replace(run, kept={"principal": junk})))
    for changes, said in (
        ({"run": "cc"}, f"is of run cc, and run {run.run} is to be continued"),
        ({"rounds": 4}, "had 4 rounds, and the order says 5"),
        ({"policy": "linucb:S=2"}, "was one of linucb:S=2, and cannot be continued"),
    ):
        with pytest.raises(InputError, match=said):
            protocol.parties(planned("dealt", altered(run, **changes)))
    with pytest.raises(InputError, match="nothing is left here of run"):
        protocol.parties(planned("dealt", replace(run, kept={})))


def test_what_cannot_be_continued_is_refused(earlier: Mapping[str, EndedRun]) -> None:
    other = secured(lotor.LinUCB(delta=0.5), "dealt")
    with pytest.raises(InputError, match=r"was one of linucb.*, and cannot be continued with"):
        other.parties(planned("dealt", earlier["dealt"]))
    unkept = secured(lotor.LinUCB(), "dealt", keep=False)
    order, _ = unkept.opened(Run("aa", ARMS.k, 5, RewardScale(-9, 9), 6, ARMS, 2))
    with pytest.raises(InputError, match="run aa was started without keep"):
        unkept.parties(planned("dealt", replace(earlier["dealt"], order=order)))
    with pytest.raises(InputError, match="the most that runs which continue each other may have"):
        check_room(MAXIMAL_BUDGET, 1)
    with pytest.raises(InputError, match="keep is True or False"):
        lotor.LinUCBDS(keep=1)  # type: ignore[arg-type]
    few = lotor.LinearArms(ARMS.vectors, ARMS.theta, noise=[0.0] * 8)
    with pytest.raises(InputError, match="fewer than the budget of 4 and the 5 rounds"):
        unkept.parties(planned("dealt", earlier["dealt"], arms=few))


@pytest.mark.parametrize(("run", "rounds"), [("", 5), ("bb", 5), ("aa", 0), ("aa", MAXIMAL_BUDGET)])
def test_impossible_terms_are_refused(
    earlier: Mapping[str, EndedRun], run: str, rounds: int
) -> None:
    protocol = secured(lotor.LinUCB(), "dealt")
    order, _ = protocol.opened(planned("dealt", earlier["dealt"]))
    terms = terms_of(protocol, order)
    changed = msgspec.structs.replace(terms, continued=ContinuedPulls(run, rounds))
    with pytest.raises(ProtocolError, match="cannot be done in run"):
        protocol.in_form().plan(changed.to_bytes())
