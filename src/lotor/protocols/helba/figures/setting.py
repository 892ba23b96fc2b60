"""The paper's toy problem: its constants, and how runs on several instances become curves."""

import warnings
from collections.abc import Mapping, Sequence
from math import sqrt
from typing import Final

import numpy as np

from lotor.core.fixed_point import Floats
from lotor.crypto.ckks import InsecureParametersWarning
from lotor.environments.linear_contexts import LinearContexts
from lotor.policies import AnyPolicy
from lotor.policies.optimistic import BatchedOFUL
from lotor.protocols.cell import Label, Outcome, RunCell
from lotor.protocols.helba.protocol import Helba
from lotor.protocols.protocol import Protocol

T: Final = 130
INSTANCES: Final = 25
EVERY: Final = 5
SMALL_RING: Final = 1024
PAPERS_POLICY: Final = BatchedOFUL(index="sqrt", width="union", C=1, eta=0.1)

TOY: Final = (
    "The toy problem: two of four random contexts in two dimensions each round, noise 0.5, L = "
    "5.5, lambda = 1"
)
UNSAID: Final = (
    "The paper does not say how contexts and theta are drawn, nor S and delta: here contexts are "
    "uniform in a square, the largest mean is 1 at most, S = 1 and delta = 0.01. So regrets cannot "
    "be compared number by number. "
)
IN_SMALL_RING: Final = (
    f"The repeated encrypted runs are in a ring of degree {SMALL_RING} instead of 32768: the same "
    "circuit, levels, primes and noise, a thirtieth of the time, and no security. "
)


def encrypted(policy: BatchedOFUL | None = None, **options: int) -> Helba:
    """The paper's form; the figure itself says where its ring is small."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InsecureParametersWarning)
        return Helba(policy or BatchedOFUL(), form="paper", **options)


def on_instances(
    labels: Mapping[str, Label],
    protocol: Protocol | AnyPolicy,
    instances: int,
    budget: int = T,
    *,
    alone: bool = False,
) -> list[RunCell]:
    """A run on each of so many instances of the toy problem, in their order."""
    at = tuple(range(EVERY, budget + 1, EVERY))
    return [
        RunCell(labels, protocol, LinearContexts.toy(T, seed=i), budget, seed=i, at=at, alone=alone)
        for i in range(instances)
    ]


def by_labels(outcomes: Sequence[Outcome]) -> dict[tuple[Label, ...], list[Outcome]]:
    """The outcomes of each set of labels, in the order of their instances."""
    grouped: dict[tuple[Label, ...], list[Outcome]] = {}
    for one in outcomes:
        grouped.setdefault(tuple(one.labels.values()), []).append(one)
    return grouped


def curve(outcomes: Sequence[Outcome]) -> tuple[list[int], Floats, Floats]:
    """After which rounds, the mean regret, and its standard error."""
    rows = np.array([one.regrets for one in outcomes])
    return outcomes[0].at, rows.mean(axis=0), rows.std(axis=0) / sqrt(max(1, len(rows) - 1))


def on_the_same(exact: Sequence[Outcome], outcomes: Sequence[Outcome]) -> list[float | None]:
    """The mean regret of exact runs on the instances and rounds of others."""
    shared = exact[: len(outcomes)]
    if len(shared) < len(outcomes):
        return [None] * len(outcomes[0].at)
    known = [dict(zip(one.at, one.regrets, strict=True)) for one in shared]
    return [
        float(np.mean([one[t] for one in known])) if all(t in one for one in known) else None
        for t in outcomes[0].at
    ]
