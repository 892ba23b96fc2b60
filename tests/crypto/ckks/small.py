"""A small ring for tests: quick, and protecting nothing."""

import math
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

FRESH_SD = math.sqrt(21 / 2)
"""Of a fresh error's coefficient: SEAL draws it as the difference of two sums of 21 bits."""


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


def parameters(
    levels: int, scale_bits: int = 40, degree: int = 1024, first_bits: int = 0
) -> Parameters:
    # One bit less, and some of these sets could not be read without loss, see `exact_below`.
    first_bits = first_bits or scale_bits + 13
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InsecureParametersWarning)
        return Parameters(levels, scale_bits, 128, degree, first_bits, insecure="tests")


def noise(parameters: Parameters, scale: float | None = None) -> float:
    """What a new ciphertext or a rescale is off by in no slot.

    Both round the two halves of a ciphertext to whole numbers, with a variance of 1/12 in
    each of the N coefficients, and the second half counts times the secret, which has 2N/3
    coefficients 1 and -1. A slot is a sum over the N coefficients of both, hence a product of two
    complex normal numbers: it exceeds t of its standard deviations with a chance of 2t K_1(2t),
    which is 3e-17 for t = 20.
    """
    return 20 * noise_sd(parameters, scale)


def noise_sd(parameters: Parameters, scale: float | None = None) -> float:
    """The standard deviation of a slot, real and imaginary part together, see `noise`."""
    degree = parameters.degree
    return math.sqrt(degree * (1 + 2 * degree / 3) / 12) / (scale or min(parameters.scales))


def exact_below(parameters: Parameters, level: int) -> float:
    """Up to which size SEAL's decoder reads a coefficient without loss.

    It reads -x as the modulus minus x, in words of 64 bits that it subtracts one by one as
    doubles: where x exceeds the low word of the modulus it computes 2^64 - (2^64 - x), of which
    the last 11 bits are lost.
    """
    modulus = math.prod(parameters.primes[: parameters.levels - level + 1])
    return float(modulus % 2**64)


@cache
def small(levels: int, rotations: tuple[int, ...] = ()) -> Small:
    secret = SecretKey.generate(parameters(levels))
    keys = secret.evaluation_keys(rotations)
    loaded = EvaluationKeys.from_bytes(keys, secret.parameters, secret.fingerprint)
    return Small(secret, Evaluator(loaded))
