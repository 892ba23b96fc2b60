"""Policies for arms that are vectors, at two clouds and in plain."""

from collections.abc import Iterator
from typing import Any

import lotor
from golden.cases import Case, built, text

BUDGET = 24
SMALL_KEY = 512

VECTORS = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.6, 0.0, 0.8], [-0.5, 0.5, 0.5], [0.3, 0.9, -0.2]]
THETA = [0.6, 0.5, 0.3]
NOISE = [(t * 29 % 23 - 11) / 64 for t in range(BUDGET)]
# No two eigenvalues of its Laplacian are equal: their vectors are the same on every machine.
WEIGHTS = [[0, 1, 0, 0, 3], [1, 0, 2, 0, 0], [0, 2, 0, 1, 0], [0, 0, 1, 0, 5], [3, 0, 0, 5, 0]]
POINTS = [[0.0, 0.0], [1.0, 0.1], [2.1, 0.3], [0.2, 1.3], [3.4, 0.5], [1.3, 2.6]]
VALUES = [0.3, 0.4, 0.6, 0.5, 0.45]

LINEAR: dict[str, Any] = {
    "LinearArms": built(lotor.LinearArms, VECTORS, theta=THETA),
    "noise_sd=0": built(lotor.LinearArms, VECTORS, theta=THETA, noise_sd=0),
    "noise_sd=0.5": built(lotor.LinearArms, VECTORS, theta=THETA, noise_sd=0.5),
    "noise given": built(lotor.LinearArms, VECTORS, theta=THETA, noise=NOISE),
    "first=3": built(lotor.LinearArms, VECTORS, theta=THETA, first=3),
    "GraphArms": built(lotor.GraphArms, WEIGHTS, [0.3, 0.4, 0.5, 0.2, 0.45]),
    "equal arms": built(lotor.LinearArms, [[0.5, 0.5]] * 4, theta=[0.6, 0.2]),
}
GRAPHS: dict[str, Any] = {
    "GraphArms": built(lotor.GraphArms, WEIGHTS, VALUES),
    "noise_sd=0": built(lotor.GraphArms, WEIGHTS, VALUES, noise_sd=0),
    "noise given": built(lotor.GraphArms, WEIGHTS, VALUES, noise=NOISE),
    "first=3": built(lotor.GraphArms, WEIGHTS, VALUES, first=3),
    "nearest": built(lotor.GraphArms.nearest, POINTS, [*VALUES, 0.2], neighbours=1),
}
LINUCB: tuple[dict[str, Any], ...] = (
    {},
    {"gamma": 0.25},
    {"delta": 0.2},
    {"R": 0.4},
    {"S": 3},
    {"S": "log t"},
    {"L": 4},
    {"theta_bound": 9},
    {"S": "log t", "theta_bound": 2, "L": 1.5, "gamma": 2},
)
SPECTRAL: tuple[dict[str, Any], ...] = (
    {},
    {"gamma": 0.5},
    {"delta": 0.2},
    {"R": 0.4},
    {"C": 3},
    {"C": "log t"},
    {"theta_bound": 2},
)


def cases() -> Iterator[Case]:
    for kind, policy, settings, arms in (
        (lotor.LinUCBDS, lotor.LinUCB, LINUCB, LINEAR),
        (lotor.SpectralUCBDS, lotor.SpectralUCB, SPECTRAL, GRAPHS),
    ):
        usual = next(iter(arms))
        graph = arms is GRAPHS
        for options in settings:
            for slot_bits in (64, 96):
                secure = built(
                    kind,
                    built(policy, **options),
                    form="paper",
                    insecure_key_bits=SMALL_KEY,
                    slot_bits=slot_bits,
                )
                name = f"{kind.__name__} {text(options)}, slot_bits={slot_bits}"
                yield Case(name, secure, arms[usual], BUDGET, exact=not graph)
            name = f"{policy.__name__} {text(options)}, alone"
            yield Case(name, built(policy, **options), arms[usual], 100, seed=3, exact=not graph)
        for where, built_arms in arms.items():
            secure = built(kind, form="paper", insecure_key_bits=SMALL_KEY)
            name = f"{kind.__name__} on {where}, seed 0"
            exact = not graph and where != "GraphArms"
            yield Case(name, secure, built_arms, BUDGET, seed=0, exact=exact)
    workers = built(lotor.LinUCBDS, form="paper", insecure_key_bits=SMALL_KEY, workers=2)
    yield Case("LinUCBDS workers=2", workers, LINEAR["LinearArms"], 10)
