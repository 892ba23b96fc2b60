import numpy as np
import pytest

import lotor
from lotor.core.errors import InputError
from lotor.environments.contextual_classes import classes


def test_contexts_lie_around_the_centres_of_their_classes() -> None:
    contexts, labels = classes(3000, 10, 20, seed=1)
    assert contexts.shape == (3000, 20)
    assert np.sqrt(np.square(contexts).sum(axis=1)) == pytest.approx(np.ones(3000))
    assert all(240 <= count <= 360 for count in np.bincount(labels, minlength=10))
    means = np.stack([contexts[labels == label].mean(axis=0) for label in range(10)])
    nearest = (contexts @ means.T).argmax(axis=1)
    assert float((nearest == labels).mean()) > 0.7


def test_the_same_seed_gives_the_same() -> None:
    first, again, other = (classes(50, 3, 4, seed) for seed in (5, 5, 6))
    assert first[0].tolist() == again[0].tolist()
    assert first[1].tolist() == again[1].tolist()
    assert first[0].tolist() != other[0].tolist()


def test_it_resembles_the_digits() -> None:
    """About as hard: epsilon-greedy earns 0.66 on the digits."""
    earned = [
        lotor.run(
            lotor.LinearEpsilonGreedy(),
            lotor.ContextualArms.lookalike(1797, 10, 20, seed),
            budget=1797,
            seed=seed,
        ).reward
        / 1797
        for seed in range(6)
    ]
    assert float(np.mean(earned)) == pytest.approx(0.66, abs=0.08)


@pytest.mark.parametrize(
    ("sizes", "complaint"),
    [
        ((0, 2, 2), "rounds is 0"),
        ((5, 0, 2), "arms is 0"),
        ((5, 2, 0), "d is 0"),
        ((5, 2.5, 2), "arms is 2.5"),
        ((10**8, 2, 2), "from 1 to 10000000"),
    ],
)
def test_impossible_sizes_are_refused(sizes: tuple[int, int, int], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        lotor.ContextualArms.lookalike(*sizes, seed=1)
