from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import ClassVar, cast

import numpy as np
import pytest

from lotor.core.errors import PolicyError
from lotor.policies import (
    LUCB,
    OFUL,
    POLICIES,
    UCB,
    AnyPolicy,
    ArmStates,
    Draws,
    Floats,
    LinTS,
    Policy,
    ReinforcementComparison,
    to_text,
)
from lotor.policies.linear import LinearModel, NormalDraws, no_draws
from lotor.protocols.protocol import PROTOCOLS
from lotor.testing import PolicyReport, check_policy


@dataclass(frozen=True, slots=True)
class ByFormula(Policy):
    formula: Callable[[ArmStates, Draws], Floats]

    def score(self, arms: ArmStates, t: int, l: int, draw: Draws) -> Floats:
        return self.formula(arms, draw)


@dataclass(frozen=True, slots=True)
class Greedy(Policy):
    """A sound base of the unsound ones below."""

    def score(self, arms: ArmStates, t: int, l: int, draw: Draws) -> Floats:
        return arms.mean


RUNS_UNDER = {
    "batched-oful": "helba",
    "linear-epsilon-greedy": "ppcb",
    "lints": "linucb-ds",
    "linucb": "linucb-ds",
    "lucb": None,
    "oful": None,
    "reinforcement-comparison": None,
    "rsoful": None,
    "rsoful-tr": None,
    "spectral-ucb": "spectral-ucb-ds",
}
"""All others run under SAMBA."""


@pytest.mark.parametrize(("name", "kind"), POLICIES.items())
def test_the_policies_of_the_package_conform(name: str, kind: type[AnyPolicy]) -> None:
    report = check_policy(kind())
    assert report.policy == to_text(kind())
    under = RUNS_UNDER.get(name, "samba")
    assert report.fits_samba == (under == "samba")
    assert report.oblivious_selection is None
    assert set(report.forms) == ({under} if under else set())
    assert set(report.protocols) == set(PROTOCOLS)
    for protocol, reason in report.protocols.items():
        assert (reason is None) == (protocol == under)
        assert (PROTOCOLS[protocol].why_not(kind()) is None) == (protocol == under)
    for protocol, forms in report.forms.items():
        assert forms == dict.fromkeys(PROTOCOLS[protocol].forms)


def test_reports_read_well() -> None:
    lines = str(check_policy(UCB())).splitlines()
    assert lines[0] == "ucb runs in plain and under samba (shared, dealt, paper)"
    assert (
        "- not under ppcb: its policies choose by one context in each round, and this one by what "
        "each arm has paid"
    ) in lines
    forms = {"this": {"quick": None, "slow": "too slow"}}
    some = PolicyReport("mine", None, None, {"this": None, "that": "too wide"}, forms)
    assert str(some) == (
        "mine runs in plain and under this (quick)\n"
        "- not under this in its form slow: too slow\n"
        "- not under that: too wide"
    )
    text = str(check_policy(ReinforcementComparison()))
    assert text.startswith("reinforcement-comparison:alpha=0.1,beta=0.1 runs in plain only")
    assert "arm score locality (Theorem 1) fails, the score of arm" in text
    assert "oblivious selection" not in text
    assert "sure of the best arm" in str(check_policy(LUCB()))
    oful = check_policy(OFUL())
    assert oful.arm_score_locality == ("it scores arms by a context of each arm in each round, too")
    assert "a server can follow on hidden contexts" in (oful.protocols["helba"] or "")


@dataclass(frozen=True, slots=True)
class Forgetful(LinTS):
    """Its model leaves out of a snapshot how often it was updated."""

    def start(
        self, vectors: Floats, *, budget: int, eigenvalues: Floats | None = None
    ) -> LinearModel:
        class Counting(LinearModel):
            pulls = 0

            def update(self, arm: int, noise: float) -> None:
                super().update(arm, noise)
                self.pulls += 1

            def coefficients(
                self, t: int, normals: NormalDraws = no_draws
            ) -> tuple[Floats, Floats]:
                u, c = super().coefficients(t, normals)
                return u, c + self.pulls

        return Counting(vectors, np.ones(vectors.shape[1]), lambda t: 0.0)


calls = count()


@dataclass(frozen=True, slots=True)
class Restless(LinTS):
    """Its choices depend on how often it was used before."""

    def start(
        self, vectors: Floats, *, budget: int, eigenvalues: Floats | None = None
    ) -> LinearModel:
        wide = 1.0 + 9.0 * (next(calls) % 2)
        return LinearModel(vectors, np.ones(vectors.shape[1]), lambda t: wide)


@dataclass(frozen=True, slots=True)
class Other(LinTS):
    """A linear policy of somebody's own."""


def test_linear_policies_that_break_the_contract() -> None:
    with pytest.raises(PolicyError, match="written down and restored"):
        check_policy(Forgetful())
    with pytest.raises(PolicyError, match="two runs with one seed differ"):
        check_policy(Restless())
    assert check_policy(Other()).protocols["linucb-ds"] is None


def written_to(arms: ArmStates, draw: Draws) -> Floats:
    arms.own["scored"] = arms.mean + 1.0
    return arms.mean


def moved_mean(arms: ArmStates, draw: Draws) -> Floats:
    arms.mean *= 0.5
    return arms.mean + 0.0


def random_scores() -> Callable[[ArmStates, Draws], Floats]:
    calls = count()
    return lambda arms, draw: np.full(len(arms), float(next(calls)))


