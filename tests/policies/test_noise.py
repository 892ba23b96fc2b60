"""Noise that a policy's confidence bounds do not cover is told, and on the command line covered."""

import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

import lotor
from commands import lotor as command
from lotor.policies import OFUL, BatchedOFUL
from lotor.policies.noise import NoiseWarning, StatesNoise, check_noise, suited_to_noise

POLICIES = [lotor.LinUCB(), lotor.SpectralUCB(), BatchedOFUL(), OFUL()]


def stated(policy: StatesNoise) -> float:
    assert policy.noise_parameter is not None
    return float(getattr(policy, policy.noise_parameter))


@given(st.sampled_from(POLICIES), st.floats(0, 1e6))
def test_a_suited_policy_covers_the_noise(policy: StatesNoise, noise_sd: float) -> None:
    suited = suited_to_noise(policy, noise_sd)
    check_noise(suited, noise_sd)
    assert (suited == policy) == (noise_sd <= stated(policy))
    assert stated(suited) <= max(stated(policy), 2 * noise_sd)


@pytest.mark.parametrize("policy", POLICIES, ids=lambda one: type(one).__name__)
def test_a_bound_that_was_stated_is_kept_and_warned_of(policy: StatesNoise) -> None:
    name = policy.noise_parameter
    assert name is not None
    assert suited_to_noise(policy, 9.0, keep=[name]) == policy
    with pytest.warns(NoiseWarning, match=f"at most {name} = .*: state {name} at least 9"):
        check_noise(policy, 9.0)


@pytest.mark.parametrize("form", ["shared", "dealt", None])
def test_a_library_run_warns_of_noise_beyond_r(form: str | None) -> None:
    noisy = lotor.LinearArms([[1, 0], [0, 1]], [0.8, 0.3], noise_sd=0.2)
    run = lotor.LinUCB() if form is None else lotor.LinUCBDS(form=form)
    with pytest.warns(NoiseWarning, match="state R at least 0.2"):
        lotor.run(run, noisy, budget=4, seed=1)
    contexts = lotor.LinearContexts([[[1, 0], [0, 1]]] * 4, [0.8, 0.3], noise_sd=0.7)
    with pytest.warns(NoiseWarning, match="state sigma at least 0.7"):
        lotor.run(OFUL(), contexts, budget=4, seed=1)


def test_recorded_noise_is_not_judged() -> None:
    arms = lotor.LinearArms([[1, 0], [0, 1]], [0.8, 0.3], noise_sd=9, noise=[0.5] * 4)
    with warnings.catch_warnings(action="error"):
        lotor.run(lotor.LinUCB(), arms, budget=4, seed=1)


def test_the_command_line_widens_what_was_not_stated() -> None:
    arms = ["run", "plain", "--budget", "9", "--noise-sd", "0.3", "--arms", "linear:4,2"]
    done = command(*arms, "--policy", "linucb")
    assert done.returncode == 0
    assert "usual bounds, so it is linucb:gamma=1.0,delta=0.01,R=0.5,S=1.0" in done.stderr
    done = command(*arms, "--policy", "linucb:R=0.1")
    assert done.returncode == 0
    assert done.stderr.startswith("lotor: warning: the noise of the rewards has a standard dev")
