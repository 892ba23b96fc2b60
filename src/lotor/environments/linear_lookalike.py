"""Linear arms that resemble those of a published experiment, without its data."""

import numpy as np

from lotor.core.errors import InputError
from lotor.environments.linear import LinearArms, normal_draws

LINEAR_LOOKALIKES: dict[str, tuple[int, int]] = {"movielens-factors-like": (943, 1682)}
"""How many users and movies each look-alike has."""


def linear_lookalike(
    name: str,
    *,
    k: int,
    d: int,
    user: int = 1,
    noise_sd: float = 0.1,
    first: int | None = None,
) -> LinearArms:
    """The first k movies and one user, all of whose coordinates are standard normal draws.

    The published program of LinUCB-DS ran on such draws, the starting point of a factorisation
    of MovieLens that it never trained. The same name, d and user always give the same arms.

    >>> linear_lookalike("movielens-factors-like", k=15, d=3)
    <LinearArms: 15 arms in 3 dimensions>
    """
    if name not in LINEAR_LOOKALIKES:
        raise InputError(
            f"no linear look-alike is called {name!r}: choose {' or '.join(LINEAR_LOOKALIKES)}"
        )
    users, movies = LINEAR_LOOKALIKES[name]
    for label, value, most in (("k", k, movies), ("d", d, 200), ("user", user, users)):
        if not isinstance(value, int | np.integer) or not 1 <= value <= most:
            raise InputError(f"{label} is {value!r}: give a number from 1 to {most}")
    vectors = normal_draws(k * d, 0, d, 0).reshape(k, d)
    return LinearArms(vectors, normal_draws(d, 0, d, user), noise_sd=noise_sd, first=first)
