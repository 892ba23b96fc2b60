"""Arms that are vectors, with one theta that says what all of them pay."""

from dataclasses import dataclass, field, replace
from math import cos, tau
from typing import ClassVar

import numpy as np

from lotor.core.errors import InputError
from lotor.core.fixed_point import Floats
from lotor.core.options import option
from lotor.environments.graph import GraphArms, nearest_neighbours
from lotor.environments.linear import LinearArms, normal_draws
from lotor.environments.linear_lookalike import LINEAR_LOOKALIKES, linear_lookalike
from lotor.environments.sources.bandit import DEFAULT_K
from lotor.environments.sources.base import ArmsSource, whole_numbers

NOISE_SD = 0.1
DEFAULT_USER, DEFAULT_DIMENSIONS, NEIGHBOURS = 1, 5, 10
# The length of made-up thetas: within 1, the policies' default bound.
THETA_LENGTH, SWING = 0.9, 0.3


@dataclass(frozen=True, slots=True)
class MadeUpArms:
    """Vectors and theta of LinearArms, or weights and values of GraphArms, as plain numbers."""

    kind: type[LinearArms]
    table: list[list[float]]
    pays: list[float] = field(repr=False)
    noise_sd: float = NOISE_SD

    def arms(self) -> LinearArms:
        return self.kind(self.table, self.pays, noise_sd=self.noise_sd)

    def module(self) -> str:
        """The same as a Python module with a `model`."""
        return (
            '"""What this owner knows: how its arms look, and what they pay."""\n\n'
            "import lotor\n\n"
            f"model = lotor.{self.kind.__name__}("
            f"{self.table}, {self.pays}, noise_sd={self.noise_sd})\n"
        )


@dataclass(frozen=True, slots=True)
class VectorSource(ArmsSource):
    """Arms of a linear bandit."""

    default: ClassVar[str] = "linear:10,5"
    text: ClassVar[str] = (
        "'linear:K,D' or 'graph:K' (made up), 'movielens-factors-like' or 'movielens:PATH'"
    )
    graph: ClassVar[bool] = False

    k: int | None = field(
        default=None, metadata=option("How many arms, unless --arms says it.", shown="10")
    )
    user: int | None = field(
        default=None, metadata=option("MovieLens: the user whose taste pays.", shown="1")
    )
    dimensions: int | None = field(
        default=None, metadata=option("MovieLens: the dimensions d of an arm.", shown="5")
    )
    noise_sd: float | None = field(
        default=None,
        metadata=option("The standard deviation of the noise in rewards.", shown=str(NOISE_SD)),
    )
    sha256: str | None = field(default=None, metadata=option("The digest that the file must have."))

    def environment(self, text: str, budget: int) -> LinearArms:  # noqa: ARG002
        kind, _, rest = text.partition(":")
        sd = NOISE_SD if self.noise_sd is None else self.noise_sd
        if kind in ("linear", "graph") and rest:
            self.refuse(
                ("k", "user", "dimensions", "sha256"),
                f"to named arms and files; --arms {text} says how many arms and dimensions it has",
            )
            return replace(made_up(text, graph=self.graph), noise_sd=sd).arms()
        k = DEFAULT_K if self.k is None else self.k
        d = DEFAULT_DIMENSIONS if self.dimensions is None else self.dimensions
        user = DEFAULT_USER if self.user is None else self.user
        if kind == "movielens" and rest:
            if not self.graph:
                return LinearArms.movielens(
                    rest, k=k, user=user, d=d, noise_sd=sd, sha256=self.sha256
                )
            near = _neighbours(k)
            return GraphArms.movielens(
                rest, k=k, user=user, d=d, noise_sd=sd, sha256=self.sha256, neighbours=near
            )
        self.refuse(("sha256",), f"to rating files, and --arms {text} does not name one")
        if text not in LINEAR_LOOKALIKES:
            raise InputError(
                f"--arms {text!r} does not name arms that are vectors: write linear:K,D (made "
                f"up), graph:K (a ring), {' or '.join(LINEAR_LOOKALIKES)}, or movielens:PATH"
            )
        found = linear_lookalike(text, k=k, d=d, user=user, noise_sd=sd)
        if self.graph:
            return GraphArms.nearest(
                found.vectors, found.means, neighbours=_neighbours(k), noise_sd=sd
            )
        return found


@dataclass(frozen=True, slots=True)
class GraphSource(VectorSource):
    """The same arms as nodes of a graph, each near those that pay alike."""

    default: ClassVar[str] = "graph:10"
    graph: ClassVar[bool] = True


def made_up(text: str, *, graph: bool) -> MadeUpArms:
    """'linear:K,D' or 'graph:K': always the same arms for the same text."""
    kind, _, rest = text.partition(":")
    numbers = whole_numbers(rest)
    if len(numbers) != (2 if kind == "linear" else 1) or min(numbers) < 1 or numbers[0] < 2:
        raise InputError(
            f"--arms {text!r} is not understood: write linear:K,D for K arms (at least 2) in D "
            "dimensions, or graph:K for a ring of K"
        )
    if kind == "graph":
        return _ring(numbers[0])
    k, d = numbers
    vectors = _of_length(normal_draws(k * d, 0, k, d).reshape(k, d), 1.0)
    theta = _of_length(normal_draws(d, 1, k, d).reshape(1, d), THETA_LENGTH)[0]
    if not graph:
        return MadeUpArms(LinearArms, vectors.tolist(), theta.tolist())
    weights = nearest_neighbours(vectors, _neighbours(k))
    return MadeUpArms(GraphArms, weights.tolist(), (vectors @ theta).tolist())


def _ring(k: int) -> MadeUpArms:
    """Each arm pays nearly what its two neighbours pay."""
    weights = [[float((i - j) % k in (1, k - 1)) for j in range(k)] for i in range(k)]
    return MadeUpArms(GraphArms, weights, [0.5 + SWING * cos(tau * i / k) for i in range(k)])


def _of_length(rows: Floats, length: float) -> Floats:
    scaled: Floats = length * rows / np.sqrt(np.square(rows).sum(axis=1, keepdims=True))
    return scaled


def _neighbours(k: int) -> int:
    return min(NEIGHBOURS, k - 1)
