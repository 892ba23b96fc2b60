"""Choices that somebody made before, and what they paid."""

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lotor.core.effects import Decision
from lotor.core.errors import DataError, InputError, OutOfDataError
from lotor.core.fixed_point import Floats, RewardScale
from lotor.core.vectors import VectorLike, to_items, to_vector
from lotor.core.wording import counted
from lotor.environments.base import to_names
from lotor.environments.rating_files import FilePath, read_verified

_COLUMNS = ("arm", "reward", "propensity")


@dataclass(frozen=True, slots=True, init=False, eq=False, repr=False)
class LoggedArms:
    """A log of choices. Each event has an arm, what it paid, and how probable its choice was.

    - `arms`: of each event, a number from 0 up or a name;
    - `propensities`: with which probability that arm was chosen then, given what was known; None
      means that all arms were equally probable;
    - `contexts`: what was known at each choice, a row of numbers; or a row for each arm;
    - `k`: how many arms there are, if they are numbers: else one more than the largest;
    - `reward_range`: else what the rewards need, and at least from 0 to 1.

    As an environment it is replayed (Li, Chu, Langford and Wang, 2011): a run that chooses an arm
    gets the reward of the next event with that arm, and the events in between are left out. So a
    run learns as if it had made the choices itself. An event with propensity p counts with
    probability least propensity / p, drawn from the seed, so that all arms come up equally often.
    The run ends when the log does: give a budget as large as you like. A run without contexts sees
    only arms; `replay` is for policies that see contexts, and `ips` and `doubly_robust` say what a
    fixed policy would have earned.

    >>> import lotor
    >>> log = LoggedArms(["A", "B", "B", "A"] * 50, [0, 1, 1, 0] * 50)
    >>> log
    <LoggedArms of 200 events over 2 arms>
    >>> result = lotor.run(lotor.UCB(), log, budget=1_000, seed=1)
    >>> result.ended, result.rounds < 200, result.pulls["B"] > result.pulls["A"]
    ('out of data', True, True)
    """

    arms: NDArray[np.intp]
    rewards: Floats
    propensities: Floats
    contexts: Floats | None
    k: int
    names: tuple[str, ...] | None
    reward_range: tuple[float, float]

    def __init__(
        self,
        arms: Sequence[int] | Sequence[str],
        rewards: VectorLike,
        propensities: VectorLike | None = None,
        contexts: Sequence[object] | Floats | None = None,
        *,
        k: int | None = None,
        reward_range: tuple[float, float] | None = None,
    ) -> None:
        chosen, names = _places(to_items("arms", arms, "a list with the arm of each event"))
        count = len(chosen)
        if not count:
            raise InputError("the log is empty: give at least one event")
        paid = to_vector("rewards", rewards, count)
        least = len(names) if names is not None else int(chosen.max()) + 1
        object.__setattr__(self, "k", _checked_count(k, least, named=names is not None))
        given = np.full(count, 1.0 / self.k) if propensities is None else propensities
        object.__setattr__(self, "arms", chosen)
        object.__setattr__(self, "rewards", paid)
        object.__setattr__(self, "propensities", _checked_propensities(given, count))
        object.__setattr__(self, "contexts", _checked_contexts(contexts, count, self.k))
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "reward_range", _checked_range(paid, reward_range))

    def __repr__(self) -> str:
        return f"<LoggedArms of {counted(len(self), 'event')} over {counted(self.k, 'arm')}>"

    def __len__(self) -> int:
        return len(self.arms)

    @classmethod
    def from_csv(
        cls,
        path: FilePath,
        *,
        k: int | None = None,
        reward_range: tuple[float, float] | None = None,
        sha256: str | None = None,
    ) -> "LoggedArms":
        """From a table with the columns arm and reward, perhaps propensity, and of contexts.

        Every other column is a number of the context. Arms are whole numbers from 0 up, or names.
        """
        data, _ = read_verified(path, sha256, "whoever made it")
        try:
            rows = list(csv.DictReader(io.StringIO(data.decode("utf-8-sig")), strict=True))
        except (UnicodeDecodeError, csv.Error):
            raise DataError(f"{path} is not a CSV file in UTF-8: save it as one") from None
        heading = list(rows[0]) if rows else []
        if not {"arm", "reward"} <= set(heading) or None in heading:
            raise DataError(
                f"{path} has no events with the columns arm and reward: give it a heading such as "
                "arm,reward,propensity and a row for each event"
            )
        for number, row in enumerate(rows, 2):
            # The reader puts what has no heading under None, and None where something is missing.
            if None in row or None in row.values():
                raise DataError(
                    f"line {number} of {path} does not have {len(heading)} columns, as its heading "
                    "has: correct it"
                )
        others = [name for name in heading if name not in _COLUMNS]
        try:
            return cls(
                _read_arms([row["arm"] for row in rows]),
                _numbers(path, rows, ["reward"])[:, 0],
                _numbers(path, rows, ["propensity"])[:, 0] if "propensity" in heading else None,
                _numbers(path, rows, others) if others else None,
                k=k,
                reward_range=reward_range,
            )
        except DataError:
            raise
        except InputError as error:
            raise DataError(f"{path} cannot be replayed: {error}") from None

    def kept(self, seed: int) -> NDArray[np.bool_]:
        """Which events count, so that every arm comes up equally often among them."""
        if not isinstance(seed, int | np.integer) or seed < 0:
            raise InputError(f"seed {seed!r} is not a whole number from 0 up: give one, such as 7")
        # The bit generator is named because numpy may change its default one.
        bits = np.random.PCG64(np.random.SeedSequence(seed))
        uniforms = np.random.Generator(bits).random(len(self))
        kept: NDArray[np.bool_] = uniforms * self.propensities < self.propensities.min()
        return kept

    def start(self, seed: int) -> Callable[[Decision], float]:
        """Begin one run at the beginning of the log."""
        seen = np.bincount(self.arms, minlength=self.k)
        if not seen.all():
            raise InputError(
                f"the log never chose arm {int(seen.argmin())}, so that nobody knows what it pays: "
                "leave this arm out of the run, or log some choices of it"
            )
        return _Walk(self, np.flatnonzero(self.kept(seed)).tolist())


