"""What does not fit is refused with a clear error, before a key is made or an arm is pulled."""

from collections.abc import Callable

import numpy as np
import pytest

import lotor
from helpers import run_openly
from lotor.core.errors import InputError
from lotor.core.fixed_point import RewardScale
from lotor.crypto.paillier import InsecureKeyWarning
from lotor.policies.linear import LinearPolicy
from lotor.protocols.linucb_ds.paper import comp, form
from lotor.protocols.party import Run
from protocols.linucb_ds.stage import BITS, small, some_arms

TWO = [[1.0, 0.0], [0.0, 1.0]]


@pytest.fixture
def _no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    def made(*_: object, **__: object) -> None:
        pytest.fail("a key was made for a run that cannot be")

    for module in (comp, form):
        monkeypatch.setattr(module, "generate_keypair", made)


@pytest.mark.parametrize(
    ("arms", "complaint"),
    [
        (lambda: lotor.LinearArms([[np.nan], [1]], [1]), "vectors holds a number that is not"),
        (lambda: lotor.LinearArms([[1], [np.inf]], [1]), "vectors holds a number that is not"),
        (lambda: lotor.LinearArms([[1], [1e30]], [1]), "beyond 2"),
        (lambda: lotor.LinearArms([[1], [2]], [np.nan]), "theta holds a number that is not"),
        (lambda: lotor.LinearArms([[], []], []), "arms of zero dimensions"),
        (lambda: lotor.LinearArms([[1]], [1]), "1 arm, which leaves nothing to choose"),
        (lambda: lotor.LinearArms([], [1]), "one vector for each arm|nothing to choose"),
        (lambda: lotor.LinearArms(TWO, [1]), "theta has 1 numbers where 2 are needed"),
        (lambda: lotor.LinearArms([[1, 2], [3]], [1]), "vectors of several lengths"),
        (lambda: lotor.LinearArms(TWO, [1, 0], first=2), "give an arm from 0 to 1"),
        (lambda: lotor.LinearArms(TWO, [1, 0], noise_sd=-1), "from 0 up"),
        (lambda: lotor.LinearArms(TWO, [1, 0], noise=[np.nan]), "noise holds a number that is not"),
        (lambda: lotor.GraphArms(np.zeros((3, 3)), [1, 2, 3]), "falls into 3 parts"),
        (lambda: lotor.GraphArms([[0, 1], [2, 0]], [1, 2]), "not symmetric"),
        (lambda: lotor.GraphArms([[0]], [1]), "nothing to choose"),
        (
            lambda: lotor.GraphArms.nearest([[0], [1], [50], [51]], [1, 2, 3, 4], neighbours=1),
            "falls into 2 parts",
        ),
    ],
)
def test_arms_that_are_none_are_refused(
    arms: Callable[[], lotor.LinearArms], complaint: str
) -> None:
    with pytest.raises(InputError, match=complaint):
        arms()


@pytest.mark.usefixtures("_no_keys")
@pytest.mark.parametrize(
    ("policy", "arms", "complaint"),
    [
        (lotor.LinUCB(), lotor.LinearArms(TWO, [1.0, 0.5]), "longer than S = 1"),
        (lotor.LinUCB(S="log t"), lotor.LinearArms(TWO, [65, 0]), "theta_bound = 64"),
        (lotor.LinUCB(), lotor.LinearArms([[0, 0]] * 2, [0.5, 0]), "L = 0.0, S = 1.0, K = 2"),
        (lotor.LinUCB(S=1e30), lotor.LinearArms(TWO, [1, 0]), "must lie between 2"),
        (lotor.LinUCB(L=0.5), lotor.LinearArms(TWO, [1, 0]), "longer than L = 0.5"),
        (lotor.LinUCB(), lotor.LinearArms(TWO, [1, 0], noise=[0.0] * 9), "for 9 rounds, fewer"),
        (lotor.LinUCB(), lotor.BernoulliArms([0.9, 0.1]), "not BernoulliArms: give LinearArms"),
        (lotor.SpectralUCB(), lotor.LinearArms(TWO, [1, 0]), "give it GraphArms"),
        (lotor.SpectralUCB(), lotor.GraphArms([[0, 9], [9, 0]], [1, 2]), "state a larger C"),
    ],
)
def test_runs_that_cannot_be_are_refused_before_keys_are_made(
    policy: LinearPolicy, arms: lotor.LinearArms, complaint: str
) -> None:
    with pytest.raises(InputError, match=complaint):
        lotor.run(small(policy), arms, budget=10, seed=1)


@pytest.mark.usefixtures("_no_keys")
@pytest.mark.parametrize("budget", [0, 1, 2**62])
def test_a_budget_that_leaves_nothing_to_choose_is_refused(budget: int) -> None:
    with pytest.raises(InputError, match="give at least 2"):
        lotor.run(small(), some_arms(1, k=3, d=2), budget=budget, seed=1)


@pytest.mark.usefixtures("_no_keys")
def test_a_run_without_an_environment_is_refused() -> None:
    with pytest.raises(InputError, match="NoneType: give LinearArms, or GraphArms"):
        small().parties(Run("aa", 2, 10, RewardScale(), 1))


@pytest.mark.filterwarnings("ignore::lotor.crypto.paillier.InsecureKeyWarning")
def test_keys_without_room_for_the_sum_and_its_mask_are_refused() -> None:
    """Before the first round, with how many bits are needed."""
    tiny = lotor.LinUCBDS(form="paper", insecure_key_bits=128)
    with pytest.raises(InputError, match=r"of 5 rewards and its mask need \d+ bits.* has 128"):
        lotor.run(tiny, some_arms(1, k=2, d=2), budget=5, seed=1)


def test_small_keys_warn() -> None:
    with pytest.warns(InsecureKeyWarning, match="can be broken"):
        run_openly(small(), some_arms(1, k=2, d=2), budget=2)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"key_bits": 1024}, "1024"),
        ({"insecure_key_bits": 64}, "64"),
        ({"slot_bits": 32}, "slot_bits is 64 or 96"),
        ({"workers": 0}, "workers is a whole number"),
        ({"workers": 1.5}, "workers is a whole number"),
        ({"workers": True}, "workers is a whole number"),
    ],
)
def test_options_that_cannot_be_are_refused(options: dict[str, int], complaint: str) -> None:
    for kind in (lotor.LinUCBDS, lotor.SpectralUCBDS):
        with pytest.raises(InputError, match=complaint):
            kind(**options)  # type: ignore[arg-type]


def test_a_protocol_takes_its_own_policy() -> None:
    with pytest.raises(InputError, match=r"such as LinUCB\(\)"):
        lotor.LinUCBDS(lotor.SpectralUCB())
    with pytest.raises(InputError, match=r"such as SpectralUCB\(\)"):
        lotor.SpectralUCBDS(lotor.LinUCB())
    with pytest.raises(InputError, match=r"such as LinUCB\(\)"):
        lotor.LinUCBDS(lotor.UCB())  # type: ignore[arg-type]


def test_theta_is_in_no_error_or_repr() -> None:
    theta = [1.23456789, 0.5]
    arms = lotor.LinearArms(TWO, theta)
    with pytest.raises(InputError) as error:
        lotor.run(lotor.LinUCBDS(form="paper", insecure_key_bits=BITS), arms, budget=10, seed=1)
    assert "1.2345" not in f"{error.value!r} {arms!r}"
