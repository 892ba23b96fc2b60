"""Tells two worlds apart by what parties see of runs in each.

Each pair of runs, one in each world, is one guess: which of the two is the first world? Without a
leak exactly half of the guesses are right, however much the rounds of a run have in common (a key,
a global offset), since whole runs are compared. The classifier learns from a third of the pairs
and is tried on the others.
"""

from collections.abc import Sequence

import numpy as np

from lotor.core.fixed_point import Floats
from lotor.protocols.attack import NOT_TRIED, Features, Score

_LEAST_TRAINING = 3


def score(first: Sequence[Features], second: Sequence[Features], *, joint: bool) -> Score:
    """How many pairs of runs, of those that were not learned from, are told apart."""
    training = max(_LEAST_TRAINING, len(first) // 3)
    names = sorted({name for one in (*first, *second) for name in one})
    if not names or not first or not second:
        return NOT_TRIED
    if len(first) <= training:  # nothing can be learned from so few
        return Score(len(first) // 2, len(first), 0.5)
    a, b = _table(first, second, names)
    weights = _learned(a[:training], b[:training], joint=joint)
    differences = (a[training:] - b[training:]) @ weights
    # Runs that look exactly the same are a coin toss, which comes up heads every other time.
    tosses = np.arange(len(differences)) % 2 == 0
    right = np.where(differences == 0, tosses, differences > 0)
    return Score(int(right.sum()), len(right), 0.5)


def _learned(a: Floats, b: Floats, *, joint: bool) -> Floats:
    """The weights of a linear discriminant whose features count as independent of each other.

    Estimated variances of a few runs are pulled towards their median, so that no feature counts
    only because it happened to vary little.
    """
    difference: Floats = a.mean(axis=0) - b.mean(axis=0)
    variance = (a.var(axis=0, ddof=1) + b.var(axis=0, ddof=1)) / 2
    usual = np.median(variance[variance > 0]) if (variance > 0).any() else 0.0
    # A feature that never varies within a world tells everything if it differs between them.
    spread = np.maximum(variance + usual * (variance > 0), 1e-12)
    weights: Floats = difference / spread
    if joint:
        return weights
    best = int(np.argmax(np.abs(difference) / np.sqrt(spread)))
    weights = np.zeros_like(difference)
    weights[best] = np.sign(difference[best])
    return weights


def _table(
    first: Sequence[Features], second: Sequence[Features], names: Sequence[str]
) -> tuple[Floats, Floats]:
    """One row for each run, and zeros where a run does not have a feature."""
    nothing = np.zeros(0)
    widths = {name: max(one.get(name, nothing).size for one in (*first, *second)) for name in names}

    def rows(runs: Sequence[Features]) -> Floats:
        parts = [
            np.stack([_padded(one.get(name, nothing), widths[name]) for one in runs])
            for name in names
        ]
        return np.concatenate(parts, axis=1)

    return rows(first), rows(second)


def _padded(values: Floats, width: int) -> Floats:
    return np.pad(values, (0, width - values.size))
