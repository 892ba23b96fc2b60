"""What the texts of the command line's options mean for linear protocols and their arms."""

from math import cos, tau

import numpy as np

from lotor.cli.options import DEFAULT_K, refuse_given
from lotor.core.errors import InputError
from lotor.core.fixed_point import Floats
from lotor.environments import LINEAR_LOOKALIKES, GraphArms, LinearArms, linear_lookalike
from lotor.environments.graph import nearest_neighbours
from lotor.environments.linear import normal_draws
from lotor.policies.linear import linear_from_text
from lotor.protocols.linucb_ds import LinUCBDS, SpectralUCBDS
from lotor.runtime.daemon.loopback_model import Survey

LINEAR: dict[str, type[LinUCBDS]] = {kind.name: kind for kind in (LinUCBDS, SpectralUCBDS)}
DEFAULT_ARMS = {"linucb-ds": "linear:10,5", "spectral-ucb-ds": "graph:10"}
DEFAULT_USER, DEFAULT_DIMENSIONS, NEIGHBOURS = 1, 5, 10
# Of made-up arms: inside the bound of 1 that the policies state unless told otherwise.
THETA_LENGTH, SWING = 0.9, 0.3


def linear_from(protocol: str, policy: str | None, **options: object) -> LinUCBDS:
    """A linear protocol with the options that were given."""
    given = {name: value for name, value in options.items() if value is not None}
    kind = LINEAR[protocol]
    if policy is None:
        return kind(**given)  # type: ignore[arg-type]
    return kind(linear_from_text(policy), **given)  # type: ignore[arg-type]


def linear_environment_from(
    arms: str,
    *,
    graph: bool,
    k: int | None = None,
    user: int | None = None,
    dimensions: int | None = None,
    sha256: str | None = None,
) -> LinearArms:
    """What `--arms` and its companions describe, as nodes of a graph if wanted."""
    kind, _, rest = arms.partition(":")
    if kind in ("linear", "graph") and rest:
        choices = {"k": k, "user": user, "dimensions": dimensions, "sha256": sha256}
        refuse_given(choices, f"to named arms and files; --arms {arms} says all itself")
        return made_up(arms, graph=graph).arms()
    count = DEFAULT_K if k is None else k
    d = DEFAULT_DIMENSIONS if dimensions is None else dimensions
    who = DEFAULT_USER if user is None else user
    if kind == "movielens" and rest:
        if not graph:
            return LinearArms.movielens(rest, k=count, user=who, d=d, sha256=sha256)
        near = _neighbours(count)
        return GraphArms.movielens(rest, k=count, user=who, d=d, sha256=sha256, neighbours=near)
    refuse_given({"sha256": sha256}, f"to rating files, and --arms {arms} is none")
    if arms not in LINEAR_LOOKALIKES:
        raise InputError(
            f"--arms {arms!r} is no source of arms that are vectors: give linear:K,D (made up), "
            f"graph:K (a ring), {' or '.join(LINEAR_LOOKALIKES)}, or movielens:PATH"
        )
    found = linear_lookalike(arms, k=count, d=d, user=who)
    if graph:
        return GraphArms.nearest(found.vectors, found.means, neighbours=_neighbours(count))
    return found


def made_up(arms: str, *, graph: bool) -> Survey:
    """'linear:K,D' or 'graph:K': always the same arms for the same text."""
    kind, _, rest = arms.partition(":")
    try:
        numbers = [int(part) for part in rest.split(",")]
    except ValueError:
        numbers = []
    if len(numbers) != (2 if kind == "linear" else 1) or min(numbers) < 1 or numbers[0] < 2:
        raise InputError(
            f"--arms {arms!r} is not understood: write linear:K,D for K arms (at least 2) in D "
            "dimensions, or graph:K for a ring of K"
        )
    if kind == "graph":
        return _ring(numbers[0])
    k, d = numbers
    vectors = _of_length(normal_draws(k * d, 0, k, d).reshape(k, d), 1.0)
    theta = _of_length(normal_draws(d, 1, k, d).reshape(1, d), THETA_LENGTH)[0]
    if not graph:
        return Survey(LinearArms, vectors.tolist(), theta.tolist())
    weights = nearest_neighbours(vectors, _neighbours(k))
    return Survey(GraphArms, weights.tolist(), (vectors @ theta).tolist())


def _ring(k: int) -> Survey:
    """Each arm pays nearly what its two neighbours pay."""
    weights = [[float((i - j) % k in (1, k - 1)) for j in range(k)] for i in range(k)]
    return Survey(GraphArms, weights, [0.5 + SWING * cos(tau * i / k) for i in range(k)])


def _of_length(rows: Floats, length: float) -> Floats:
    scaled: Floats = length * rows / np.sqrt(np.square(rows).sum(axis=1, keepdims=True))
    return scaled


def _neighbours(k: int) -> int:
    return min(NEIGHBOURS, k - 1)
