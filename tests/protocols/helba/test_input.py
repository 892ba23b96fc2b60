"""What cannot be run is refused before any key is made, with what would fit."""

import numpy as np
import pytest

import lotor
from lotor.core.errors import InputError, ProtocolError, PullError
from lotor.core.fixed_point import RewardScale
from lotor.crypto.ckks import InsecureParametersWarning
from lotor.policies.optimistic import OFUL, BatchedOFUL
from lotor.protocols.helba.paper.root import RootCircuit
from lotor.protocols.helba.paper.setting import HelbaSetting
from lotor.protocols.helba.paper.user import HelbaUser
from lotor.protocols.helba.terms import HelbaTerms, terms_from
from protocols.helba.stage import SCALE, paper, setting_of, small


def refused(match: str, helba: lotor.Helba, *, budget: int, arms: int, d: int) -> None:
    with pytest.raises(InputError, match=match):
        helba.setting("run", budget=budget, arms=arms, d=d, scale=SCALE)


def test_what_does_not_fit_says_what_would() -> None:
    refused(
        "take 3 stages or a budget of 12 or d = 5",
        lotor.Helba(form="paper"),
        budget=130,
        arms=2,
        d=6,
    )
    higher = lotor.Helba(security=192, form="paper")
    refused("35 bits at 192-bit security.* take 3 stages", higher, budget=9, arms=2, d=2)
    refused("take 2 stages", lotor.Helba(security=256, form="paper"), budget=130, arms=2, d=2)
    refused(
        "take 3 stages or 9 arms", lotor.Helba(stages=5, form="paper"), budget=130, arms=66, d=2
    )


def test_what_the_papers_index_needs() -> None:
    helba = lotor.Helba(paper(1.0, 0.1), form="paper")
    refused("need 22 levels.* take 3 stages or 5 arms", helba, budget=130, arms=17, d=2)
    higher = lotor.Helba(paper(1.0, 0.1), security=256, stages=2, form="paper")
    refused("take fewer of each, or less security", higher, budget=130, arms=2, d=2)
    for arms, d, degree in ((2, 2, 63), (3, 2, 31), (5, 2, 15), (2, 10, 63)):
        setting = setting_of(helba, rounds=130, arms=arms, d=d)
        assert RootCircuit.of(setting.circuit).unit_root.degree == degree
        assert setting.parameters.bits <= 881
    with pytest.raises(InputError, match="only index='sqrt'"):
        RootCircuit.of(setting_of(lotor.Helba(form="paper"), rounds=3, arms=2, d=2).circuit)


@pytest.mark.parametrize(
    ("budget", "arms", "d", "stages"),
    [(130, 2, 6, 3), (12, 2, 6, 4), (130, 2, 5, 4), (130, 10, 2, 4), (130, 5, 5, 4)],
)
def test_what_would_fit_does(budget: int, arms: int, d: int, stages: int) -> None:
    setting = setting_of(lotor.Helba(stages=stages, form="paper"), rounds=budget, arms=arms, d=d)
    assert setting.parameters.bits <= 881
    assert setting.parameters.degree == 32768


def test_impossible_sizes() -> None:
    refused("arms is 1", lotor.Helba(form="paper"), budget=5, arms=1, d=2)
    refused("d is 1", lotor.Helba(form="paper"), budget=5, arms=2, d=1)
    refused("stages is 9", lotor.Helba(stages=9, form="paper"), budget=5, arms=2, d=2)
    refused("noise_bits is 40", lotor.Helba(noise_bits=40, form="paper"), budget=5, arms=2, d=2)
    refused("security=100", lotor.Helba(security=100, form="paper"), budget=5, arms=2, d=2)
    for bound in (0.0, float("nan"), float("inf"), -1.0):
        refused("mean_bound is", lotor.Helba(mean_bound=bound, form="paper"), budget=5, arms=2, d=2)

    for length in (0.0, 5.6, float("nan")):
        refused(
            "rms_length is", lotor.Helba(rms_length=length, form="paper"), budget=5, arms=2, d=2
        )


