"""How many Paillier operations a run with live rewards takes."""

from lotor.crypto.paillier import PackedLayout
from lotor.policies.linear import LiveLayout
from lotor.protocols.linucb_ds.paper.complexity import DECRYPTIONS, ENCRYPTIONS


def live_counts(n: int, k: int, *, key_bits: int) -> dict[str, int]:
    """The owner encrypts each reward; Comp decrypts ceil(K/slots) a round, and switches one key.

    The modular products of P grow with N, since b* is another one in each round.
    """
    packed = PackedLayout(key_bits, k, LiveLayout.slot_bits).ciphertexts
    return {
        ENCRYPTIONS: n + 1,
        DECRYPTIONS: (n - 1) * packed + 2,
        "paillier_rerandomisations": (n - 1) * packed + 2,
    }
