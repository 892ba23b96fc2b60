"""The parameters of linear policies: what is a bound, and who keeps it."""

from math import ceil, isfinite, log, log2
from typing import Literal, TypeAlias

import numpy as np

from lotor.core.errors import InputError
from lotor.core.fixed_point import Floats, to_float

LogT: TypeAlias = Literal["log t"]

# For a policy that states no bound on |theta|.
THETA_BOUND = 64.0
# A theta that was scaled to its bound may miss it by the rounding of floats.
NORM_SLACK = 1e-9


def positive(name: str, value: object, *, or_zero: bool = False) -> float:
    """A finite number above 0."""
    number = to_float(name, value)
    if isfinite(number) and (number > 0 or (or_zero and number == 0)):
        return number
    least = "from 0 up" if or_zero else "above 0"
    raise InputError(f"{name} is {value!r}: give a finite number {least}")


def confidence(value: object) -> float:
    """The probability delta that the confidence bounds may fail with."""
    delta = to_float("delta", value)
    if not 0 < delta <= 1:
        raise InputError(f"delta is {value!r}: give a probability above 0, such as 0.01")
    return delta


def bound_or_log(name: str, value: object) -> float | LogT:
    """A bound, or the papers' "log t", which grows with the round and bounds nothing."""
    if isinstance(value, str):
        if value != "log t":
            raise InputError(f"{name} is {value!r}: give a number or 'log t'")
        return "log t"
    return positive(name, value)


def bound_at(bound: float | LogT, t: int) -> float:
    """The value of a bound after t pulls."""
    return log(t) if isinstance(bound, str) else bound


def at_least(bound: float, needed: float, slack: float = 0.0) -> float:
    """The bound, or the next power of two if more is needed.

    >>> at_least(1.0, 0.9), at_least(1.0, 2.5)
    (1.0, 4.0)
    """
    return bound if needed <= bound * (1 + slack) else 2.0 ** ceil(log2(needed))


def check_norm(theta: Floats, bound: float, name: str) -> None:
    """Refuse a theta beyond its bound; its length is a secret and stays out of the message."""
    # Scaled first, so that no square leaves the range of floats.
    if not float(np.sqrt(np.square(np.clip(theta / bound, -2, 2)).sum())) <= 1 + NORM_SLACK:
        raise InputError(f"theta is longer than {name} = {bound:g}: state a larger {name}")
