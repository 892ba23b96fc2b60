"""The grids of SAMBA's appendix C."""

import pytest

from lotor.policies import POLICIES, EpsilonGreedy, Policy, Pursuit, Softmax

TENTHS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


def test_the_papers_grids() -> None:
    assert EpsilonGreedy.grid == {"epsilon": TENTHS}
    assert Pursuit.grid == {"beta": TENTHS}
    assert Softmax.grid == {"tau": (0.0, 0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.07, 0.08, 0.09, 0.1)}


@pytest.mark.parametrize("kind", [kind for kind in POLICIES.values() if issubclass(kind, Policy)])
def test_each_policy_takes_the_whole_of_its_grid(kind: type[Policy]) -> None:
    for name, values in kind.grid.items():
        for value in values:
            assert getattr(kind(**{name: value}), name) == value