@pytest.mark.parametrize(
    ("formula", "complaint"),
    [
        (lambda arms, draw: arms.mean.tolist(), "list that is not an array of numbers"),
        (lambda arms, draw: 0.5, "float that is not an array"),
        (lambda arms, draw: None, "NoneType that is not an array"),
        (lambda arms, draw: arms.mean.astype(str), "not an array of numbers"),
        (lambda arms, draw: arms.mean + 0j, "not an array of numbers"),
        (lambda arms, draw: arms.mean[:1], r"shape \(1,\) for 4 arms"),
        (lambda arms, draw: arms.mean[:, None], r"shape \(4, 1\)"),
        (lambda arms, draw: arms.mean * np.nan, "outside"),
        (lambda arms, draw: arms.mean - 0.5, "outside"),
        (lambda arms, draw: arms.mean * 1e9, "outside"),
        (written_to, "changed the arms"),
        (moved_mean, "changed the arms"),
        (random_scores(), "two calls"),
    ],
)
def test_scores_that_break_the_contract(
    formula: Callable[[ArmStates, Draws], Floats], complaint: str
) -> None:
    with pytest.raises(PolicyError, match=complaint):
        check_policy(ByFormula(formula))


def test_a_range_that_is_left_only_late_is_found() -> None:
    @dataclass(frozen=True, slots=True)
    class Growing(Greedy):
        def score(self, arms: ArmStates, t: int, l: int, draw: Draws) -> Floats:
            return arms.mean + t

    with pytest.raises(PolicyError, match="outside"):
        check_policy(Growing())


@dataclass(frozen=True, slots=True)
class KeepsSinglePrecision(Greedy):
    """Its variable is rounded when it is first used, so what was written down differs."""

    def start(self, arms: ArmStates) -> None:
        arms.own["p"] = np.full(len(arms), 0.1, dtype=np.float32)

    def score(self, arms: ArmStates, t: int, l: int, draw: Draws) -> Floats:
        return arms.own["p"] * np.float32(0.7)


@dataclass(frozen=True, slots=True)
class LosesPulls(Greedy):
    def learn(self, arms: ArmStates, i: int, reward: int, draw: Draws) -> None:
        if reward:
            arms.add(i, reward)


@dataclass(frozen=True, slots=True)
class RoundsRewards(Greedy):
    def learn(self, arms: ArmStates, i: int, reward: int, draw: Draws) -> None:
        arms.add(i, reward >> 32 << 32)


@dataclass(frozen=True, slots=True)
class KeepsAnotherMean(Greedy):
    def learn(self, arms: ArmStates, i: int, reward: int, draw: Draws) -> None:
        arms.add(i, reward)
        arms.mean[i] += 1.0


@dataclass(frozen=True, slots=True)
class SelectsNothing(Greedy):
    def select(self, values: Sequence[int], t: int, l: int) -> int:
        return len(values)


@dataclass(frozen=True, slots=True)
class SelectsNumpy(Greedy):
    def select(self, values: Sequence[int], t: int, l: int) -> int:
        return cast("int", np.argmax(np.array(values, dtype=object)))


@dataclass(frozen=True, slots=True)
class NeverAsks(Greedy):
    iterations: ClassVar[int] = 0


class NotADataclass(Policy):
    def score(self, arms: ArmStates, t: int, l: int, draw: Draws) -> Floats:
        return arms.mean


@dataclass
class NotFrozen(Policy):
    level: float = 0.0

    def score(self, arms: ArmStates, t: int, l: int, draw: Draws) -> Floats:
        return arms.mean


@dataclass(frozen=True, slots=True)
class NotAPolicy:
    iterations: ClassVar[int] = 1


@pytest.mark.parametrize(
    ("policy", "complaint"),
    [
        (KeepsSinglePrecision(), "written down and restored"),
        (LosesPulls(), "did not count the pull"),
        (RoundsRewards(), "did not count the pull"),
        (KeepsAnotherMean(), "did not count the pull"),
        (SelectsNothing(), "select gave 5"),
        (SelectsNumpy(), "select gave"),
        (NeverAsks(), "iterations is 0"),
        (NotADataclass(), "not a frozen dataclass"),
        (NotFrozen(), "not a frozen dataclass"),
        (cast("Policy", NotAPolicy()), "not a frozen dataclass"),
    ],
)
def test_what_is_no_policy(policy: Policy, complaint: str) -> None:
    with pytest.raises(PolicyError, match=complaint):
        check_policy(policy)


@dataclass(frozen=True, slots=True)
class Parity(Greedy):
    def select(self, values: Sequence[int], t: int, l: int) -> int:
        return max(range(t % 2, len(values), 2), key=values.__getitem__)


@dataclass(frozen=True, slots=True)
class Threshold(Greedy):
    """Means in [0.5, 1] first: 40 fraction bits, then 64 bits that decide ties."""

    def select(self, values: Sequence[int], t: int, l: int) -> int:
        kept = [i for i, value in enumerate(values) if 1 << 103 <= value <= 1 << 104]
        return max(kept or range(len(values)), key=values.__getitem__)


@dataclass(frozen=True, slots=True)
class Gives(Greedy):
    def select(self, values: Sequence[int], t: int, l: int) -> int:
        raise ValueError("nothing survives the filters")


@pytest.mark.parametrize(
    ("policy", "reason"),
    [(Parity(), "permutation"), (Threshold(), "mask"), (Gives(), "cannot be selected")],
)
def test_selection_that_is_not_oblivious_is_reported(policy: Policy, reason: str) -> None:
    report = check_policy(policy)
    assert report.arm_score_locality is None
    assert not report.fits_samba
    assert f"oblivious selection (Theorem 1) fails, {report.oblivious_selection}" in str(report)
    assert reason in (report.oblivious_selection or "")
