"""CPU time in alternation, for machines whose speed drifts."""

import gc
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from time import process_time

Progress = Callable[[int, int], None]
Timed = Callable[[int], float]
"""Runs that many rounds and says how many µs of CPU one took."""


@dataclass(frozen=True, slots=True)
class Effort:
    """How long to measure."""

    alternations: int
    seconds: float
    plain_rounds: int
    plain_repeats: int
    keys: int
    memory_rounds: int


def per_round(k: int, rounds: int, start: Callable[[int, Progress], object]) -> float:
    """µs of CPU a round of a run, from a pull after the first K to the last one reported.

    So neither the set-up before the first round counts nor the total after the last one.
    """
    marks: list[tuple[int, float]] = []

    def progress(done: int, _: int) -> None:
        if done > k:
            marks.append((done, process_time()))

    start(k + rounds, progress)
    (first, began), (last, ended) = marks[0], marks[-1]
    return (ended - began) / (last - first) * 1e6


def alternate(
    yardstick: Timed, subjects: Sequence[Timed], effort: Effort
) -> tuple[list[float], list[list[float]]]:
    """The yardstick's µs (around each turn, averaged) and each subject's, turn by turn."""
    rounds = [_rounds_for(timed, effort.seconds) for timed in (yardstick, *subjects)]
    gc.collect()
    edges = [yardstick(rounds[0])]
    taken: list[list[float]] = [[] for _ in subjects]
    for _ in range(effort.alternations):
        for timed, count, times in zip(subjects, rounds[1:], taken, strict=True):
            times.append(timed(count))
        edges.append(yardstick(rounds[0]))
    return [(before + after) / 2 for before, after in pairwise(edges)], taken


def _rounds_for(timed: Timed, seconds: float) -> int:
    timed(50)
    return max(50, int(seconds / (timed(100) * 1e-6)))


def ratios(above: Sequence[float], below: Sequence[float]) -> list[float]:
    return [a / b for a, b in zip(above, below, strict=True)]


def milliseconds(act: Callable[[], object], times: int) -> float:
    """The median; a key's making depends on luck, the rest does not."""
    taken = []
    for _ in range(times):
        began = process_time()
        act()
        taken.append((process_time() - began) * 1e3)
    return median(taken)
