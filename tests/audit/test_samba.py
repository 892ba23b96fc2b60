"""Attacks on SAMBA: each works on the paper's form or a weaker double, and not on what is clean."""

from functools import cache

import pytest

import lotor
from lotor.auditing.recording import Recording, record
from lotor.auditing.report import Verdict
from lotor.crypto import aead
from lotor.policies import Policy
from lotor.protocols.attack import NOT_TRIED, Attack, Score
from lotor.protocols.samba import attacks
from lotor.protocols.samba.paper import attacks as on_paper
from lotor.protocols.samba.paper import mask
from lotor.protocols.samba.paper.form import SambaPaper

pytestmark = pytest.mark.filterwarnings("ignore::lotor.crypto.paillier.InsecureKeyWarning")

POLICIES: dict[str, Policy] = {
    "ucb": lotor.UCB(),
    "pursuit": lotor.Pursuit(),
    "epsilon-greedy": lotor.EpsilonGreedy(0.2),
    "softmax": lotor.Softmax(),
    "thompson-sampling": lotor.ThompsonSampling(),
}
NEARLY_SURE = 0.999_99  # masks are fresh in each run of the tests: they must not fail by chance
EXACT = ("ucb", "pursuit", "epsilon-greedy")
TRACKERS = (
    (on_paper.PaperTrackRewards(), attacks.TrackRewards(), 0.9),
    (on_paper.PaperTrackCounts(), attacks.TrackCounts(), 0.85),
)


@cache
def recorded(policy: str, k: int = 3, budget: int = 120, selection: str = "bits") -> Recording:
    chosen = lotor.Samba(
        POLICIES[policy],
        form="paper",
        insecure_key_bits=128,
        owners=k,
        selection=selection,  # type: ignore[arg-type]
    )
    means = [0.8, 0.5, 0.3, 0.2][:k]
    return record(chosen, lotor.BernoulliArms(means), budget=budget, seed=5)


def tried(attack: Attack, run: Recording, *seats: str) -> Score:
    attacks.ServerAttack._kept = None
    return attack.score(run.view(*seats), run.truth)


@pytest.mark.parametrize("policy", EXACT)
@pytest.mark.parametrize("selection", ["bits", "position"])
def test_comp_follows_the_states(policy: str, selection: str) -> None:
    for attack, _, least in TRACKERS:
        found = tried(attack, recorded(policy, selection=selection), "comp")
        assert found.right / found.of > max(least, found.chance + 0.1), attack.name


@pytest.mark.parametrize("policy", POLICIES)
def test_nothing_is_followed_in_ciphertexts(policy: str) -> None:
    """The same attacks without Comp's key, as on a form where it has nothing to decrypt."""
    for _, attack, _ in TRACKERS:
        found = tried(attack, recorded(policy), "comp")
        assert found.of > 110
        assert found.right <= found.of * found.chance + 1e-9
    named = tried(attacks.NameArms(), recorded(policy), "comp")
    assert named == Score(1, 3, 1 / 3)


@pytest.mark.parametrize("policy", ["softmax", "thompson-sampling"])
def test_nothing_is_followed_through_the_owners_noise(policy: str) -> None:
    for attack, _, _ in TRACKERS:
        found = tried(attack, recorded(policy), "comp")
        assert found.right <= found.of * found.chance + 1e-9


def test_names_follow_from_guessed_means() -> None:
    assert tried(on_paper.PaperNameArms(), recorded("ucb", budget=400), "comp").right == 3


def test_every_exploring_round_is_told() -> None:
    found = tried(on_paper.PaperExploringRounds(), recorded("epsilon-greedy"), "comp")
    assert found.right == found.of == 117
    assert found.chance < 0.9
    clean = tried(attacks.ExploringRounds(), recorded("epsilon-greedy"), "comp")
    assert clean.right == round(clean.of * clean.chance)
    assert tried(on_paper.PaperExploringRounds(), recorded("ucb"), "comp") == NOT_TRIED


