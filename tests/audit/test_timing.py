"""Attacks on the times of answers: made-up ones, and those of processes."""

import random
from math import sqrt

import pytest

import lotor
from lotor.auditing.timing import Moments, Observed, attacks, observe
from lotor.core.errors import InputError

OWNERS = ("graz", "lyon", "porto")
PULL = 0.004
# So many standard deviations above chance are not seen by chance: once in three million times.
NOT_BY_CHANCE = 5.0


def observed(later: float, rounds: int = 400) -> Observed:
    """Answers that come later by so much when their owner was pulled."""
    drawn = random.Random(3)
    pulled = [drawn.choice(OWNERS) for _ in range(rounds)]
    delays = [
        {one: drawn.gauss(0.01, 0.001) + later * (one == who) for one in OWNERS} for who in pulled
    ]
    return Observed(delays, pulled)


def test_who_answers_later_was_pulled() -> None:
    found = attacks(observed(PULL))
    for name in ("the slowest", "learned from half"):
        assert found[name].right > 0.9 * found[name].of
    assert found["the fastest"].right < 0.1 * found["the fastest"].of


def test_answers_that_tell_nothing() -> None:
    for score in attacks(observed(0.0)).values():
        assert abs(score.right / score.of - score.chance) < 0.1
        assert 0.3 < score.chance < 0.37


def test_answers_that_do_not_come_one_by_one() -> None:
    moments = Moments({"graz": {1: 0.1, 2: 0.2}}, {"graz": {7: 0.3}})
    with pytest.raises(InputError, match="one by one"):
        moments.delays("graz", 2)
    assert moments.delays("graz", 1) == [pytest.approx(0.1)]


# The hub is in this process, and the others are not.
@pytest.mark.usefixtures("real_transfers")
@pytest.mark.long
@pytest.mark.parametrize("form", ["shared", "dealt"])
def test_processes_without_a_tick_tell_who_was_pulled(form: str) -> None:
    samba = lotor.Samba(lotor.EpsilonGreedy(1.0), form=form)
    seen = observe(samba, 60, 0.0, seed=7)
    assert len(seen.pulled) == 60
    slowest = attacks(seen)["the slowest"]
    assert slowest.right > 0.7 * slowest.of


@pytest.mark.usefixtures("real_transfers")
@pytest.mark.long
def test_with_an_inbox_the_time_of_an_answer_tells_nothing() -> None:
    """The test above is its control: there, the same attacks see each pull of a millisecond."""
    samba = lotor.Samba(lotor.EpsilonGreedy(1.0), form="dealt").apart()
    seen = observe(samba, 1_500, 0.0, seed=7, inbox=True)
    assert len(seen.pulled) == 1_500
    for score in attacks(seen).values():
        spread = sqrt(score.of * score.chance * (1.0 - score.chance))
        assert score.right < score.chance * score.of + NOT_BY_CHANCE * spread
