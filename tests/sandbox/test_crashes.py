from pathlib import Path
from random import Random

from hypothesis import given
from hypothesis import strategies as st

import lotor
from lotor.sandbox import Federation
from lotor.sandbox.crashes import LATEST, Crashes


@given(
    budget=st.integers(1, 1000),
    kills=st.integers(1, 60),
    most=st.integers(1, 6),
    seed=st.integers(0, 2**32),
)
def test_a_plan_has_enough_kills_and_leaves_time_for_them(
    budget: int, kills: int, most: int, seed: int
) -> None:
    federation = Federation.of(Path("nowhere"), lotor.Samba(), budget=1, seed=0)
    plan = Crashes.spread(
        federation,
        "run",
        budget=budget,
        kills=kills,
        most=most,
        again=0.0,
        random=Random(seed),
    ).strikes
    assert kills <= sum(size for _, size in plan) < kills + most
    assert all(1 <= t <= max(1, LATEST * budget) for t, _ in plan)
    assert plan == sorted(plan)
