"""Contexts that belong to classes."""

import numpy as np
from numpy.typing import NDArray

from lotor.core.draws import to_uniform
from lotor.core.errors import InputError
from lotor.core.fixed_point import Floats
from lotor.environments.linear import normal_draws

# With 10 classes in 20 dimensions, epsilon-greedy then earns about what it earns on the digits.
_SPREAD = 1.0

_CENTRES, _LABELS, _NOISE = range(3)


def one_hot(labels: NDArray[np.int64], count: int) -> Floats:
    """A row for each label, with a 1 in its place.

    >>> one_hot(np.array([2, 0]), 3).tolist()
    [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]
    """
    return np.eye(count)[labels]


def classes(rounds: int, count: int, d: int, seed: int) -> tuple[Floats, NDArray[np.int64]]:
    """Contexts of length 1 around a random centre for each class, and the class of each."""
    for name, value, most in (("rounds", rounds, 10**7), ("arms", count, 10**4), ("d", d, 10**4)):
        whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
        if not whole or not 1 <= value <= most:
            raise InputError(f"{name} is {value!r}: give a whole number from 1 to {most}")
    if not isinstance(seed, int | np.integer) or seed < 0:
        raise InputError(f"seed {seed!r} is not a whole number from 0 up: give one, such as 7")
    centres = _unit(normal_draws(count * d, seed, _CENTRES).reshape(count, d))
    bits = np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(_LABELS,)))
    labels = (to_uniform(bits.random_raw(rounds)) * count).astype(np.int64)
    noise = normal_draws(rounds * d, seed, _NOISE).reshape(rounds, d) / np.sqrt(d)
    return _unit(centres[labels] + _SPREAD * noise), labels


def _unit(rows: Floats) -> Floats:
    unit: Floats = rows / np.sqrt(np.square(rows).sum(axis=1, keepdims=True))
    return unit
