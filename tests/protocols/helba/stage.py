"""Small rings and environments that the tests of HELBA share."""

import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from helba_simulation import Round

import lotor
from lotor.core.fixed_point import RewardScale
from lotor.crypto.ckks import InsecureParametersWarning
from lotor.policies.optimistic import BatchedOFUL
from lotor.policies.optimistic.model import OptimisticModel
from lotor.protocols.helba.paper.forecast import HelbaForecast
from lotor.protocols.helba.paper.setting import HelbaSetting

DEGREE = 1024
SCALE = RewardScale(-9, 9)


def small(
    policy: BatchedOFUL | None = None,
    *,
    stages: int = 4,
    noise_bits: int = 5,
    rms_length: float | None = None,
    workers: int = 1,
) -> lotor.Helba:
    """The protocol in a ring that protects nothing."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InsecureParametersWarning)
        return lotor.Helba(
            policy or BatchedOFUL(),
            stages=stages,
            noise_bits=noise_bits,
            rms_length=rms_length,
            workers=workers,
            insecure_degree=DEGREE,
            form="paper",
        )


def paper(C: float | None, eta: float) -> BatchedOFUL:  # noqa: N803
    """The paper's index, with its width."""
    return BatchedOFUL(index="sqrt", width="union", C=C, eta=eta)


def setting_of(helba: lotor.Helba, *, rounds: int, arms: int, d: int) -> HelbaSetting:
    return helba.setting("run", budget=rounds, arms=arms, d=d, scale=SCALE)


def some_contexts(seed: int, *, rounds: int, arms: int, d: int) -> lotor.LinearContexts:
    if (arms, d) == (2, 2):
        return lotor.LinearContexts.toy(rounds, seed=seed)
    return lotor.LinearContexts.random(rounds, arms=arms, d=d, pool=2 * arms + 4, seed=seed)


@dataclass(frozen=True)
class Decided:
    """One decision beside the exact one: the gap, what suffices, and the gap as compared."""

    t: int
    same: bool
    gap: float
    resolution: float
    value: float


def beside_exact(setting: HelbaSetting, rounds: Iterable[Round]) -> Iterator[Decided]:
    """Follows the trajectory with the exact policy."""
    policy = setting.terms.learner
    plan = HelbaForecast(setting)
    models: list[OptimisticModel] = []
    for done in rounds:
        if not models:
            models = [policy.start(setting.terms.d) for _ in done.arms]
        for r, model in enumerate(models):
            indices, batch, arm = model.indices(done.contexts[r]), model.batch, done.arms[r]
            assert batch.start == done.start
            log_determinant = batch.log_growth + setting.terms.d * np.log(policy.ridge)
            value = plan.value_resolution(done.t, done.start)
            resolution = setting.circuit.gap(value, done.t, done.start, log_determinant)
            second, first = np.sort(indices)[-2:]
            yield Decided(
                done.t,
                int(indices.argmax()) == arm,
                first - second,
                resolution,
                value * (first - second) / resolution,
            )
            model.update(done.contexts[r][arm], done.rewards[r])
