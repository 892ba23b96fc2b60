"""The percentages in leakage.py and on the pages are what the attacks find.

Arms and rewards follow from the seed, and the tracker looks at nothing but ratios of scores: fresh
masks and permutations do not change what it finds.
"""

from pathlib import Path

import pytest

import lotor
from lotor.auditing.recording import record
from lotor.environments.lookalike import lookalike
from lotor.policies import Policy
from lotor.protocols.attack import Attack, Score
from lotor.protocols.samba.paper import attacks
from lotor.protocols.samba.paper.leakage import COMP, MEASURED, TRACKED

pytestmark = pytest.mark.filterwarnings("ignore::lotor.crypto.paillier.InsecureKeyWarning")

ROOT = Path(__file__).parents[2]
SECURITY = " ".join((ROOT / "SECURITY.md").read_text().split())
POLICIES: dict[str, Policy] = {
    "UCB": lotor.UCB(),
    "Pursuit": lotor.Pursuit(),
    "epsilon-greedy": lotor.EpsilonGreedy(0.1),
    "decreasing epsilon-greedy": lotor.EpsilonGreedy("1/ln"),
}


def found(policy: Policy, *tried: Attack) -> list[Score]:
    samba = lotor.Samba(policy, form="paper", insecure_key_bits=128, owners=10)
    arms = lookalike("movielens-like", 10)
    scores = [Score(0, 0, 0.0) for _ in tried]
    for seed in range(7, 12):
        run = record(samba, arms, budget=300, seed=seed)
        view = run.view("comp")
        scores = [
            score + one.score(view, run.truth) for score, one in zip(scores, tried, strict=True)
        ]
    return scores


@pytest.mark.parametrize("policy", TRACKED)
def test_what_the_tracker_recovers(policy: str) -> None:
    rewards, counts, explored = found(
        POLICIES[policy],
        attacks.PaperTrackRewards(),
        attacks.PaperTrackCounts(),
        attacks.PaperExploringRounds(),
    )
    assert (rewards.of, counts.of) == (5 * 289, 5 * 290)
    shares = [f"{100 * one.right / one.of:.0f} %" for one in (rewards, counts)]
    assert TRACKED[policy] == "{} of rewards and {} of counts".format(*shares)
    assert explored.right == explored.of
    assert TRACKED[policy] in MEASURED[COMP].evidence
    page = (ROOT / "docs" / "audit.md").read_text()
    assert f"| {policy} | {shares[0]} | {100 * rewards.chance:.0f} % | {shares[1]} |" in page
    assert f"for {policy} {TRACKED[policy]}" in SECURITY


def test_how_many_arms_are_named() -> None:
    (named,) = found(lotor.UCB(), attacks.PaperNameArms())
    share = f"{100 * named.right / named.of:.0f} %"
    assert f"it named {share} of the arms of UCB runs, where chance is 10 %" in SECURITY


@pytest.mark.parametrize("policy", [lotor.Softmax(), lotor.ThompsonSampling()])
def test_noise_of_the_owners_leaves_nothing_to_track(policy: Policy) -> None:
    for score in found(policy, attacks.PaperTrackRewards(), attacks.PaperTrackCounts()):
        assert score.right <= score.of * score.chance + 1e-9
