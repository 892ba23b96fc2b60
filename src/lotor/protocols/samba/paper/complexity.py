"""Theorem 4: how many cryptographic operations a run takes."""


def operations(
    k: int, budget: int, iterations: int, *, owners: int, selection: str
) -> dict[str, int]:
    """Exact counts. With `selection="bits"` they are those of the theorem's proof."""
    turns = (budget - k) * iterations
    answers_sealed, answers_opened = (k, k) if selection == "bits" else (1, owners)
    return {
        "aes_gcm_encryptions": turns * (k + answers_sealed),
        "aes_gcm_decryptions": turns * (k + answers_opened),
        "paillier_encryptions": k,
        "paillier_additions": k - 1,
        "paillier_decryptions": 1,
    }
