"""A federation whose parties are far from each other, on a network that stalls and breaks."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from delay import FarAway, Weather
from lotor.sandbox import Federation
from trials import Trial, dial, links, listens, prepared, until

ROUGH = Weather(delay=0.010, stall=0.3, stalls=0.005)


def cut(federation: Federation, proxies: Sequence[FarAway], peers: Sequence[str]) -> None:
    """Shut the network until both ends have noticed, and somebody has dialled in vain."""
    # Who is away already, on a busy machine, would not be away once more.
    until(federation, lambda: links(federation, peers) == {True})
    for proxy in proxies:
        proxy.shut()
    until(federation, lambda: links(federation, peers) == {False})
    for proxy in proxies:
        proxy.refuses()
        proxy.open()


@pytest.mark.long
@pytest.mark.parametrize(
    ("policy", "budget"), [("pursuit", 40), pytest.param("ucb", 120, marks=pytest.mark.long)]
)
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
            cut(federation, [for_porto], ["porto"])
            trial.reach(0.6)
            cut(federation, [for_porto, for_others], ["porto", "comp", "lyon", "graz"])
            trial.finish()
            federation.close()
