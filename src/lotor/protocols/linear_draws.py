"""The draws that decide a linear run besides theta: first arm, noise, samples, ties."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from lotor.core.draws import Words, to_uniform
from lotor.core.errors import JournalError
from lotor.core.fixed_point import Floats
from lotor.crypto.prf import ROUNDS_AHEAD, Prf
from lotor.environments import LinearArms, VectorArms
from lotor.protocols.party import Run

FIRST, TIES, NOISE = "linear first arm", "linear ties", "linear noise"
SAMPLE = "linear sample"
PURPOSES = (FIRST, TIES, NOISE, SAMPLE)
"""The purposes of the keys that decide arms."""

_LABEL = 0


def simulated_keys(run: Run) -> dict[str, bytes]:
    """The keys of a simulation, from its seed."""
    return {purpose: run.draw_key(purpose) for purpose in PURPOSES}


class LinearDraws:
    """The draws of the party that pulls: first arm, noise, samples and the order of equal arms.

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
        # A run that an older version began has no such key, and no policy that asks for it.
        self._sample = keys.get(SAMPLE)
        self._samples: dict[int, Prf] = {}

    @classmethod
    def simulated(cls, run: Run, arms: LinearArms | VectorArms) -> "LinearDraws":
        """The draws of a simulation, from its seed: the same for plain and secure."""
        if isinstance(arms, VectorArms):
            return cls(simulated_keys(run), arms.k, noise_sd=0.0)
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

    def normals(self, t: int, d: int) -> Floats:
        """d standard normal draws for round t, with which a policy samples theta."""
        if self._sample is None:
            raise JournalError(
                "this run has no key for samples, because another version of this library began "
                "it: start a new run"
            )
        if d not in self._samples:
            self._samples[d] = Prf(self._sample, range(d))
        return _normal(self._samples[d].words(_LABEL, t, 0))

    def noise(self, t: int) -> float:
        """What is added to the reward of round t."""
        if self._noise is not None:
            return float(self._noise[t - 1])
        if self._noise_sd == 0:
            return 0.0
        return self._noise_sd * float(_normal(self._noise_prf.words(_LABEL, t, 0))[0])


def _normal(words: Words) -> Floats:
    """Standard normal draws."""
    from scipy.special import ndtri  # noqa: PLC0415

    drawn: Floats = ndtri(to_uniform(words))
    return drawn
