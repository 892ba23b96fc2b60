import numpy as np
import pytest

from lotor.core.errors import InputError
from lotor.environments import linear_lookalike

NAME = "movielens-factors-like"


def test_the_same_name_gives_the_same_arms() -> None:
    few, many = (linear_lookalike(NAME, k=k, d=5, user=7) for k in (10, 1682))
    assert many.vectors[:10].tolist() == few.vectors.tolist()
    assert many.theta.tolist() == few.theta.tolist()
    assert linear_lookalike(NAME, k=10, d=5, user=8).theta.tolist() != few.theta.tolist()


def test_coordinates_are_standard_normal() -> None:
    vectors = linear_lookalike(NAME, k=1682, d=20).vectors
    assert abs(float(vectors.mean())) < 0.02
    assert float(vectors.std()) == pytest.approx(1.0, abs=0.02)
    assert abs(float(np.corrcoef(vectors[:, 0], vectors[:, 1])[0, 1])) < 0.1


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"k": 0, "d": 3}, "k is 0"),
        ({"k": 1683, "d": 3}, "from 1 to 1682"),
        ({"k": 5, "d": 0}, "d is 0"),
        ({"k": 5, "d": 3, "user": 944}, "user is 944"),
        ({"k": 5, "d": 2.5}, "d is 2.5"),
    ],
)
def test_impossible_sizes_are_refused(options: dict[str, int], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        linear_lookalike(NAME, **options)


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(InputError, match="choose movielens-factors-like"):
        linear_lookalike("netflix", k=5, d=3)
