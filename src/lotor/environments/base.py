"""What an environment is: the place where rewards come from."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Protocol, TypeAlias, TypeVar

import numpy as np

from lotor.core.effects import Decision
from lotor.core.errors import InputError
from lotor.core.fixed_point import Floats
from lotor.core.vectors import to_items

T = TypeVar("T")
PullFunction: TypeAlias = Callable[[Decision], float | Awaitable[float]]


class Environment(Protocol):
    """Some arms and their rewards; anything with these three members is one.

    It may have two more: `names`, one for each arm, and `regrets(arms)`, what a trajectory missed
    in each round, where it knows its means.

    >>> class Certain:
    ...     k = 2
    ...     reward_range = (0.0, 1.0)
    ...     def start(self, seed: int) -> PullFunction:
    ...         return lambda decision: float(decision.arm)
    >>> pull = Certain().start(seed=7)
    >>> pull(Decision(run="demo", round=1, arm=1, id="demo-1"))
    1.0
    """

    @property
    def k(self) -> int:
        """The number of arms; a decision's `arm` lies in 0..k-1."""
        ...

    @property
    def reward_range(self) -> tuple[float, float]:
        """The lowest and the highest possible reward: public, the same for all arms."""
        ...

    def start(self, seed: int) -> PullFunction:
        """Begin one run; a simulated environment gives the same rewards for the same seed."""
        ...


def split_names(
    what: str, values: Mapping[str, T] | Sequence[T], example: str
) -> tuple[tuple[T, ...], tuple[str, ...] | None]:
    """What belongs to each arm, and the arms' names if they were given as a mapping.

    >>> split_names("the means", {"drug A": 0.4, "drug B": 0.6}, "a list")
    ((0.4, 0.6), ('drug A', 'drug B'))
    """
    if not isinstance(values, Mapping):
        return to_items(what, values, example), None
    return tuple(values.values()), to_names(list(values), len(values))


def to_names(names: Sequence[str], k: int) -> tuple[str, ...]:
    """The names of k arms, each a text of its own."""
    given = to_items("the names", names, "a list of texts")
    for name in given:
        if not isinstance(name, str) or not name.strip() or not name.isprintable():
            raise InputError(f"an arm is called {name!r}: give each arm a name in plain text")
    if len(given) != k or len(set(given)) != k:
        raise InputError(
            f"there are {k} arms and {len(set(given))} different names: give each arm one"
        )
    return given


def names_of(environment: Environment) -> tuple[str, ...] | None:
    """The names of an environment's arms, where it has any."""
    names = getattr(environment, "names", None)
    return None if names is None else to_names(names, environment.k)


def expected_regrets(means: Floats, arms: Sequence[int]) -> Floats:
    """What a trajectory missed in each round, in expectation.

    `means` has what each arm pays on average: one row for each round, or one for all of them.

    >>> expected_regrets(np.array([0.25, 0.75]), [0, 1, 0]).tolist()
    [0.5, 0.0, 0.5]
    """
    chosen, k = np.asarray(arms), means.shape[-1]
    table = means if means.ndim == 2 else np.broadcast_to(means, (chosen.size, k))
    if chosen.ndim != 1 or len(chosen) > len(table):
        raise InputError(
            f"a trajectory must be a list of at most {len(table)} arms, one for each round: "
            "give the arms of a run in this environment"
        )
    if not np.all((chosen >= 0) & (chosen < k)):
        raise InputError(f"a trajectory names an arm that is not one of 0 to {k - 1}")
    rows = table[: len(chosen)]
    missed: Floats = rows.max(axis=1) - rows[np.arange(len(chosen)), chosen.astype(np.intp)]
    return missed