class _Walk:
    """One run through the log."""

    def __init__(self, log: LoggedArms, events: list[int]) -> None:
        self._k = log.k
        self._rest = ((log.arms.item(event), log.rewards.item(event)) for event in events)
        self._count = len(log)
        # Runs begin with each arm once, and parties may ask for these in any order.
        self._opening = {t: self._next(t - 1) for t in range(1, log.k + 1)}
        self._answers: dict[int, tuple[int, float]] = {}

    def __call__(self, decision: Decision) -> float:
        arm, t = decision.arm, decision.round
        if not 0 <= arm < self._k:
            raise InputError(
                f"decision {decision.id} names arm {arm}, but there are only arms 0 to "
                f"{self._k - 1}: give the environment as many arms as the run has"
            )
        # A round that is asked for again gets the same answer.
        known, reward = self._answers.get(t, (None, None))
        if known != arm:
            reward = self._opening.get(t) if arm == t - 1 else self._next(arm)
        if reward is None:
            raise OutOfDataError(
                f"the log of {self._count} events has no more events with arm {arm} for round {t}: "
                "ask for fewer rounds, or bring a longer log"
            )
        self._answers[t] = arm, reward
        return reward

    def _next(self, arm: int) -> float | None:
        return next((reward for logged, reward in self._rest if logged == arm), None)


def _places(arms: tuple[object, ...]) -> tuple[NDArray[np.intp], tuple[str, ...] | None]:
    """The arms as numbers, and their names in the order of the alphabet if they have some."""
    if arms and all(isinstance(arm, str) for arm in arms):
        found = sorted({str(arm) for arm in arms})
        names = to_names(found, len(found))
        place = {name: number for number, name in enumerate(names)}
        return _frozen([place[str(arm)] for arm in arms]), names
    for event, arm in enumerate(arms, 1):
        whole = isinstance(arm, int | np.integer) and not isinstance(arm, bool)
        if not whole or int(arm) < 0:  # type: ignore[call-overload]
            raise InputError(
                f"event {event} has the arm {arm!r}: give each event a number from 0 up, or each "
                "one a name"
            )
    return _frozen([int(arm) for arm in arms]), None  # type: ignore[call-overload]


def _frozen(arms: list[int]) -> NDArray[np.intp]:
    places = np.array(arms, dtype=np.intp)
    places.setflags(write=False)
    return places


def _checked_count(k: int | None, least: int, *, named: bool) -> int:
    if k is None:
        return least
    if not isinstance(k, int | np.integer) or isinstance(k, bool) or k < least:
        raise InputError(
            f"k is {k!r}, and the log has an unknown arm then: give a whole number from {least} up"
        )
    if named and k != least:
        raise InputError(f"k is {k}, and the log names {least} arms: leave k out")
    return int(k)


def _checked_propensities(given: VectorLike, count: int) -> Floats:
    propensities = to_vector("propensities", given, count)
    wrong = np.flatnonzero((propensities <= 0) | (propensities > 1))
    if len(wrong):
        event = int(wrong[0])
        raise InputError(
            f"event {event + 1} has propensity {propensities[event]:g}, which is not a probability "
            "with which its arm could have been chosen: give one above 0, up to 1"
        )
    return propensities


def _checked_contexts(
    contexts: Sequence[object] | Floats | None, count: int, k: int
) -> Floats | None:
    if contexts is None:
        return None
    try:
        table = np.array(contexts, dtype=np.float64)
    except (TypeError, ValueError):
        table = np.empty(0)
    fits = table.ndim in (2, 3) and len(table) == count and table.size > 0
    if not fits or (table.ndim == 3 and table.shape[1] != k) or not np.isfinite(table).all():
        raise InputError(
            f"contexts must be {count} rows of finite numbers, one for each event, or {count} "
            f"tables with a row for each of {k} arms"
        )
    table.setflags(write=False)
    return table


def _checked_range(rewards: Floats, given: tuple[float, float] | None) -> tuple[float, float]:
    lowest, highest = float(rewards.min()), float(rewards.max())
    if given is None:
        return min(lowest, 0.0), max(highest, 1.0)
    scale = RewardScale.of(given)
    if lowest < scale.low or highest > scale.high:
        raise InputError(
            f"a logged reward lies outside reward_range ({scale.low:g}, {scale.high:g}): widen the "
            "range"
        )
    return scale.low, scale.high


def _read_arms(texts: list[str]) -> list[int] | list[str]:
    stripped = [text.strip() for text in texts]
    return [int(text) for text in stripped] if all(map(str.isdecimal, stripped)) else stripped


def _numbers(path: FilePath, rows: list[dict[str, str]], names: list[str]) -> Floats:
    table = np.empty((len(rows), len(names)))
    for number, row in enumerate(rows):
        try:
            table[number] = [float(row[name]) for name in names]
        except (TypeError, ValueError):
            raise DataError(
                f"line {number + 2} of {path} does not have a number in each of the columns "
                f"{', '.join(names)}: correct it"
            ) from None
    return table
