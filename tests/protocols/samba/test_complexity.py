"""Counted operations are those of Theorem 4."""

import pytest

import lotor
from lotor.policies import Policy
from lotor.protocols.samba.paper import complexity

pytestmark = pytest.mark.filterwarnings("ignore::lotor.crypto.paillier.InsecureKeyWarning")
K, N = 5, 40


@pytest.mark.parametrize(
    "policy", [lotor.UCB(), lotor.EpsilonGreedy(0.5), lotor.Pursuit()], ids=str
)
@pytest.mark.parametrize("owners", [1, 2, 5])
@pytest.mark.parametrize("selection", ["bits", "position"])
def test_counts(policy: Policy, owners: int, selection: str) -> None:
    samba = lotor.Samba(
        policy,
        form="paper",
        insecure_key_bits=128,
        owners=owners,
        selection=selection,  # type: ignore[arg-type]
    )
    result = lotor.run(samba, lotor.BernoulliArms([0.5] * K), budget=N, seed=1)
    expected = complexity.operations(K, N, policy.iterations, owners=owners, selection=selection)
    assert {name: result.operations[name] for name in expected} == expected


def test_theorem_4() -> None:
    """2K encryptions and 2K decryptions, (N-K)·nb_A times; K Paillier encryptions, 1 decryption."""
    assert complexity.operations(K, N, 2, owners=1, selection="bits") == {
        "aes_gcm_encryptions": 2 * K * (N - K) * 2,
        "aes_gcm_decryptions": 2 * K * (N - K) * 2,
        "paillier_encryptions": K,
        "paillier_additions": K - 1,
        "paillier_decryptions": 1,
    }
    three_k_plus_one = complexity.operations(K, K + 1, 1, owners=K, selection="position")
    total = three_k_plus_one["aes_gcm_encryptions"] + three_k_plus_one["aes_gcm_decryptions"]
    assert total == 3 * K + 1
