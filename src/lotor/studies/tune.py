"""`lotor.tune`: the parameters of a policy that pay most, by a grid or by a search."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from itertools import product
from math import ceil, floor
from pathlib import Path
from typing import Any, SupportsIndex, TypeAlias

from lotor.core.errors import InputError
from lotor.environments.base import Environment
from lotor.policies import AnyPolicy, to_text
from lotor.protocols.protocol import Protocol
from lotor.studies.compare import (
    Subject,
    comparison_cells,
    named_subjects,
    whole_numbers,
)
from lotor.studies.compared_runs import ComparedRuns
from lotor.studies.sweep import CellProgress, sweep
from lotor.studies.tuning import Tuning

Grid: TypeAlias = Mapping[str, Sequence[float]]


@dataclass(frozen=True, slots=True)
class SearchRange:
    """Where a search looks for a parameter; evenly in its logarithm if `log`."""

    low: float
    high: float
    log: bool = False

    def __post_init__(self) -> None:
        if not self.low < self.high or (self.log and self.low <= 0):
            raise InputError(
                f"a search from {self.low:g} to {self.high:g} finds nothing: give a lower and a "
                "higher number, both above 0 if it is logarithmic"
            )


def tune(
    protocol: Subject,
    environment: Environment,
    budget: SupportsIndex,
    *,
    grid: Grid | None = None,
    search: Mapping[str, SearchRange] | None = None,
    trials: int = 30,
    seeds: Iterable[SupportsIndex] = range(10),
    kept: Path | str | None = None,
    workers: int | None = None,
    cluster: str | None = None,
    progress: CellProgress | None = None,
) -> Tuning:
    """Find the parameters of a policy, in plain or under a protocol, with the largest mean reward.

    `grid` has the values to try of each parameter; without one they are those of the policy's
    paper (`Policy.grid`, for SAMBA's policies appendix C). With `search` instead, optuna tries
    `trials` points in these ranges (`pip install 'lotor[tune]'`). Every point runs with all
    `seeds`. The other parameters are those of `lotor.compare`.

    >>> import lotor
    >>> arms = lotor.BernoulliArms([0.9, 0.1])
    >>> lotor.tune(lotor.Softmax(), arms, 100, grid={"tau": [0.1, 10]}, seeds=[1], workers=1)
    <Tuning of softmax: best tau=0.1, reward 91 over 1 run, 2 points>
    """
    subject = named_subjects({"protocol": protocol})["protocol"]
    if grid is not None and search is not None:
        raise InputError("a grid and a search were given: give one of them")
    if type(trials) is not int or trials < 1:
        raise InputError(f"trials is {trials!r}: give a whole number of at least 1")
    folder = None if kept is None else Path(kept)
    (rounds,), tried = whole_numbers("budget", [budget]), whole_numbers("seeds", seeds)
    job = TuningJob(subject, environment, rounds, tried, folder, workers, cluster, progress)
    if search is not None:
        return job.searched(search, trials)
    return job.gridded(paper_grid(subject) if grid is None else grid)


def policy_of(subject: Subject) -> AnyPolicy:
    """The policy that a protocol runs, or the policy itself."""
    if not isinstance(subject, Protocol):
        return subject
    policy: AnyPolicy | None = getattr(subject, "policy", None)
    if policy is None:
        raise InputError(f"{subject.name} has no policy whose parameters could be tuned")
    return policy


def paper_grid(subject: Subject) -> Grid:
    """The values that the policy's paper tried."""
    policy = policy_of(subject)
    grid: Grid = getattr(policy, "grid", {})
    if not grid:
        known = ", ".join(_parameters(policy)) or "none"
        raise InputError(
            f"no paper says which parameters of {to_text(policy)} to try: give a grid or a search "
            f"(its parameters: {known})"
        )
    return grid


def with_parameters(subject: Subject, values: Mapping[str, float]) -> Subject:
    """The same with other parameters of its policy."""
    policy = policy_of(subject)
    known = _parameters(policy)
    for name in values:
        if name not in known:
            raise InputError(
                f"{to_text(policy)} has no parameter {name!r}: it has {', '.join(known) or 'none'}"
            )
    tuned: Any = replace(policy, **values)  # type: ignore[type-var]
    return replace(subject, policy=tuned) if isinstance(subject, Protocol) else tuned  # type: ignore[type-var]


def _parameters(policy: AnyPolicy) -> list[str]:
    return [one.name for one in fields(policy)] if is_dataclass(policy) else []


def point_name(values: Mapping[str, float]) -> str:
    """A point as tables name it.

    >>> point_name({"alpha": 0.1, "beta": 1.0})
    'alpha=0.1, beta=1.0'
    """
    return ", ".join(f"{name}={value}" for name, value in values.items())


@dataclass(frozen=True, slots=True)
class TuningJob:
    """What is tuned on which arms, and where the runs are made."""

    subject: Subject
    environment: Environment
    budget: int
    seeds: Sequence[int]
    kept: Path | None
    workers: int | None
    cluster: str | None
    progress: CellProgress | None

    def gridded(self, grid: Grid) -> Tuning:
        """Every combination of the grid's values."""
        if not grid or not all(len(values) for values in grid.values()):
            raise InputError("the grid is empty: give at least one value of one parameter")
        points = [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]
        return self._tuning(points, self._run(points))

    def searched(self, search: Mapping[str, SearchRange], trials: int) -> Tuning:
        """As many points as there are trials, where optuna expects most reward.

        Its sampler has a fixed seed, so that an interrupted search goes on with the same points.
        """
        try:
            import optuna  # noqa: PLC0415
        except ImportError:
            raise InputError(
                "a search needs optuna, which is not installed: run pip install 'lotor[tune]', or "
                "give a grid"
            ) from None
        if not search:
            raise InputError("the search has no parameters: give at least one range")
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        study = optuna.create_study(
            direction="maximize", sampler=optuna.samplers.TPESampler(seed=self.seeds[0])
        )
        points: list[dict[str, float]] = []
        found: dict[str, ComparedRuns] = {}
        for done in range(trials):
            trial = study.ask()
            values = dict(self._suggested(trial, search))
            points.append(values)
            name = point_name(values)
            # Whole numbers may be tried again.
            if name not in found:
                found[name] = self._run([values], done, trials)
            study.tell(trial, found[name].groups[0].mean("reward"))
        outcomes = [one for compared in found.values() for one in compared.outcomes]
        return self._tuning(points, ComparedRuns(outcomes))

    def _suggested(
        self, trial: Any, search: Mapping[str, SearchRange]
    ) -> Iterator[tuple[str, float]]:
        with_parameters(self.subject, {name: one.low for name, one in search.items()})
        policy = policy_of(self.subject)
        for name, one in search.items():
            # A parameter that counts something takes whole numbers only.
            if type(getattr(policy, name)) is int:
                yield name, trial.suggest_int(name, ceil(one.low), floor(one.high), log=one.log)
            else:
                yield name, trial.suggest_float(name, one.low, one.high, log=one.log)

    def _run(
        self, points: Sequence[Mapping[str, float]], done: int = 0, trials: int = 1
    ) -> ComparedRuns:
        subjects = {point_name(one): with_parameters(self.subject, one) for one in points}
        cells = comparison_cells(
            subjects, {"arms": self.environment}, [self.budget], self.seeds, points=1
        )

        def report(finished: int, total: int) -> None:
            if self.progress is not None:
                self.progress(done * total + finished, trials * total)

        return ComparedRuns(
            sweep(
                cells,
                kept=self.kept,
                workers=self.workers,
                cluster=self.cluster,
                progress=report,
            )
        )

    def _tuning(self, points: Sequence[Mapping[str, float]], found: ComparedRuns) -> Tuning:
        named = {point_name(one): dict(one) for one in points}
        tuned = {name: with_parameters(self.subject, one) for name, one in named.items()}
        if found.ends_differ:
            least = min(int(one.figures["rounds"]) for one in found.outcomes)
            raise InputError(
                "some runs ended earlier than others, so that their totals cannot be compared: "
                f"tune with a budget that all of them reach, such as {least}"
            )
        return Tuning(policy_of(self.subject), named, tuned, found)
