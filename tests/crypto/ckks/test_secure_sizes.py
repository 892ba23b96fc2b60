"""Circuits at sizes that protect, for each named parameter set."""

from typing import Any

import numpy as np
import pytest

from crypto.ckks.noisy import noisy, part_of_bound, unwrapped
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

    factor = comparison.factor / 8
    values = (p, q, b * factor, x * factor)

    def scored(p: Any, q: Any, b: Any, x: Any) -> Any:
        total = dot([(b, p), (x, p * q)])
        total = total if isinstance(total, Encrypted) else unwrapped(total)
        return total.sum_slots(4, stride)

    encrypted = (Encrypted(server, secret.public.encrypt(each, start)) for each in values)
    score, bound = scored(*encrypted), scored(*noisy(parameters, *values, level=start))
    expected = sum(np.roll(b * p + x * p * q, -stride * k) for k in range(4)) * factor
    assert part_of_bound(secret.decrypt(score.ciphertext), expected, bound) < 1

    result, bound = comparison.evaluate(score) + 0.5, comparison.evaluate(bound) + 0.5
    assert result.levels_left == 0
    expected = comparison.evaluate(expected) + 0.5
    assert part_of_bound(secret.decrypt(result.ciphertext), expected, bound) < 1
    sigma = 2.0**-16
    answer = secret.decrypt(flood(result.ciphertext, secret.public, sigma))
    # A normal number is beyond nine deviations with a chance of 2e-19.
    assert np.max(np.abs(answer - expected) - unwrapped(bound).bound()) < 9 * sigma
