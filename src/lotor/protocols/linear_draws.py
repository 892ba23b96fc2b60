"""The draws that decide a linear run besides the scores: first arm, noise, which of equals wins."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from lotor.core.draws import to_uniform
from lotor.core.fixed_point import Floats
from lotor.crypto.prf import ROUNDS_AHEAD, Prf
from lotor.environments import LinearArms
from lotor.protocols.party import Run

FIRST, TIES, NOISE = "linear first arm", "linear ties", "linear noise"
"""The purposes of the keys that decide arms."""

_LABEL = 0


def simulated_keys(run: Run) -> dict[str, bytes]:
    """The keys of a simulation, from its seed."""
    return {purpose: run.draw_key(purpose) for purpose in (FIRST, TIES, NOISE)}


class LinearDraws:
    """The draws of the party that pulls: the first arm, the noise and the order of equal arms.

    They are functions of keys and the round (1 to N), never of an order of calls.
    """

    def __init__(
        self,
        keys: Mapping[str, bytes],
        k: int,
        *,
        noise_sd: float,
        noise: Floats | None = None,
        first: int | None = None,
    ) -> None:
        self._k = k
        self._first = first
        self._noise_sd = noise_sd
        self._noise = noise
        self._first_prf = Prf(keys[FIRST])
        self._noise_prf = Prf(keys[NOISE], ahead=ROUNDS_AHEAD)
        self._ties = Prf(keys[TIES], range(k))

    @classmethod
    def simulated(cls, run: Run, arms: LinearArms) -> "LinearDraws":
        """The draws of a simulation, from its seed: the same for plain and secure."""
        return cls(
            simulated_keys(run), arms.k, noise_sd=arms.noise_sd, noise=arms.noise, first=arms.first
        )

    def first(self) -> int:
        """The arm of the first round."""
        if self._first is not None:
            return self._first
        (word,) = self._first_prf.integers(_LABEL, 1, 0)
        return word * self._k >> 64

    def order(self, t: int) -> NDArray[np.intp]:
        """All arms in the order of their tie draws in round t: of equal scores, the first wins.

        Where the keys are secret this is a fresh permutation each round.
        """
        return np.argsort(self._ties.words(_LABEL, t, 0), kind="stable")

    def noise(self, t: int) -> float:
        """What is added to the reward of round t."""
        if self._noise is not None:
            return float(self._noise[t - 1])
        if self._noise_sd == 0:
            return 0.0
        from scipy.special import ndtri  # noqa: PLC0415

        return self._noise_sd * float(ndtri(to_uniform(self._noise_prf.words(_LABEL, t, 0))[0]))
