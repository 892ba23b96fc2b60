"""`lotor.compare`: several protocols or policies on the same arms, over many seeds."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import index
from pathlib import Path
from typing import Any, SupportsIndex, TypeAlias, TypeVar, cast

from lotor.core.errors import InputError
from lotor.environments.base import Environment
from lotor.policies import AnyPolicy, to_text
from lotor.protocols.cell import RunCell
from lotor.protocols.plain import Plain, agent_of
from lotor.protocols.protocol import Protocol
from lotor.studies.compared_runs import ComparedRuns
from lotor.studies.sweep import CellProgress, sweep

T = TypeVar("T")
Subject: TypeAlias = Protocol | AnyPolicy
Named: TypeAlias = Mapping[str, T] | Iterable[T] | T

CURVE_POINTS = 50


def compare(
    protocols: Named[Subject],
    environments: Named[Environment],
    budgets: Sequence[SupportsIndex] | SupportsIndex,
    *,
    seeds: Iterable[SupportsIndex] = range(10),
    points: int = CURVE_POINTS,
    kept: Path | str | None = None,
    workers: int | None = None,
    cluster: str | None = None,
    progress: CellProgress | None = None,
) -> ComparedRuns:
    """Run each protocol, or policy in plain, on each environment with each budget and each seed.

    Protocols and environments are one, several, or a mapping that names them. In simulations, runs
    of one seed see the same rewards, whatever protocol they have. `points` is how many rounds of a
    curve are kept. `kept` is a folder for finished runs: with it, a comparison that was interrupted
    goes on. All cores of this machine work, or `workers` of them, or a Ray `cluster` at an address;
    `progress` is called with (runs done, all runs).

    >>> import lotor
    >>> arms = lotor.BernoulliArms([0.9, 0.1])
    >>> policies = [lotor.UCB(), lotor.ThompsonSampling()]
    >>> found = lotor.compare(policies, arms, 200, seeds=range(5), workers=1)
    >>> found
    <ComparedRuns: 2 protocols, 1 environment, 1 budget, 5 seeds; most reward: thompson-sampling>
    >>> found.to_frame("columns")["reward"]
    [171.6, 177.6]
    """
    cells = comparison_cells(
        named_subjects(protocols),
        named_environments(environments),
        whole_numbers("budgets", [budgets] if isinstance(budgets, SupportsIndex) else budgets),
        whole_numbers("seeds", seeds),
        points,
    )
    folder = None if kept is None else Path(kept)
    outcomes = sweep(cells, kept=folder, workers=workers, cluster=cluster, progress=progress)
    return ComparedRuns(outcomes)


def comparison_cells(
    subjects: Mapping[str, Subject],
    environments: Mapping[str, Environment],
    budgets: Sequence[int],
    seeds: Sequence[int],
    points: int = CURVE_POINTS,
) -> list[RunCell]:
    """The runs of a comparison, seed by seed, so that an interrupted one has some of everything."""
    if type(points) is not int or points < 1:
        raise InputError(f"points is {points!r}: give a whole number of at least 1")
    return [
        RunCell(
            labels={"protocol": name, "environment": place, "budget": budget, "seed": seed},
            protocol=subject,
            environment=environment,
            budget=budget,
            seed=seed,
            at=curve_rounds(budget, points),
        )
        for seed in seeds
        for budget in budgets
        for place, environment in environments.items()
        for name, subject in subjects.items()
    ]


def curve_rounds(budget: int, points: int) -> tuple[int, ...]:
    """Rounds at equal distances, the last one included.

    >>> curve_rounds(1000, 4), curve_rounds(3, 10)
    ((250, 500, 750, 1000), (1, 2, 3))
    """
    return tuple(sorted({max(budget * i // points, 1) for i in range(1, points + 1)}))


def named_subjects(given: Named[Subject]) -> dict[str, Subject]:
    """Protocols and policies by their names; by default those of the command line."""
    named = _named("protocols", given, (Protocol,), subject_name)
    for name, one in named.items():
        if not isinstance(one, Protocol) and agent_of(one) is None:
            raise InputError(
                f"{name} is no protocol and no policy: compare takes protocols, and policies such "
                f"as UCB(), not {one!r}"
            )
    return named


def subject_name(subject: Subject) -> str:
    """A protocol or a policy in a few words.

    >>> import lotor
    >>> subject_name(lotor.UCB()), subject_name(lotor.Samba(lotor.Softmax(), form="dealt"))
    ('ucb', 'samba/dealt:softmax:tau=0.06')
    """
    if not isinstance(subject, Protocol):
        return to_text(subject) if agent_of(subject) is not None else repr(subject)
    if isinstance(subject, Plain):
        return to_text(subject.policy)
    chosen = subject.options()
    form = f"/{chosen['form']}" if "form" in chosen else ""
    policy = f":{chosen['policy']}" if "policy" in chosen else ""
    return f"{subject.name}{form}{policy}"


def named_environments(given: Named[Environment]) -> dict[str, Environment]:
    """Environments by their names; by default their class, numbered where there are several."""
    named = _named("environments", given, (), lambda one: type(one).__name__)
    for name, one in named.items():
        if isinstance(one, type) or not hasattr(one, "start"):
            raise InputError(
                f"{name} is no environment: compare takes some such as BernoulliArms([0.9, 0.1]), "
                f"not {one!r}"
            )
    return named


def _named(
    what: str, given: object, kinds: tuple[type, ...], name_of: Callable[[Any], str]
) -> dict[str, Any]:
    """What was given as a mapping, as several things or as one of them."""
    if isinstance(given, Mapping):
        named = dict(given)
        if any(not isinstance(name, str) for name in named):
            raise InputError(f"the names of {what} are texts, some of {list(named)} are not")
    else:
        several = isinstance(given, Iterable) and not isinstance(given, kinds)
        listed: list[Any] = list(cast("Iterable[Any]", given)) if several else [given]
        named = _numbered(listed, name_of)
    if not named:
        raise InputError(f"there are no {what}: give at least one")
    return named


def _numbered(listed: Sequence[T], name_of: Callable[[T], str]) -> dict[str, T]:
    """Names for all, with numbers where a name would come twice."""
    names = [name_of(one) for one in listed]
    return {
        name if names.count(name) == 1 else f"{name} {names[:place].count(name) + 1}": one
        for place, (name, one) in enumerate(zip(names, listed, strict=True))
    }


def whole_numbers(what: str, given: Iterable[SupportsIndex]) -> list[int]:
    """Different whole numbers, at least one."""
    try:
        numbers = [-1 if isinstance(one, bool) else index(one) for one in given]
    except TypeError:
        numbers = [-1]
    if not numbers or min(numbers) < 0 or len(set(numbers)) < len(numbers):
        raise InputError(
            f"{what} is {given!r}: give different whole numbers from 0 up, such as "
            f"{'range(10)' if what == 'seeds' else '[1000, 2000]'}"
        )
    return numbers
