"""Attacks on HELBA's recorded views: what a user reads, and what the server does not."""

import sys
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy.stats import beta

import lotor
from helpers import Outcome, run_openly, truth_of, view_of
from lotor.core.views import Truth, View
from lotor.policies.optimistic import BatchedOFUL
from lotor.protocols.helba.paper.attacks import (
    GapsFromAnswers,
    GapsFromRepeats,
    UpdatesDecrypted,
    answered,
    averaged,
    gap_score,
    read_gaps,
    real_gaps,
    repeats,
)
from lotor.protocols.helba.paper.setting import HelbaSetting
from lotor.protocols.helba.paper.user import HelbaUser
from protocols.helba.stage import small

ROUNDS = 30


@cache
def played(noise_bits: int, eta: float = 0.0, *, stages: int = 3, rounds: int = ROUNDS) -> Outcome:
    helba = small(BatchedOFUL(eta=eta), stages=stages, noise_bits=noise_bits)
    return run_openly(helba, lotor.LinearContexts.toy(rounds, seed=5), budget=rounds, seed=1)


def setting_in(outcome: Outcome) -> HelbaSetting:
    user = outcome.parties["user"]
    assert isinstance(user, HelbaUser)
    return user._setting


def seen(outcome: Outcome, *seats: str) -> tuple[View, Truth]:
    order = setting_in(outcome).terms.to_bytes()
    return view_of(outcome, order, *seats), truth_of(outcome)


def compared(outcome: Outcome) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """What the comparison of the two best arms comes to in each round, without noise."""
    setting = setting_in(outcome)
    return setting.circuit.polynomial.plain(real_gaps(setting, truth_of(outcome)))


def test_an_answer_is_the_compared_gap_with_the_stated_noise() -> None:
    """A normal number is beyond 6.5 deviations once in 10^10 times."""
    outcome = played(5)
    view, _ = seen(outcome, "user")
    noise = setting_in(outcome).terms.noise / np.sqrt(2)
    off = np.abs(answered(view, setting_in(outcome)) - np.abs(compared(outcome)))
    assert len(off) == ROUNDS
    assert off.max() < 6.5 * noise + 1e-3


def test_without_noise_every_gap_is_read_that_the_comparison_does_not_flatten() -> None:
    """A positive control: of each of these the answer is right to a thousandth of the noise."""
    outcome = played(15)
    score = GapsFromAnswers().score(*seen(outcome, "user"))
    heights = compared(outcome)
    exact = read_gaps(setting_in(outcome).circuit.polynomial, heights)
    expected = gap_score(exact, real_gaps(setting_in(outcome), truth_of(outcome)))
    assert score.right >= expected.right - 1
    assert score.right > 0.5 * ROUNDS > 2 * score.chance * ROUNDS


@pytest.mark.long
@pytest.mark.parametrize("stages", [3, 4, 5])
def test_as_many_gaps_are_read_under_encryption_as_in_clear(stages: int) -> None:
    """Within 6.5 deviations of what noise drawn in clear leaves readable of the same gaps."""
    outcome = played(5, stages=stages, rounds=130)
    setting, draw = setting_in(outcome), np.random.default_rng(1)
    real, exact = real_gaps(setting, truth_of(outcome)), compared(outcome)
    noise, polynomial = setting.terms.noise / np.sqrt(2), setting.circuit.polynomial
    drawn = [
        gap_score(read_gaps(polynomial, np.abs(exact + draw.normal(0, noise, 130))), real).right
        for _ in range(200)
    ]
    score = GapsFromAnswers().score(*seen(outcome, "user"))
    sys.stdout.write(f"{stages} stages: {score}, in clear {np.mean(drawn):.1f}\n")
    assert abs(score.right - np.mean(drawn)) < 6.5 * np.std(drawn) + 1


def test_gaps_of_other_rounds_are_read_by_chance_only() -> None:
    """The rounds in another order: what is right then is near what a score calls chance."""
    outcome = played(15)
    setting, truth = setting_in(outcome), truth_of(outcome)
    real = real_gaps(setting, truth)
    found = read_gaps(setting.circuit.polynomial, compared(outcome))
    shifted = [gap_score(np.roll(found, n), real).right for n in range(1, ROUNDS)]
    assert np.mean(shifted) / ROUNDS == pytest.approx(gap_score(found, real).chance)


def test_a_user_averages_noise_over_repeats_within_a_batch() -> None:
    """The means of g groups keep a share of N normal numbers' squares, Beta(g/2, (N-g)/2)."""
    outcome = played(5, eta=1.0)
    (view, truth), setting = seen(outcome, "user"), setting_in(outcome)
    groups, exact = repeats(view, truth, setting), compared(outcome)
    assert sorted(t for group in groups for t in group) == list(range(ROUNDS))
    assert len(groups) < 0.6 * ROUNDS
    noise = answered(view, setting) - exact
    left = averaged(answered(view, setting), groups) - averaged(exact, groups)
    most = beta.isf(1e-10, len(groups) / 2, (ROUNDS - len(groups)) / 2)
    assert np.square(left).sum() / np.square(noise).sum() < most < 1
    assert GapsFromRepeats().score(view, truth).of == ROUNDS


@pytest.mark.parametrize("seats", [("server",), ("key-authority",), ("server", "key-authority")])
def test_without_the_users_key_nothing_is_read(seats: tuple[str, ...]) -> None:
    """What comes out is uniform and large: hardly one answer in a thousand looks like one."""
    view, truth = seen(played(15), *seats)
    assert UpdatesDecrypted().score(view, truth).right == 0
    assert GapsFromAnswers().score(view, truth).right <= 3


def test_a_server_and_a_user_read_everything() -> None:
    view, truth = seen(played(15), "server", "user")
    score = UpdatesDecrypted().score(view, truth)
    assert (score.right, score.of, score.chance) == (2 * (ROUNDS - 1), 2 * (ROUNDS - 1), 0.0)


def test_what_is_read_is_what_was_learnt_from() -> None:
    """Compared with other rewards than those of the run, all ciphertexts of r x are wrong."""
    view, truth = seen(played(15), "server", "user")
    other = replace(truth, rewards=[reward + 1.0 for reward in truth.rewards])
    assert UpdatesDecrypted().score(view, other).right == ROUNDS - 1
