"""What a policy would have earned in the place of the one that chose, estimated from its log.

A policy is given by the probability with which it takes each arm: one list for all events, a list
for each event, or a function of an event's context. These must not have been learnt from the log.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from math import inf, sqrt
from typing import TypeAlias

import numpy as np

from lotor.core.errors import InputError
from lotor.core.fixed_point import Floats
from lotor.core.vectors import VectorLike, VectorsLike
from lotor.environments.logged import LoggedArms

PerArm: TypeAlias = VectorLike | VectorsLike | Callable[[Floats], VectorLike]
"""A number for each arm: the same for all events, for each event, or a function of its context."""

_ROUNDING = 1e-6


@dataclass(frozen=True, slots=True)
class OffPolicyEstimate:
    """The mean reward of one choice, its standard error, and how many events it rests on.

    `effective_events` is how many events chosen by the policy itself would tell as much: if few,
    the log says little about the policy.

    >>> print(OffPolicyEstimate(0.5, 0.02, 1000, 312.4))
    0.5 ± 0.02 (1000 events, worth 312)
    """

    value: float
    standard_error: float
    events: int
    effective_events: float

    def __str__(self) -> str:
        return (
            f"{self.value:.4g} ± {self.standard_error:.2g} ({self.events} events, worth "
            f"{self.effective_events:.0f})"
        )


def ips(log: LoggedArms, policy: PerArm) -> OffPolicyEstimate:
    """Inverse propensity scores (Horvitz and Thompson, 1952): unbiased, and noisy.

    Each reward counts policy(arm) / propensity times. Every arm that the policy may take must have
    been possible in the log; a warning says so if one was never chosen.

    >>> log = LoggedArms([0, 1, 0, 1], [0, 1, 1, 1])
    >>> ips(log, [0.0, 1.0]).value
    1.0
    """
    probabilities = _probabilities(log, policy)
    _warn_of_untried(log, probabilities)
    weights = _weights(log, probabilities)
    return _mean(weights * log.rewards, weights)


def self_normalised_ips(log: LoggedArms, policy: PerArm) -> OffPolicyEstimate:
    """IPS over the sum of its weights (Swaminathan and Joachims, 2015).

    It is a little biased on few events, less noisy, and never leaves the range of the rewards.
    """
    probabilities = _probabilities(log, policy)
    _warn_of_untried(log, probabilities)
    weights = _weights(log, probabilities)
    total = float(weights.sum())
    if total == 0:
        raise InputError(
            "the log has no event that this policy could have chosen, so that it says nothing "
            "about it: bring a log that tried its arms"
        )
    value = float(weights @ log.rewards) / total
    error = sqrt(float(np.square(weights * (log.rewards - value)).sum())) / total
    return OffPolicyEstimate(value, error, len(log), _effective(weights))


def doubly_robust(log: LoggedArms, policy: PerArm, model: PerArm) -> OffPolicyEstimate:
    """IPS of what a model of the rewards leaves unexplained (Dudík, Langford and Li, 2011).

    `model` predicts what each arm pays; `fitted_rewards` makes one. The estimate is unbiased if the
    propensities are right, whatever the model, and it is nearly so if the model is right, whatever
    the propensities. A model that predicts well makes it less noisy than IPS. Of arms that the log
    never chose, the model alone tells, and a warning says so.

    >>> log = LoggedArms([0, 1, 0, 1], [0, 1, 1, 1])
    >>> doubly_robust(log, [0.5, 0.5], model=[0.5, 1.0]).value
    0.75
    """
    probabilities = _probabilities(log, policy)
    _warn_of_untried(log, probabilities)
    predicted = _per_arm(log, "model", model)
    weights = _weights(log, probabilities)
    explained = (probabilities * predicted).sum(axis=1)
    left = log.rewards - predicted[np.arange(len(log)), log.arms]
    return _mean(explained + weights * left, weights)


def fitted_rewards(log: LoggedArms, *, ridge: float = 1.0, folds: int = 2) -> Floats:
    """What each arm would have paid at each event, by ridge regression on the contexts.

    An event is predicted from the other folds alone (event i is in fold i mod `folds`), so that
    `doubly_robust` stays unbiased. Without contexts a prediction is a mean, drawn towards 0.
    """
    if type(folds) is not int or not 2 <= folds <= len(log):
        raise InputError(
            f"folds is {folds!r}: give a whole number from 2 to the number of events, {len(log)}"
        )
    if not ridge > 0:
        raise InputError(f"ridge is {ridge!r}: give a number above 0")
    features = _features(log)
    fold = np.arange(len(log)) % folds
    predicted = np.empty((len(log), log.k))
    for one in range(folds):
        for arm in range(log.k):
            known = (fold != one) & (log.arms == arm)
            x = features[known, arm]
            a = x.T @ x + ridge * np.eye(x.shape[1])
            weights = np.linalg.solve(a, x.T @ log.rewards[known])
            predicted[fold == one, arm] = features[fold == one, arm] @ weights
    return predicted


def _features(log: LoggedArms) -> Floats:
    """For each event and arm: 1 and the context."""
    shape = (len(log), log.k)
    ones = np.ones((*shape, 1))
    if log.contexts is None:
        return ones
    contexts = log.contexts if log.contexts.ndim == 3 else log.contexts[:, np.newaxis, :]
    whole = np.broadcast_to(contexts, (*shape, contexts.shape[-1]))
    return np.concatenate([ones, whole], axis=2)


def _warn_of_untried(log: LoggedArms, probabilities: Floats) -> None:
    """Say that the log never chose an arm that the policy takes: no standard error knows."""
    never = np.bincount(log.arms, minlength=log.k) == 0
    shares = probabilities.mean(axis=0) * never
    if not shares.any():
        return
    arm = int(shares.argmax())
    warnings.warn(
        f"the log never chose arm {arm if log.names is None else log.names[arm]}, and the policy "
        f"takes such arms with probability {float(shares.sum()):.2g}: nothing here knows what they "
        "pay, and the standard error does not know that; bring a log that tried them",
        UserWarning,
        stacklevel=3,
    )


def _weights(log: LoggedArms, probabilities: Floats) -> Floats:
    weights: Floats = probabilities[np.arange(len(log)), log.arms] / log.propensities
    return weights


def _mean(terms: Floats, weights: Floats) -> OffPolicyEstimate:
    count = len(terms)
    effective = _effective(weights)
    error = float(terms.std(ddof=1)) / sqrt(count) if count > 1 and effective > 0 else inf
    return OffPolicyEstimate(float(terms.mean()), error, count, effective)


def _effective(weights: Floats) -> float:
    squares = float(np.square(weights).sum())
    return float(weights.sum()) ** 2 / squares if squares else 0.0


def _probabilities(log: LoggedArms, policy: PerArm) -> Floats:
    table = _per_arm(log, "policy", policy)
    off = np.abs(table.sum(axis=1) - 1.0) > _ROUNDING
    if np.any(table < 0) or np.any(off):
        wrong = int(np.flatnonzero((table < 0).any(axis=1) | off)[0])
        raise InputError(
            f"the policy's probabilities at event {wrong + 1} are not from 0 up with the sum 1: "
            "give the probability of each arm"
        )
    return table


def _per_arm(log: LoggedArms, name: str, given: PerArm) -> Floats:
    """A row of K numbers for each event."""
    values: object = given
    if callable(given):
        if log.contexts is None:
            raise InputError(
                f"{name} is a function of contexts, and the log has none: give {log.k} numbers"
            )
        values = [given(context) for context in log.contexts]
    try:
        table = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        table = np.empty(0)
    if table.shape not in ((log.k,), (len(log), log.k)) or not np.isfinite(table).all():
        raise InputError(
            f"{name} must be {log.k} finite numbers, one for each arm, or such a row for each of "
            f"the {len(log)} events"
        )
    rows: Floats = np.broadcast_to(table, (len(log), log.k))
    return rows
