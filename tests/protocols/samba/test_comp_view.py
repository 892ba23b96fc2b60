"""A test plays Comp: what the mask hides. What it does not hide is in tests/audit/test_samba.py."""

from math import gcd

import pytest

import lotor
from helpers import Outcome, run_openly, seen_by_comp

pytestmark = pytest.mark.filterwarnings("ignore::lotor.crypto.paillier.InsecureKeyWarning")


def ucb_run(budget: int, means: list[float]) -> Outcome:
    samba = lotor.Samba(lotor.UCB(), form="paper", insecure_key_bits=128)
    return run_openly(samba, lotor.BernoulliArms(means), budget=budget, seed=4)


def test_the_gcd_of_a_list_does_not_give_the_mask() -> None:
    """With alpha·v_i it would: alpha >= 2^64 divides them all."""
    lists = seen_by_comp(ucb_run(300, [0.1, 0.3, 0.5, 0.7, 0.9]))
    assert len(lists) == 295
    assert max(gcd(*values) for values in lists) < 1 << 40


def test_no_list_looks_like_another() -> None:
    lists = seen_by_comp(ucb_run(200, [0.5] * 4))
    values = [value for one in lists for value in one]
    assert len(set(values)) == len(values)
