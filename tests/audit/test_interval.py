"""The interval misses no more often than it says."""

from math import comb

import pytest

from lotor.auditing.interval import clopper_pearson


def test_known_values() -> None:
    low, high = clopper_pearson(1, 20, 0.95)
    assert (round(low, 6), round(high, 6)) == (0.001265, 0.248733)
    assert clopper_pearson(0, 0, 0.95) == (0.0, 1.0)
    assert clopper_pearson(0, 10, 0.95)[0] == 0.0
    assert clopper_pearson(10, 10, 0.95)[1] == 1.0


@pytest.mark.parametrize("chance", [0.0, 0.05, 0.5, 0.9])
@pytest.mark.parametrize("of", [1, 16, 40])
def test_a_guess_at_chance_is_rarely_called_better(of: int, chance: float) -> None:
    level = 0.99
    wrong = sum(
        comb(of, right) * chance**right * (1 - chance) ** (of - right)
        for right in range(of + 1)
        if clopper_pearson(right, of, level)[0] > chance
    )
    assert wrong <= (1 - level) / 2 + 1e-12
