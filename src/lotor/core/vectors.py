"""Checks of vectors and tables of numbers that a caller passes."""

from collections.abc import Iterable, Mapping, Sequence, Set
from typing import TypeAlias, TypeVar

import numpy as np

from lotor.core.errors import InputError
from lotor.core.fixed_point import Floats
from lotor.core.wording import counted

# A larger coordinate is a mistake, and its square could leave the range of floats.
LARGEST_COORDINATE = 2.0**64

# Rounding may make a vector of length 1 a little longer.
UNIT_LENGTH = 1 + 1e-9

T = TypeVar("T")
VectorsLike: TypeAlias = Sequence[Sequence[float]] | Floats
VectorLike: TypeAlias = Sequence[float] | Floats


def to_items(what: str, values: Iterable[T], example: str) -> tuple[T, ...]:
    """The elements of a list, whatever they are; anything that has no order is refused."""
    unordered = isinstance(values, str | bytes | Mapping | Set)
    if unordered or not isinstance(values, Iterable):
        raise InputError(f"{what} cannot be of type {type(values).__name__}: give {example}")
    return tuple(values)


def to_table(name: str, values: VectorsLike) -> Floats:
    """Rows of finite numbers, all of one length, as a table that nobody can change.

    >>> to_table("contexts", [[1, 0], [0.5, -2]]).shape
    (2, 2)
    """
    table = _frozen(name, values)
    if table.ndim != 2 or table.size == 0:
        raise InputError(f"{name} must be a table: give at least one row, all rows of one length")
    return table


def to_vectors(name: str, values: VectorsLike) -> Floats:
    """At least two vectors of one length, as a table that nobody can change.

    >>> to_vectors("vectors", [[1, 0], [0.5, -2]]).shape
    (2, 2)
    """
    table = _frozen(name, values)
    if table.ndim != 2:
        raise InputError(f"{name} must be a list of vectors of one length, one vector for each arm")
    if len(table) < 2:
        raise InputError(
            f"{name} has {counted(len(table), 'arm')}, which leaves nothing to choose: give at "
            "least two"
        )
    if table.shape[1] == 0:
        raise InputError(f"{name} has arms of zero dimensions: give each arm at least one number")
    return table


def to_vector(name: str, values: VectorLike, length: int | None = None) -> Floats:
    """Some finite numbers that nobody can change; exactly `length` if that is given."""
    vector = _frozen(name, values)
    if vector.ndim != 1:
        raise InputError(f"{name} must be a list of numbers")
    if length is not None and len(vector) != length:
        raise InputError(f"{name} has {len(vector)} numbers where {length} are needed")
    return vector


def largest_norm(vectors: Floats) -> float:
    """The length of the longest vector."""
    return float(np.sqrt(np.square(vectors).sum(axis=1).max()))


def _frozen(name: str, values: object) -> Floats:
    # The values stay out of the messages: theta is its owner's secret.
    try:
        array = np.array(values, dtype=np.float64, order="C")
    except (TypeError, ValueError):
        raise InputError(
            f"{name} holds something that is not a number, or vectors of several lengths"
        ) from None
    # nan fails the comparison too.
    if not np.all(np.abs(array) <= LARGEST_COORDINATE):
        raise InputError(
            f"{name} holds a number that is not finite or beyond 2^64: correct or rescale it"
        )
    array.setflags(write=False)
    return array
