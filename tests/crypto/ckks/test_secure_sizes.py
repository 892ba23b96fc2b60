"""Circuits at sizes that protect, for each named parameter set."""

import numpy as np
import pytest

from lotor.crypto.ckks import (
    PARAMETER_SETS,
    Encrypted,
    EvaluationKeys,
    Evaluator,
    SecretKey,
    dot,
    flood,
    named_parameters,
    sign_polynomial,
)


@pytest.mark.long
@pytest.mark.parametrize("name", PARAMETER_SETS)
def test_a_score_and_its_sign_at_full_depth(name: str) -> None:
    parameters = named_parameters(name)
    stages = min(4, (parameters.levels - 2) // 3)
    comparison = sign_polynomial((7,) * stages, 2.0 ** -(2 * stages + 1))
    secret = SecretKey.generate(parameters)
    stride = parameters.slots // 4
    server = Evaluator(
        EvaluationKeys.from_bytes(
            secret.evaluation_keys([stride, 2 * stride]), parameters, secret.fingerprint
        )
    )
    p, q, b, x = np.random.default_rng(7).uniform(-1, 1, (4, parameters.slots))
    # Above what is left for the sign, as when a longer computation comes first.
    start = parameters.levels - comparison.levels - 2

    def encrypted(values: np.typing.NDArray[np.float64]) -> Encrypted:
        return Encrypted(server, secret.public.encrypt(values, start))

    secret_p, secret_q = encrypted(p), encrypted(q)
    factor = comparison.factor / 8
    score = dot(
        [(encrypted(b * factor), secret_p), (encrypted(x * factor), secret_p * secret_q)]
    ).sum_slots(4, stride)
    expected = sum(np.roll(b * p + x * p * q, -stride * k) for k in range(4)) / 8
    assert np.max(np.abs(secret.decrypt(score.ciphertext) / comparison.factor - expected)) < 1e-5

    result = comparison.evaluate(score) + 0.5
    assert result.levels_left == 0
    sigma = 2.0**-16
    answer = secret.decrypt(flood(result.ciphertext, secret.public, sigma))
    assert np.max(np.abs(answer - 0.5 - comparison.plain(expected))) < 1e-3
