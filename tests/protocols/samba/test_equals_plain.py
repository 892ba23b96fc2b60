"""SAMBA's first test: the same arms and the same total as plain, literally."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lotor
from lotor.core.errors import InputError, PolicyError
from lotor.policies import Policy, to_text

pytestmark = pytest.mark.filterwarnings("ignore::lotor.crypto.paillier.InsecureKeyWarning")

POLICIES = [
    lotor.UCB(),
    lotor.KLUCB(c=3),
    lotor.EpsilonGreedy(0.3),
    lotor.EpsilonGreedy("1/ln"),
    lotor.EpsilonGreedy("1/log2"),
    lotor.EpsilonGreedy(lambda t: 2 / t),
    lotor.ThompsonSampling(),
    lotor.Softmax(0.1),
    lotor.Pursuit(0.2),
]
means = st.lists(
    st.one_of(st.sampled_from([0.0, 0.5, 1.0]), st.floats(0, 1)), min_size=1, max_size=7
)


@settings(max_examples=60)
@given(
    policy=st.sampled_from(POLICIES),
    means=means,
    extra=st.integers(0, 50),
    seed=st.integers(0, 2**48),
    key_bits=st.sampled_from([128, 256, 512]),
    selection=st.sampled_from(["bits", "position"]),
    data=st.data(),
)
def test_secure_equals_plain_arm_by_arm(
    policy: Policy,
    means: list[float],
    extra: int,
    seed: int,
    key_bits: int,
    selection: str,
    data: st.DataObject,
) -> None:
    owners = data.draw(st.integers(1, len(means)), label="owners")
    samba = lotor.Samba(
        policy,
        form="paper",
        insecure_key_bits=key_bits,
        owners=owners,
        selection=selection,  # type: ignore[arg-type]
    )
    arms, budget = lotor.BernoulliArms(means), len(means) + extra
    secure = lotor.run(samba, arms, budget=budget, seed=seed)
    plain = lotor.run(samba.plain(), arms, budget=budget, seed=seed)
    assert secure.arms == plain.arms
    assert secure.reward == plain.reward


@pytest.mark.parametrize("policy", POLICIES, ids=to_text)
@pytest.mark.parametrize("mean", [0.0, 1.0])
def test_ties_all_the_way(policy: Policy, mean: float) -> None:
    """All rewards equal: every choice is a tie or a draw."""
    samba = lotor.Samba(policy, form="paper", insecure_key_bits=128)
    arms = lotor.BernoulliArms([mean] * 6)
    secure = lotor.run(samba, arms, budget=120, seed=3)
    plain = lotor.run(samba.plain(), arms, budget=120, seed=3)
    assert (secure.arms, secure.reward) == (plain.arms, 120 * mean)
    assert secure.arms == plain.arms


def uneven(scale: float) -> Callable[[lotor.Decision], float]:
    return lambda decision: (decision.round * 0.618 * scale) % 7.0 - 3.0


@pytest.mark.parametrize("policy", POLICIES, ids=to_text)
def test_rewards_that_are_not_bits(policy: Policy) -> None:
    arms = lotor.CallbackArms([uneven(i + 1.0) for i in range(4)], reward_range=(-3.0, 4.0))
    samba = lotor.Samba(policy, form="paper", insecure_key_bits=128, owners=2)
    secure = lotor.run(samba, arms, budget=100, seed=5)
    plain = lotor.run(samba.plain(), arms, budget=100, seed=5)
    assert (secure.arms, secure.reward) == (plain.arms, plain.reward)
    assert secure.arms is not None
    exact = sum(uneven(a + 1.0)(lotor.Decision("", t, a, "")) for t, a in enumerate(secure.arms, 1))
    assert secure.reward == pytest.approx(exact, abs=100 * 7 * 2**-33)


@pytest.mark.parametrize("policy", POLICIES, ids=to_text)
def test_layout_does_not_matter(policy: Policy) -> None:
    """K owners of one arm do the same as one owner of K arms, and as anything between."""
    arms = lotor.BernoulliArms([0.2, 0.4, 0.6, 0.5, 0.1])
    trajectories = {
        tuple(
            lotor.run(
                lotor.Samba(policy, form="paper", insecure_key_bits=128, owners=owners),
                arms,
                budget=80,
                seed=11,
            ).arms
            or ()
        )
        for owners in range(1, 6)
    }
    assert len(trajectories) == 1


@pytest.mark.parametrize("policy", POLICIES, ids=to_text)
def test_layout_does_not_matter_where_vectors_are_full(policy: Policy) -> None:
    """More arms than a vector register holds, in one owner and apart."""
    arms = lotor.BernoulliArms([i / 33 for i in range(33)])
    one, many, plain = (
        lotor.run(protocol, arms, budget=60, seed=12).arms
        for protocol in (
            lotor.Samba(policy, form="paper", insecure_key_bits=128),
            lotor.Samba(policy, form="paper", insecure_key_bits=128, owners=33),
            policy,
        )
    )
    assert one == many == plain


@pytest.mark.parametrize("key_bits", [2048, 3072, pytest.param(4096, marks=pytest.mark.long)])
def test_with_real_keys_and_twice_with_one_seed(key_bits: int) -> None:
    samba = lotor.Samba(lotor.UCB(), form="paper", key_bits=key_bits)
    arms = lotor.BernoulliArms([0.9, 0.5, 0.1])
    first, second = (lotor.run(samba, arms, budget=60, seed=7) for _ in range(2))
    plain = lotor.run(samba.plain(), arms, budget=60, seed=7)
    assert first.arms == second.arms == plain.arms
    assert first.reward == second.reward == plain.reward
    assert first.run != second.run


def test_seeds_matter_and_are_recorded() -> None:
    arms = lotor.BernoulliArms([0.5, 0.5])
    fresh = lotor.run(lotor.UCB(), arms, budget=200)
    assert lotor.run(lotor.UCB(), arms, budget=200, seed=fresh.seed).arms == fresh.arms
    assert lotor.run(lotor.UCB(), arms, budget=200, seed=fresh.seed + 1).arms != fresh.arms


def test_refused_policies_and_options() -> None:
    with pytest.raises(PolicyError, match="arm score locality"):
        lotor.Samba(lotor.ReinforcementComparison())
    with pytest.raises(InputError, match="'bits' or 'position'"):
        lotor.Samba(form="paper", selection="bytes")  # type: ignore[arg-type]
    for owners in (0, 2.0, True, "2"):
        with pytest.raises(InputError, match="owners is a whole number"):
            lotor.Samba(owners=owners)  # type: ignore[arg-type]
    for policy in ("ucb", lotor.UCB, None):
        with pytest.raises(InputError, match="takes a policy such as UCB"):
            lotor.Samba(policy)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="cannot share 2 arms"):
        lotor.run(lotor.Samba(owners=3), lotor.BernoulliArms([0.1, 0.2]), budget=9)
    with pytest.raises(InputError, match="2048, 3072"):
        lotor.Samba(form="paper", key_bits=1024)
    with pytest.raises(InputError, match="an insecure Paillier key"):
        lotor.Samba(form="paper", insecure_key_bits=129)
    with pytest.raises(InputError, match=r"may seal 2\^32"):
        lotor.run(lotor.Samba(form="paper"), lotor.BernoulliArms([0.5] * 100), budget=50_000_000)


@dataclass(frozen=True)
class WholeNumbers:
    """An environment of the user's own, with plain and numpy integers."""

    k: int = 2
    reward_range: tuple[float, float] = (0, 1)

    def start(self, seed: int) -> Callable[[lotor.Decision], float]:
        return lambda decision: decision.round % 2


@pytest.mark.parametrize("numpy", [False, True])
def test_ranges_of_whole_numbers(numpy: bool) -> None:
    environment = WholeNumbers()
    if numpy:
        environment = WholeNumbers(np.int64(3), (np.float64(0), np.int64(2)))  # type: ignore[arg-type]
    samba = lotor.Samba(form="paper", insecure_key_bits=128)
    secure, plain = (lotor.run(p, environment, budget=20, seed=1) for p in (samba, samba.plain()))
    assert (secure.arms, secure.reward) == (plain.arms, plain.reward)
    assert secure.reward == 10.0
