"""A small ring for tests: quick, and protecting nothing."""

import warnings
from dataclasses import dataclass
from functools import cache

import numpy as np

from lotor.crypto.ckks import (
    Encrypted,
    EvaluationKeys,
    Evaluator,
    InsecureParametersWarning,
    Parameters,
    SecretKey,
)
from lotor.crypto.ckks.formulas import Array


@dataclass(frozen=True)
class Small:
    """A user and a server."""

    secret: SecretKey
    server: Evaluator

    @property
    def parameters(self) -> Parameters:
        return self.secret.parameters

    def encrypt(
        self, values: Array | float, level: int = 0, scale: float | None = None
    ) -> Encrypted:
        return Encrypted(self.server, self.secret.public.encrypt(values, level, scale))

    def decrypt(self, x: Encrypted) -> Array:
        return self.secret.decrypt(x.ciphertext)

    def draw(self, seed: int, count: int = 1, low: float = -1, high: float = 1) -> Array:
        return np.random.default_rng(seed).uniform(low, high, (count, self.parameters.slots))


def parameters(levels: int, scale_bits: int = 40, degree: int = 1024) -> Parameters:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InsecureParametersWarning)
        return Parameters(levels, scale_bits, degree=degree, insecure="tests")


@cache
def small(levels: int, rotations: tuple[int, ...] = ()) -> Small:
    secret = SecretKey.generate(parameters(levels))
    keys = secret.evaluation_keys(rotations)
    loaded = EvaluationKeys.from_bytes(keys, secret.parameters, secret.fingerprint)
    return Small(secret, Evaluator(loaded))
