"""Policies that see a context of each arm before each choice, under HELBA and in plain.

HELBA's answers are noisy: its arms are plain's where the gap between two arms is above a stated
resolution. In these cases it is far above in every round, so that they never differ.
"""

from collections.abc import Iterator
from typing import Any

import lotor
from golden.cases import Case, built, text
from lotor.policies import BatchedOFUL

ROUNDS = 100
INSECURE = 1024

CONTEXTS = [[[4.0, 1.0], [0.5, 0.25]], [[0.25, 0.5], [1.0, 4.0]], [[-3.0, 0.0], [0.5, 0.5]]]

ARMS: dict[str, Any] = {
    "toy": built(lotor.LinearContexts.toy, ROUNDS, seed=5),
    "random": built(lotor.LinearContexts.random, ROUNDS, arms=4, d=3, seed=1),
    "pool": built(
        lotor.LinearContexts.random, ROUNDS, arms=3, d=2, pool=5, seed=2, length=2.0, noise_sd=0.1
    ),
    "table": built(lotor.LinearContexts, CONTEXTS, theta=[0.1, 0.2], noise_sd=0),
    "d=4": built(lotor.LinearContexts.random, 4, arms=2, d=4, seed=1),
}
PAPER: dict[str, Any] = {"index": "sqrt", "C": 1, "eta": 0.1, "width": "union"}
WIDTHS = ("determinant", "public", "union")
# Of every optimistic policy.
COMMON: tuple[dict[str, Any], ...] = (
    {},
    *({"width": width} for width in WIDTHS),
    {"ridge": 3.0},
    {"delta": 0.3},
    {"sigma": 0.2},
    {"S": 2.0},
    {"L": 7.0},
)
BATCHED: tuple[dict[str, Any], ...] = (
    *(options for options in COMMON if options.get("width") != "determinant"),
    PAPER,
    {"index": "sqrt"},
    {"index": "sqrt", "C": 0.3},
    {"C": 2.0},
    {"eta": 0.25},
    {"eta": 1.0, "touch": "flat"},
    {"touch": "flat"},
    {"touch": "flat", "width": "union", "C": 0.5, "eta": 0.1},
)
# Policy, protocol, arms, budget.
SECURE: tuple[tuple[dict[str, Any], dict[str, Any], str, int], ...] = (
    ({}, {}, "toy", 5),
    ({}, {"stages": 2}, "toy", 2),
    ({}, {"stages": 3}, "toy", 4),
    ({}, {"stages": 5}, "toy", 2),
    ({}, {"stages": 6}, "toy", 2),
    ({}, {"noise_bits": 8}, "toy", 3),
    ({}, {"noise_bits": 4}, "toy", 3),
    ({}, {"mean_bound": 1.5}, "toy", 3),
    ({}, {"rms_length": 5.0}, "toy", 3),
    ({}, {"security": 192, "stages": 2}, "toy", 2),
    ({"touch": "flat"}, {}, "toy", 3),
    ({"width": "union", "eta": 0.5}, {}, "toy", 4),
    ({"ridge": 2.0, "delta": 0.1, "sigma": 0.3, "S": 1.5, "L": 6.0}, {}, "toy", 3),
    (PAPER, {"stages": 3}, "toy", 4),
    ({"index": "sqrt"}, {"stages": 2}, "toy", 2),
    ({}, {}, "random", 2),
    ({}, {}, "table", 3),
    ({}, {}, "d=4", 2),
)


def helba(policy: dict[str, Any], options: dict[str, Any]) -> lotor.Helba:
    return lotor.Helba(BatchedOFUL(**policy), insecure_degree=INSECURE, **options, form="paper")


def cases() -> Iterator[Case]:
    for kind in (lotor.OFUL, lotor.RSOFUL, lotor.RSOFULTR):
        for options in COMMON:
            yield plain(kind, options, "toy")
        yield plain(kind, {}, "random")
        yield plain(kind, {}, "pool")
    for kind in (lotor.RSOFUL, lotor.RSOFULTR):
        for switch in (0.2, 4.0):
            yield plain(kind, {"C": switch}, "toy")
    for options in BATCHED:
        for where in ("toy", "random"):
            yield plain(BatchedOFUL, options, where)
    for policy, options, where, budget in SECURE:
        name = f"Helba {text(options)}, with {text(policy)} on {where}"
        yield Case(name, built(helba, policy, options), ARMS[where], budget, seed=1)


def plain(kind: Any, options: dict[str, Any], where: str) -> Case:
    name = f"{kind.__name__} {text(options)} on {where}"
    return Case(name, built(kind, **options), ARMS[where], ROUNDS, seed=3, exact=where != "pool")
