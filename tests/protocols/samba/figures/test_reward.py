"""Figure 8(c): rewards beside the published one, and beside an independent implementation."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import log2
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from lotor.protocols.cell import Outcome, RunCell
from lotor.protocols.figure import DataFiles, Size
from lotor.protocols.samba.figures.reward import ROUNDS as SIZES
from lotor.protocols.samba.figures.reward import K, SambaReward
from lotor.protocols.samba.figures.setting import (
    DECREASING,
    EPSILON,
    FIXED,
    MOVIELENS,
    POLICIES,
    PURSUIT,
    SOFTMAX,
    THOMPSON,
    UCB_NAME,
)
from lotor.studies.outcomes import outcome_of

Floats = NDArray[np.float64]
Arms = NDArray[np.intp]
RATINGS = Path(__file__).parents[5] / "shared" / "data" / "movielens-100k" / "u.data"
RUNS = 20
# Of one run, as the authors' results have it.
PUBLISHED, SPREAD = 47_950, 75
ROUNDS = 10_000
with_ratings = pytest.mark.skipif(not RATINGS.exists(), reason="MovieLens 100K is not here")


@pytest.mark.parametrize("size", ["quick", "full"])
@pytest.mark.parametrize("data", ["MovieLens", "look-alike of MovieLens"])
def test_published_numbers_stand_beside_ours_of_the_same_data_and_rounds(
    data: str, size: Size
) -> None:
    at = [SIZES[size] // 2, SIZES[size]]
    outcomes = [
        Outcome(labels={"data": name, "policy": policy}, figures={}, at=at, rewards=[1.0, 2.0])
        for name in (data, "look-alike of Jester")
        for policy in POLICIES
    ]
    figure = SambaReward()
    table = figure.table(outcomes)
    picture = figure.draw(table)
    marks = [sum(line.get_marker() == "_" for line in axes.lines) for axes in picture.axes]
    (legend,) = picture.legends
    shown = data == "MovieLens" and size == "full"
    assert marks == [6 * shown, 0]
    assert any("published" in text.get_text() for text in legend.get_texts()) == shown
    assert any("published" in sentence for sentence in figure.found(table)) == shown


def rewards(policy: str, rounds: int | None = None) -> Floats:
    """The totals of the figure's first runs on MovieLens."""
    cells = [
        cell
        for cell in SambaReward().cells("full", DataFiles(movielens=RATINGS))
        if isinstance(cell, RunCell)
        and cell.labels == {"data": "MovieLens", "policy": policy}
        and cell.seed < RUNS
    ]
    assert len(cells) == RUNS
    short = [cell if rounds is None else replace(cell, budget=rounds, at=()) for cell in cells]
    return np.array([outcome_of(cell).figures["reward"] for cell in short])


@pytest.mark.long
@with_ratings
def test_ucb_earns_what_was_published() -> None:
    mean = rewards(UCB_NAME).mean()
    assert abs(mean - PUBLISHED) < 4 * SPREAD / RUNS**0.5


class Textbook:
    """Many runs side by side, one a row; every arm is pulled once before the policy chooses."""

    def __init__(self, means: Sequence[float], runs: int, seed: int) -> None:
        self.draw = np.random.default_rng(seed)
        self.means = np.array(means)
        self.counts = np.ones((runs, self.means.size))
        self.sums = (self.draw.random(self.counts.shape) < self.means).astype(float)
        self.p = np.full_like(self.counts, 1 / self.means.size)
        self.rows = np.arange(runs)

    def totals(self, choose: "Callable[[Textbook, int], Arms]", rounds: int) -> Floats:
        for t in range(self.means.size + 1, rounds + 1):
            arms = choose(self, t)
            self.sums[self.rows, arms] += self.draw.random(self.rows.size) < self.means[arms]
            self.counts[self.rows, arms] += 1
        totals: Floats = self.sums.sum(axis=1)
        return totals

    def best(self) -> Arms:
        """The largest mean of each run; lots decide between equal ones."""
        averages = self.sums / self.counts
        tied = averages == averages.max(axis=1, keepdims=True)
        chosen: Arms = (tied * self.draw.random(tied.shape)).argmax(axis=1)
        return chosen

    def lots(self, weights: Floats) -> Arms:
        """An arm for each run, with probability proportional to its weight."""
        sums = weights.cumsum(axis=1)
        lots = self.draw.random((self.rows.size, 1)) * sums[:, -1:]
        chosen: Arms = (sums > lots).argmax(axis=1)
        return chosen


def epsilon_greedy(book: Textbook, epsilon: float) -> Arms:
    anywhere = book.draw.integers(book.means.size, size=book.rows.size)
    return np.where(book.draw.random(book.rows.size) < epsilon, anywhere, book.best())


def softmax(book: Textbook, tau: float) -> Arms:
    return book.lots(np.exp(book.sums / book.counts / tau))


def pursuit(book: Textbook, beta: float) -> Arms:
    book.p *= 1 - beta
    book.p[book.rows, book.best()] += beta
    return book.lots(book.p)


def thompson(book: Textbook) -> Arms:
    samples = book.draw.beta(book.sums + 1, book.counts - book.sums + 1)
    chosen: Arms = samples.argmax(axis=1)
    return chosen


TEXTBOOK: dict[str, Callable[[Textbook, int], Arms]] = {
    FIXED: lambda book, _: epsilon_greedy(book, EPSILON),
    DECREASING: lambda book, t: epsilon_greedy(book, 1 / log2(t)),
    SOFTMAX: lambda book, _: softmax(book, MOVIELENS.tau),
    PURSUIT: lambda book, _: pursuit(book, MOVIELENS.beta),
    THOMPSON: lambda book, _: thompson(book),
}


@pytest.mark.long
@with_ratings
@pytest.mark.parametrize("policy", TEXTBOOK)
def test_other_policies_earn_what_a_textbook_implementation_does(policy: str) -> None:
    assert set(TEXTBOOK) | {UCB_NAME} == set(POLICIES)
    ours = rewards(policy, ROUNDS)
    book = Textbook(MOVIELENS.all_arms(RATINGS).means, runs=RUNS, seed=1)
    theirs = book.totals(TEXTBOOK[policy], ROUNDS)
    assert book.means.size == K
    error = np.sqrt((ours.var(ddof=1) + theirs.var(ddof=1)) / RUNS)
    assert abs(ours.mean() - theirs.mean()) < 4 * error
