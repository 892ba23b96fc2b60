"""Cofactors need few minors, and can be shared out."""

import numpy as np
import pytest

from crypto.ckks.test_matrices import drawn, symmetric
from lotor.crypto.ckks import adjugate, upper_places
from lotor.crypto.ckks.adjugate import cofactor, in_order, minor, minors_for

MINORS = {2: 0, 3: 0, 4: 11, 5: 39}


@pytest.mark.parametrize("size", MINORS)
def test_entries_by_themselves_are_those_of_the_whole(size: int) -> None:
    v = symmetric(drawn(size, 4, 0.1, 1.0, seed=size))
    whole = adjugate(v)
    for place in upper_places(size):
        minors = {which: minor(v, which) for which in minors_for(size, [place])}
        assert np.allclose(cofactor(v, minors, place), whole[place], atol=1e-14)


@pytest.mark.parametrize(("size", "count"), MINORS.items())
def test_so_many_minors_suffice(size: int, count: int) -> None:
    assert len(minors_for(size, upper_places(size))) == count
    assert sorted(in_order(size)) == upper_places(size)
