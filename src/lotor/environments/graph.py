"""Arms that are the nodes of a graph, with rewards that change little along its edges."""

from dataclasses import dataclass
from typing import Literal, cast

import numpy as np

from lotor.core.errors import InputError
from lotor.core.fixed_point import Floats
from lotor.core.vectors import VectorLike, VectorsLike, to_vector, to_vectors
from lotor.environments.linear import LinearArms
from lotor.environments.rating_files import FilePath


@dataclass(frozen=True, slots=True, init=False, eq=False, repr=False)
class GraphArms(LinearArms):
    """Arm i is node i of a graph and pays `values[i]` plus noise.

    As linear arms (Valko et al., 2014): with the Laplacian's eigenvectors as columns of Q, the
    arms are Q's rows and theta = Q^T values, so that d = K and <q_i, theta> = values[i].

    `weights` is the symmetric table of edge weights, 0 for no edge. The graph must be connected:
    rewards of one part tell nothing about another, so run each part on its own.
    `noise_sd`, `noise` and `first` are those of `LinearArms`.

    >>> arms = GraphArms([[0, 1, 0], [1, 0, 2], [0, 2, 0]], values=[0.1, 0.2, 0.3])
    >>> arms.means.round(9).tolist()
    [0.1, 0.2, 0.3]
    """

    weights: Floats
    spectrum: Floats

    def __init__(
        self,
        weights: VectorsLike,
        values: VectorLike,
        *,
        noise_sd: float = 0.1,
        noise: VectorLike | None = None,
        first: int | None = None,
    ) -> None:
        table, spectrum, basis = laplacian(weights)
        means = to_vector("values", values, len(table))
        # A dataclass with slots is a new class, which super() without arguments does not know.
        LinearArms.__init__(
            self, basis, basis.T @ means, noise_sd=noise_sd, noise=noise, first=first
        )
        object.__setattr__(self, "weights", table)
        object.__setattr__(self, "spectrum", spectrum)

    @classmethod
    def nearest(
        cls,
        vectors: VectorsLike,
        values: VectorLike,
        *,
        neighbours: int = 10,
        noise_sd: float = 0.1,
        noise: VectorLike | None = None,
        first: int | None = None,
    ) -> "GraphArms":
        """An edge of weight 1 between two arms if one is among the nearest of the other.

        >>> GraphArms.nearest([[0], [1], [3]], [0.1, 0.2, 0.3], neighbours=1).weights.tolist()
        [[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]]
        """
        table = nearest_neighbours(to_vectors("vectors", vectors), neighbours)
        return cls(table, values, noise_sd=noise_sd, noise=noise, first=first)

    @classmethod
    def movielens(
        cls,
        path: FilePath,
        *,
        k: int,
        user: int,
        d: int,
        noise_sd: float = 0.1,
        noise: VectorLike | None = None,
        first: int | None = None,
        sha256: str | None = None,
        cache: FilePath | Literal["user"] | None = "user",
        neighbours: int = 10,
    ) -> "GraphArms":
        """The first k movies by their nearest neighbours, with what the user would give them."""
        arms = LinearArms.movielens(path, k=k, user=user, d=d, sha256=sha256, cache=cache)
        return cls.nearest(
            arms.vectors,
            arms.means,
            neighbours=neighbours,
            noise_sd=noise_sd,
            noise=noise,
            first=first,
        )

    @property
    def eigenvalues(self) -> Floats | None:
        return self.spectrum


def laplacian(weights: VectorsLike) -> tuple[Floats, Floats, Floats]:
    """A graph's checked weights, and its Laplacian's eigenvalues and eigenvectors (columns)."""
    table = _checked_weights(weights)
    eigenvalues, basis = np.linalg.eigh(np.diag(table.sum(axis=1)) - table)
    # No eigenvalue is below 0, except by rounding.
    spectrum = np.maximum(eigenvalues, 0.0)
    spectrum.setflags(write=False)
    return table, spectrum, basis


def nearest_neighbours(vectors: Floats, neighbours: int) -> Floats:
    """The symmetric table of nearest neighbours; of equally near arms the first ones count."""
    k = len(vectors)
    if not isinstance(neighbours, int | np.integer) or not 1 <= neighbours < k:
        raise InputError(
            f"neighbours is {neighbours!r}, but each of {k} arms has {k - 1} others: give a number "
            f"from 1 to {k - 1}"
        )
    weights = np.zeros((k, k))
    for i, vector in enumerate(vectors):
        distances = np.square(vectors - vector).sum(axis=1)
        distances[i] = np.inf
        weights[i, np.argsort(distances, kind="stable")[:neighbours]] = 1.0
    return cast("Floats", np.maximum(weights, weights.T))


def _checked_weights(weights: VectorsLike) -> Floats:
    table = to_vectors("weights", weights)
    if table.shape[0] != table.shape[1]:
        raise InputError("weights is not square: give one row and one column for each arm")
    if not np.array_equal(table, table.T):
        raise InputError("weights is not symmetric: give each edge the same weight both ways")
    if np.any(table < 0) or np.any(np.diag(table) != 0):
        raise InputError(
            "a weight is negative, or an arm has an edge to itself: give weights from 0 up, and 0 "
            "on the diagonal"
        )
    parts = _parts(table)
    if parts > 1:
        raise InputError(
            f"the graph falls into {parts} parts without an edge between them: give more "
            "neighbours or edges, or run each part on its own"
        )
    return table


def _parts(weights: Floats) -> int:
    """How many parts have no edge between them."""
    left = set(range(len(weights)))
    parts = 0
    while left:
        parts += 1
        border = [left.pop()]
        while border:
            found = left.intersection(np.flatnonzero(weights[border.pop()]).tolist())
            left -= found
            border.extend(found)
    return parts
