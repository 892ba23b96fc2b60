"""Whether what a policy states of the noise covers that of simulated rewards."""

import warnings
from collections.abc import Collection
from dataclasses import replace
from typing import Protocol, TypeVar

from lotor.policies.linear.bounds import at_least


class StatesNoise(Protocol):
    """A policy whose confidence bounds hold for noise up to one of its parameters."""

    @property
    def noise_parameter(self) -> str | None:
        """The parameter's name, such as "R"; None in a policy without one."""


N = TypeVar("N", bound=StatesNoise)


class NoiseWarning(UserWarning):
    """Rewards are noisier than a policy's confidence bounds allow for."""


def suited_to_noise(policy: N, noise_sd: float, keep: Collection[str] = ()) -> N:
    """The policy with a larger bound on the noise, a power of two, where this noise breaks it.

    >>> from lotor import LinUCB
    >>> suited_to_noise(LinUCB(), 0.1).R, suited_to_noise(LinUCB(), 0.3).R
    (0.1, 0.5)
    """
    name = policy.noise_parameter
    if name is None or name in keep or noise_sd <= getattr(policy, name):
        return policy
    return replace(policy, **{name: at_least(getattr(policy, name), noise_sd)})  # type: ignore[type-var]


def check_noise(policy: StatesNoise, noise_sd: float) -> None:
    """Warn of normal noise with a standard deviation beyond the policy's bound.

    The run goes on, since nothing overflows: but a confidence bound may fail more often than the
    policy says, and then the policy may keep to a poor arm.
    """
    name = policy.noise_parameter
    if name is None or noise_sd <= getattr(policy, name):
        return
    warnings.warn(
        f"the noise of the rewards has a standard deviation of {noise_sd:g}, and the policy takes "
        f"it to be at most {name} = {getattr(policy, name):g}, so that its confidence bounds may "
        f"fail: state {name} at least {noise_sd:g}, or simulate less noise",
        NoiseWarning,
        stacklevel=2,
    )