def test_the_gcd_gives_nothing_but_where_the_mask_is_a_factor(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    gcd = on_paper.PaperListGcd()
    assert tried(gcd, recorded("ucb"), "comp").right == 0

    def bare(
        self: mask.ScoreMask, scores: list[int], ties: list[int], t: int, l: int
    ) -> list[bytes]:
        return [(self.alpha(t, l) * v).to_bytes(mask.WIDTH, "big") for v in scores]

    monkeypatch.setattr(mask.ScoreMask, "apply", bare)
    recorded.cache_clear()
    found = tried(gcd, recorded("ucb"), "comp")
    recorded.cache_clear()
    assert found.right == found.of == 117


@pytest.mark.parametrize("policy", ["ucb", "epsilon-greedy", "pursuit"])
def test_an_owner_finds_the_other_of_two_arms(policy: str) -> None:
    if policy == "ucb":
        found = tried(attacks.OtherArm(), recorded("ucb", 2, 300), "owner-1")
        assert found.right > 0.9 * found.of
        assert found.chance < 0.5
    assert tried(attacks.OtherArm(), recorded(policy, 3), "owner-1") == NOT_TRIED


def test_an_owner_knows_its_own_pulls() -> None:
    found = tried(attacks.OwnPulls(), recorded("ucb"), "owner-2")
    assert found.right == found.of == 117


def test_coalitions_read_everything() -> None:
    run = recorded("pursuit")
    for attack, seats in (
        (on_paper.Unpermuted(), ("controller", "comp")),
        (on_paper.OpenedScores(), ("controller", "owner-1")),
        (on_paper.OpenedSums(), ("controller", "customer")),
    ):
        found = tried(attack, run, *seats)
        assert found.right == found.of > 0


def test_rewards_that_are_not_0_or_1_are_not_followed() -> None:
    arms = lotor.CallbackArms([lambda decision: 0.5, lambda decision: 0.25])
    samba = lotor.Samba(lotor.UCB(), form="paper", insecure_key_bits=128, owners=2)
    run = record(samba, arms, budget=20, seed=1)
    assert tried(on_paper.PaperTrackRewards(), run, "comp") == NOT_TRIED
    assert tried(attacks.OtherArm(), run, "owner-1") == NOT_TRIED


def test_what_a_policy_with_noise_tells() -> None:
    form = SambaPaper()
    assert form.tells(lotor.Samba(lotor.UCB()), "comp") > {"rewards", "means"}
    assert form.tells(lotor.Samba(lotor.Softmax()), "comp") == {"means"}
    assert form.tells(lotor.Samba(lotor.Pursuit()), "comp") > {"rewards", "means"}


@pytest.mark.parametrize("policy", [lotor.UCB(), lotor.Softmax()], ids=["ucb", "softmax"])
def test_the_paper_form_leaks_what_it_states(policy: Policy) -> None:
    samba = lotor.Samba(policy, form="paper", insecure_key_bits=128)
    arms = lotor.BernoulliArms([0.8, 0.5, 0.2])
    report = lotor.audit(samba, arms, budget=30, repeat=36, seed=7, level=NEARLY_SURE)
    assert report.holds
    assert report.options["owners"] == 3
    assert report.row("comp", "distances of scores").verdict is Verdict.AS_STATED
    assert report.row("comp", "all bits together").verdict is Verdict.AT_CHANCE
    assert report.row("controller+comp", "scores, put together").shown
    assert report.untried["controller"] == ["timing"]


class NoCipher:
    """What AES-GCM would be if it encrypted nothing."""

    def __init__(self, key: bytes) -> None:
        pass

    def encrypt(self, nonce: bytes, data: bytes, bound: bytes) -> bytes:
        return data + bytes(16)

    def decrypt(self, nonce: bytes, data: bytes, bound: bytes) -> bytes:
        return data[:-16]


def test_a_form_that_does_not_encrypt_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aead, "AESGCM", NoCipher)
    samba = lotor.Samba(lotor.UCB(), form="paper", insecure_key_bits=128)
    report = lotor.audit(samba, lotor.BernoulliArms([0.8, 0.5, 0.2]), budget=60, repeat=30, seed=7)
    assert not report.holds
    failed = {row.party for row in report.failures if row.secret == "bytes"}  # noqa: S105
    assert {"controller", "owner"} <= failed


@pytest.mark.long
@pytest.mark.parametrize(
    ("form", "policy"),
    [("paper", "ucb"), ("paper", "pursuit"), ("dealt", "ucb"), ("shared", "ucb")],
)
def test_two_worlds_look_the_same_over_thousands_of_iterations(form: str, policy: str) -> None:
    """36 runs of 80 rounds in each world, in which all means differ."""
    keys = {"insecure_key_bits": 128} if form == "paper" else {}
    samba = lotor.Samba(POLICIES[policy], form=form, **keys)  # type: ignore[arg-type]
    arms = lotor.BernoulliArms([0.9, 0.5, 0.1])
    report = lotor.audit(samba, arms, budget=83, repeat=36, seed=11, level=NEARLY_SURE)
    assert report.holds
    compared = [row for row in report.rows if row.chance == 0.5 and not row.stated]
    assert {row.party for row in compared} >= {"controller", "comp", "owner", "network"}
    assert {row.verdict for row in compared} == {Verdict.AT_CHANCE}
    assert all(row.of == 24 for row in compared)
