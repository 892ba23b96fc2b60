"""A federation whose parties are far from each other, on a network that stalls and breaks."""

import time
from pathlib import Path

import pytest

from delay import FarAway, Weather
from trials import Trial, dial, events, listens, prepared

ROUGH = Weather(delay=0.010, stall=0.3, stalls=0.005)


@pytest.mark.slow
@pytest.mark.parametrize(("policy", "budget"), [("ucb", 120), ("pursuit", 60)])
def test_distance_stalls_and_cuts_change_nothing(tmp_path: Path, policy: str, budget: int) -> None:
    with prepared(tmp_path, budget) as federation:
        target = listens(federation)
        with FarAway(target, ROUGH) as for_porto, FarAway(target, ROUGH) as for_others:
            for name in federation.kits:
                if name != "controller":
                    dial(federation, name, (for_porto if name == "porto" else for_others).address)
            federation.serve()
            trial = Trial(federation, policy, budget)
            trial.start()
            trial.reach(0.3)
            for_porto.shut()
            time.sleep(2)
            for_porto.open()
            trial.reach(0.6)
            for proxy in (for_porto, for_others):
                proxy.shut()
            time.sleep(2)
            for proxy in (for_porto, for_others):
                proxy.open()
            trial.finish()
            assert events(federation, "controller", "gone", "porto") >= 2
            for peer in ("comp", "lyon", "graz"):
                assert events(federation, "controller", "gone", peer) >= 1
            federation.close()
