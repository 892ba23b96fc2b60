"""How many Paillier operations a run takes: the paper's Figure 5, its Figure 4, and ours.

Figure 5 counts N + d + 1 encryptions. The pseudo-code of Figure 4 encrypts the bonus
omega |x_i| of each arm in each round besides, (N - 1) K in all, which the figure leaves out; and
its key switching encrypts three times (rand, the result, -rand) and decrypts twice.
"""

from lotor.crypto.paillier import PackedLayout

ENCRYPTIONS, DECRYPTIONS = "paillier_encryptions", "paillier_decryptions"
ADDITIONS, MULTIPLICATIONS = "paillier_additions", "paillier_multiplications"

EXPLAINED = (
    "Figure 4 is the paper's pseudo-code and Figure 5 its count. The pseudo-code also encrypts "
    "each arm's bonus in each round, (N - 1) K times, and decrypts one by one. Here P computes "
    "all that does not depend on theta in clear, so theta is encrypted once, a round is one inner "
    "product for each arm, and several scores share a ciphertext: Comp decrypts a few a round. "
    "The paper counts additions and multiplications by numbers; here both are counted as "
    "products of ciphertexts, and a multiplication by a number takes many of them."
)


def figure_5(n: int, k: int, d: int) -> dict[str, int]:
    """As printed."""
    return {
        ENCRYPTIONS: d + 1 + (n - 1) + 1,
        DECRYPTIONS: (n - 1) * k + 2,
        ADDITIONS: d + (n - 1) * (d * d + k * d + 2 * d) + 2,
        MULTIPLICATIONS: 2 * d + (n - 1) * (d * d + k * d + 2 * d),
    }


def figure_4(n: int, k: int, d: int) -> dict[str, int]:
    """Counted in a direct transcription of the pseudo-code.

    A product of d powers is d multiplications of a ciphertext by a number and d - 1 additions.
    A pull is one such product and one addition, of the encrypted noise.
    """
    pull = {ENCRYPTIONS: 1, ADDITIONS: d, MULTIPLICATIONS: d}
    per_round = {
        ENCRYPTIONS: k + pull[ENCRYPTIONS],
        DECRYPTIONS: k,
        # theta-hat, B and its bonus, the pull, s, and b
        ADDITIONS: d * (d - 1) + k * d + pull[ADDITIONS] + 1 + d,
        MULTIPLICATIONS: d * d + k * d + pull[MULTIPLICATIONS] + d,
    }
    first = {ENCRYPTIONS: d + 1, ADDITIONS: d, MULTIPLICATIONS: 2 * d}
    switching = {ENCRYPTIONS: 3, DECRYPTIONS: 2, ADDITIONS: 2}
    return {
        name: first.get(name, 0) + (n - 1) * per_round[name] + switching.get(name, 0)
        for name in per_round
    }


def ours(n: int, k: int, *, key_bits: int, slot_bits: int, d: int) -> dict[str, int]:
    """With packed slots and a theta* that never changes: Comp decrypts ceil(K/slots) a round."""
    packed = PackedLayout(key_bits, k, slot_bits).ciphertexts
    return {
        ENCRYPTIONS: d + 1,
        DECRYPTIONS: (n - 1) * packed + 2,
        "paillier_rerandomisations": (n - 1) * packed + 2,
    }
