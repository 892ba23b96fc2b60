"""Recorded views with live rewards: what is hidden is nowhere in clear, and what leaks is found."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

import msgspec
import numpy as np
import pytest

import lotor
from helpers import Outcome, run_openly, truth_of
from lotor.core.effects import Decision, Message
from lotor.crypto.paillier.encoding import CIPHERTEXT, FINGERPRINT_BYTES
from lotor.protocols.attack import Score
from lotor.protocols.linucb_ds.attacks import ALIKE, cosine, nearest_theta
from lotor.protocols.linucb_ds.live import attacks, messages
from lotor.protocols.linucb_ds.live.leakage import MEASURED
from lotor.protocols.linucb_ds.live.principal import LivePrincipal
from lotor.protocols.linucb_ds.messages import LinUCBOrder, LinUCBSetup
from lotor.protocols.linucb_ds.paper import messages as paper
from lotor.protocols.linucb_ds.paper.leakage import COMP, OWNER, PRINCIPAL
from protocols.linucb_ds.live.stage import SHOP, decrypted_total, live, shop, view
from protocols.linucb_ds.stage import (
    BITS,
    Keeping,
    kept,
    known_keys,
    messages_of,
    scores_seen_by_comp,
    small_key,
    some_arms,
)
from scanning import forms_of_number, forms_of_reward

pytestmark = pytest.mark.filterwarnings("ignore::lotor.crypto.paillier.InsecureKeyWarning")

BUDGET = 25
# Fields that hold ciphertexts, public keys or signatures; of the rest P reads every byte.
PROTECTED: dict[type[Message], set[str]] = {
    LinUCBOrder: {"terms", "signatures"},
    LinUCBSetup: {"terms", "signature"},
    paper.CompKey: {"public", "signature"},
    messages.EncryptedReward: {"reward"},
    paper.PackedScores: {"packed"},
    paper.MaskedSum: {"masked"},
    paper.SwitchedSum: {"switched"},
    messages.LiveTotal: {"total"},
}


@pytest.fixture(scope="module", autouse=True)
def _keys() -> Iterator[None]:
    with known_keys(small_key("comp"), small_key("customer")):
        yield


def odd(decision: Decision) -> float:
    """So many digits that random bytes do not hold one by chance."""
    return 0.3 + 0.1 * decision.arm + (decision.round * 0.6180339887) % 0.2


@pytest.fixture(scope="module")
def seen(_keys: None) -> tuple[Outcome, dict[str, Keeping]]:
    return kept(live(), shop(odd, 0.0, 1.0), budget=BUDGET)  # type: ignore[arg-type]


def rewards_in_clear(outcome: Outcome) -> Iterator[bytes]:
    """What each pull paid and the sums so far, as floats and in fixed point."""
    scale, total = outcome.run.scale, 0
    for _, _, reward in outcome.recorder.pulls:
        fixed = scale.to_fixed(reward)
        total += fixed
        yield from forms_of_reward(reward)
        for number in (fixed, fixed - 2**31, total):
            yield from forms_of_number(abs(number))


def test_p_sees_no_reward_and_no_sum(seen: tuple[Outcome, dict[str, Keeping]]) -> None:
    outcome, parties = seen
    wire = [one.payload for one in outcome.recorder.view("principal")]
    found = b"".join(wire + parties["principal"].snapshots)
    clear = {form for form in rewards_in_clear(outcome) if len(form) >= 6}
    assert len(clear) > 20
    assert not any(form in found for form in clear)
    # The search would find one: the owner's journal has each as it was answered.
    reward = outcome.recorder.pulls[3][2]
    assert any(form in msgspec.msgpack.encode([reward]) for form in forms_of_reward(reward))


def test_comp_is_never_sent_a_reward(seen: tuple[Outcome, dict[str, Keeping]]) -> None:
    outcome, _ = seen
    kinds = {type(one.message) for one in outcome.recorder.received("comp")}
    assert kinds == {LinUCBSetup, paper.LinUCBShape, paper.PackedScores, paper.MaskedSum}


def test_the_owner_writes_no_reward_down(seen: tuple[Outcome, dict[str, Keeping]]) -> None:
    """The journal has them as answers, until the run is over; no snapshot has."""
    outcome, parties = seen
    snapshots = b"".join(parties["owner"].snapshots)
    assert not any(form in snapshots for form in rewards_in_clear(outcome) if len(form) >= 6)


def clear_parts(outcome: Outcome) -> list[tuple[type[Message], dict[str, object]]]:
    """What P can read of what it was sent."""
    return [
        (type(one.message), {
            name: value
            for name, value in msgspec.structs.asdict(one.message).items()
            if name not in PROTECTED.get(type(one.message), set())
        })
        for one in outcome.recorder.received("principal")
    ]  # fmt: skip


def test_other_rewards_with_the_same_choices_look_the_same_to_p() -> None:
    """Of rewards, P learns what the pulled arms say, and nothing else."""
    first, second = (
        run_openly(live(), shop(pull, 0.0, 1.0), budget=9, run_id="aa")
        for pull in (lambda one: 0.1 + 0.2 * one.arm, lambda one: 0.101 + 0.2 * one.arm)
    )
    assert first.arms == second.arms
    assert decrypted_total(first) != decrypted_total(second)
    assert clear_parts(first) == clear_parts(second)


def ciphertexts(outcome: Outcome) -> Iterator[bytes]:
    """The number of each ciphertext that travelled."""
    width = CIPHERTEXT.width(BITS)
    for exchange in outcome.recorder.exchanges:
        match exchange.message:
            case messages.EncryptedReward(reward=data):
                yield data[-width:]
            case paper.PackedScores(packed=packed):
                body = packed[FINGERPRINT_BYTES:]
                yield from (body[i : i + width] for i in range(0, len(body), width))
            case paper.MaskedSum(data) | paper.SwitchedSum(data) | messages.LiveTotal(data):
                yield data[-width:]


def test_ciphertexts_of_equal_plaintexts_never_repeat() -> None:
    """All rewards are one number here, and so are all scores of a round: nobody can tell."""
    arms = lotor.VectorArms([[1.0, 0.0]] * 6, lambda _: 0.5)
    outcome = run_openly(live(), arms, budget=30)
    assert all(len(set(scores)) == 1 for scores in scores_seen_by_comp(outcome))
    found = list(ciphertexts(outcome))
    assert len(found) == 30 + 29 * 2 + 3
    assert len(set(found)) == len(found)


def test_messages_of_one_kind_have_one_length() -> None:
    lengths: defaultdict[type[Message], set[int]] = defaultdict(set)
    for pull in (lambda _: 0.0, lambda _: 1.0, odd):
        outcome = run_openly(live(), shop(pull, 0.0, 1.0), budget=6)
        for exchange in outcome.recorder.exchanges:
            lengths[type(exchange.message)].add(len(exchange.payload))
    assert len(lengths) == 12
    assert all(len(found) == 1 for found in lengths.values()), lengths


def test_nothing_at_p_decrypts(seen: tuple[Outcome, dict[str, Keeping]]) -> None:
    outcome, parties = seen
    wire = [one.payload for one in outcome.recorder.view("principal")]
    found = b"".join(wire + parties["principal"].snapshots)
    for holder in ("comp", "customer"):
        assert not any(form in found for form in forms_of_number(int(small_key(holder).p)))
    principal = outcome.parties["principal"]
    assert isinstance(principal, LivePrincipal)
    assert repr(principal._memory).startswith("<LivePrincipalMemory of principal in run aa")


# -- what leaks ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def watched(_keys: None) -> Outcome:
    return run_openly(live(), some_arms(1, k=15, d=3), budget=40, seed=8)


@pytest.mark.parametrize("linear", [True, False])
def test_comp_with_the_catalogue_finds_arms_and_rewards(watched: Outcome, linear: bool) -> None:
    outcome = watched if linear else run_openly(live(), SHOP, budget=40, seed=5)
    truth, comp, k = truth_of(outcome), view(outcome, "comp"), outcome.run.k
    assert attacks.LiveScoresDecrypted().score(comp, truth) == Score(39 * k, 39 * k, 0.0)
    arms = attacks.LiveArmsFromScores().score(comp, truth)
    rewards = attacks.LiveRewardsFromScores().score(comp, truth)
    assert (arms.right, arms.of, rewards.right, rewards.of) == (40, 40, 39, 40)
    assert MEASURED[COMP].tells >= {"scores", "arms", "rewards"}


def test_rewards_are_read_by_p_and_comp_together_alone(watched: Outcome) -> None:
    truth, attack = truth_of(watched), attacks.RewardsDecrypted()
    for seats in (("comp",), ("principal",)):
        alone = attack.score(view(watched, *seats), truth)
        assert alone.right <= alone.chance * alone.of
    both = attack.score(view(watched, "principal", "comp"), truth)
    assert (both.right, both.of) == (40, 40)


def test_the_owner_knows_all_that_it_carries_out(watched: Outcome) -> None:
    truth = truth_of(watched)
    for seat in ("owner", "principal"):
        assert attacks.ArmsHandedOn().score(view(watched, seat), truth).right == 40
    assert attacks.LiveRewardsPulled().score(view(watched, "owner"), truth).right == 40
    assert MEASURED[OWNER].tells >= {"arms", "rewards"}
    assert "rewards" not in MEASURED[PRINCIPAL].tells


def cosines(shapes: Sequence[tuple[int, int, int]], seeds: range) -> list[float]:
    found = []
    for k, d, budget in shapes:
        for seed in seeds:
            arms, policy = some_arms(seed, k=k, d=d), lotor.LinUCB()
            run = lotor.run(live(policy).plain(), arms, budget=budget, seed=seed)
            assert run.arms is not None
            found.append(cosine(nearest_theta(policy, arms.vectors, run.arms), arms.theta))
    return found


@pytest.mark.long
def test_p_finds_where_rewards_point() -> None:
    """Seeds fix the runs; a solver may stop at another theta, which can move a run or two."""
    found = cosines([(15, 3, 60), (30, 5, 100), (50, 5, 100)], range(8))
    assert sum(one > ALIKE for one in found) == pytest.approx(20, abs=2)
    assert np.median(found) == pytest.approx(0.96, abs=0.01)
    assert (
        "in 20 of 24 runs of 60 or 100 rounds, and of 0.96 at the median"
        in MEASURED[PRINCIPAL].evidence
    )


def test_it_does_so_from_its_recorded_view(watched: Outcome) -> None:
    """In this run; where rewards follow no theta, there is nothing to find."""
    attack = attacks.LiveDirectionFromPulls()
    score = attack.score(view(watched, "principal"), truth_of(watched))
    assert (score.right, score.of) == (1, 1)
    other = run_openly(live(), SHOP, budget=9, seed=5)
    assert attack.score(view(other, "principal"), truth_of(other)).of == 0


def test_p_knows_which_arms_were_pulled(watched: Outcome) -> None:
    sent = messages_of(watched, messages.ChosenArm)
    assert len(sent) == 40


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::lotor.policies.noise.NoiseWarning")
def test_an_audit_finds_what_is_stated_and_nothing_else() -> None:
    report = lotor.audit(live(), some_arms(1, k=6, d=3), budget=60, repeat=16, seed=3)
    assert report.holds
    assert report.untried == {}
    for attack in ("arms, from scores and the catalogue", "rewards, from scores and the catalogue"):
        assert report.row("comp", attack).shown
    assert report.row("principal", "direction of theta, from the pulled arms").shown
    assert not report.row("principal", "rewards, decrypted").shown
    assert report.row("principal+comp", "rewards, decrypted").shown
    assert not report.row("principal", "all bits together").shown
    assert not report.row("network", "lengths of messages").shown