def test_contexts_longer_on_average_than_stated() -> None:
    arms = lotor.LinearContexts([[[3.0, 0.0], [0.0, 3.0]]] * 9, [0.1, 0.1], noise_sd=0.1)
    policy = BatchedOFUL(L=3.0)
    assert len(lotor.run(small(policy, stages=2), arms, budget=5, seed=1).arms or []) == 5
    with pytest.raises(InputError, match="longer on average than rms_length = 1 allows"):
        lotor.run(small(policy, stages=2, rms_length=1.0), arms, budget=9, seed=1)


def test_policies_that_are_not_computed() -> None:
    with pytest.raises(InputError, match="takes BatchedOFUL"):
        lotor.Helba(OFUL(), form="paper")  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"needs the inverse of V.* or take the index 'sqrt'"):
        lotor.Helba(BatchedOFUL(C=1.0), form="paper")
    with pytest.raises(InputError, match=r"stages is 2\.5"):
        lotor.Helba(stages=2.5, form="paper")  # type: ignore[arg-type]


def test_a_small_ring_warns() -> None:
    with pytest.warns(InsecureParametersWarning, match="can be broken"):
        lotor.Helba(insecure_degree=1024, form="paper")
    with pytest.raises(InputError, match="choose one of"):
        lotor.Helba(insecure_degree=1000, form="paper")


def test_environments_that_break_a_bound() -> None:
    helba = small(BatchedOFUL(L=1.0))
    toy = lotor.LinearContexts.toy(3, seed=1)
    with pytest.raises(InputError, match="longer than L = 1"):
        lotor.run(helba, toy, budget=3, seed=1)
    large = lotor.LinearContexts([[[2.0, 0.0], [0.0, 2.0]]], [0.9, 0.1], noise_sd=0.1)
    with pytest.raises(InputError, match="further from 0 than mean_bound = 1"):
        lotor.run(small(), large, budget=1, seed=1)
    with pytest.raises(InputError, match="contexts for 3 rounds"):
        lotor.run(small(), toy, budget=4, seed=1)
    with pytest.raises(InputError, match="LinearContexts"):
        lotor.run(small(), lotor.BernoulliArms([0.5, 0.4]), budget=3, seed=1)


@pytest.mark.parametrize(
    ("rows", "match"),
    [
        ([1.0, 2.0], "2 numbers for the contexts of round 1, not 4"),
        ([1.0, 2.0, np.nan, 0.0], "a number that is not finite"),
        ([1.0, 2.0, np.inf, 0.0], "a number that is not finite"),
        ([1.0, 2.0, 9.0, 0.0], "longer than L"),
    ],
)
def test_a_users_own_contexts(rows: list[float], match: str) -> None:
    """A user that brings its own is checked in every round, and no value is named."""
    setting = setting_of(small(), rounds=3, arms=2, d=2)
    with pytest.raises(InputError, match=match) as error:
        HelbaUser._checked(_Holder(setting), tuple(rows), 1)  # type: ignore[arg-type]
    assert "9.0" not in str(error.value)


class _Holder:
    def __init__(self, setting: HelbaSetting) -> None:
        self._setting = setting


def test_rewards_beyond_the_stated_range() -> None:
    class Narrow(lotor.LinearContexts):
        @property
        def reward_range(self) -> tuple[float, float]:
            return (-1e-6, 1e-6)

    arms = Narrow([[[1.0, 0.0], [0.0, 1.0]]] * 2, [0.5, 0.5], noise_sd=0.5)
    with pytest.raises(PullError, match="reward_range"):
        lotor.run(small(stages=2), arms, budget=2, seed=1)


def test_terms_travel_and_wrong_ones_are_refused() -> None:
    terms = setting_of(small(), rounds=3, arms=2, d=2).terms
    assert terms_from(terms.to_bytes()) == terms
    with pytest.raises(ProtocolError, match="version of helba cannot read these terms"):
        terms_from(b"\x01")
    many = HelbaTerms(**{**{f: getattr(terms, f) for f in terms.__struct_fields__}, "arms": 1})
    with pytest.raises(ProtocolError, match="an impossible run: arms is 1"):
        terms_from(many.to_bytes())
    assert terms.scale == RewardScale(-9, 9)
