"""LinUCB-DS written straight from the paper's pseudo-code: a yardstick of speed, never use it.

A direct transcription of Figure 4 (Ciucanu, Delabrouille, Lafourcade and Soare, 2020), and of
Section 6 for SpectralUCB-DS, on the library that the paper names, `phe`: one process, an object for
P and one for Comp, no messages.

Why it is insecure:
- nothing that P sends is made fresh. With `bonus="added"` whoever sees theta* and knows the arms
  tells from the ciphertexts alone which arm each of them belongs to;
- permutations and noise come from `random`, whose outputs foretell each other;
- rand is a float, so that the lowest bits of s stay visible in s + rand;
- no key is signed and no received ciphertext is checked.

Figure 4 encrypts the bonus omega |x_i| of each arm in each round. Figure 5 does not count these
(N - 1) K encryptions, and the authors' program adds the bonus to the ciphertext without
encrypting it: `bonus="added"` does so too. It is the faster one, and so the stricter yardstick.

Where the pseudo-code leaves a choice, the faster one is taken: all numbers have the same power of
16 (Section 3 proposes it), so that no two ciphertexts need to be aligned before they are added, and
A is inverted by LAPACK.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import log, sqrt
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from phe import paillier

Floats: TypeAlias = NDArray[np.float64]
Bonus: TypeAlias = Literal["encrypted", "added"]
Progress = Callable[[int, int], None]

_HEX_DIGITS = 13
"""Of each number after the point: 52 bits, as a float has."""


@dataclass(frozen=True, slots=True)
class Algorithm:
    """What LinUCB and SpectralUCB differ in: the A before the first pull, and omega."""

    penalty: Floats
    omega: Callable[[int], float]


def linucb(vectors: Floats, *, gamma: float, delta: float, r: float) -> Algorithm:
    """Figure 2, with the paper's S = log t."""
    d = vectors.shape[1]
    longest = float(np.sqrt(np.square(vectors).sum(axis=1)).max())

    def omega(t: int) -> float:
        return r * sqrt(d * log((1 + t * longest**2 / gamma) / delta)) + sqrt(gamma) * log(t)

    return Algorithm(np.full(d, gamma), omega)


def spectral_ucb(
    eigenvalues: Floats, budget: int, *, gamma: float, delta: float, r: float
) -> Algorithm:
    """Section 6, with the paper's C = log t and the d' of Valko et al. (2014)."""
    penalty = eigenvalues + gamma
    room = budget / log(1 + budget / gamma)
    ordered = sorted(penalty.tolist())
    dimension = max(i + 1 for i, value in enumerate(ordered) if i * value <= room)

    def omega(t: int) -> float:
        return 2 * r * sqrt(dimension * log(1 + t / gamma) + 2 * log(1 / delta)) + log(t)

    return Algorithm(penalty, omega)


@dataclass(frozen=True, slots=True)
class Bandit:
    """What DO and nature know; `noise` and `first` where a run is to be replayed."""

    vectors: Floats
    theta: Floats
    noise_sd: float = 0.1
    noise: Sequence[float] | None = None
    first: int | None = None


class Keys:
    """The key pairs of Comp and of DC."""

    def __init__(self, bits: int) -> None:
        self.comp, self.comp_private = paillier.generate_paillier_keypair(n_length=bits)
        self.client, self.client_private = paillier.generate_paillier_keypair(n_length=bits)


def encoded(
    key: paillier.PaillierPublicKey, value: float, exponent: int = -_HEX_DIGITS
) -> paillier.EncodedNumber:
    """The number as a multiple of 16^exponent."""
    return paillier.EncodedNumber(key, round(Fraction(value) * 16**-exponent) % key.n, exponent)


class Comp:
    """Figure 4 (b)."""

    def __init__(self, keys: Keys) -> None:
        self._private, self._client = keys.comp_private, keys.client

    def arg_max(self, scores: list[paillier.EncryptedNumber]) -> int:
        # For 1 <= i <= K: Let B_sigma(i) = D_Comp(sigma(listB*)(i))   Step 4
        values = [self._private.decrypt(score) for score in scores]
        # Send argmax B_sigma(i) to P
        return values.index(max(values))

    def switch_key(self, masked: paillier.EncryptedNumber) -> paillier.EncryptedNumber:
        # Let rand + s = D_Comp(E_Comp(rand) s*)   Step 6
        total = self._private.decrypt(masked)
        # Send E_DC(rand + s) to P
        return self._client.encrypt(encoded(self._client, total, exponent=masked.exponent))


class Principal:
    """Figure 4 (a)."""

    def __init__(
        self, algorithm: Algorithm, bandit: Bandit, keys: Keys, comp: Comp, bonus: Bonus
    ) -> None:
        self._algorithm, self._bandit, self._comp, self._bonus = algorithm, bandit, comp, bonus
        self._key, self._client = keys.comp, keys.client
        self._random = random.Random()
        self.arms: list[int] = []
        # Receive x_1, …, x_K, theta*   Step 1
        self._x = [[encoded(self._key, value) for value in row] for row in bandit.vectors.tolist()]
        self._theta = [
            self._key.encrypt(encoded(self._key, value)) for value in bandit.theta.tolist()
        ]
        # Randomly choose i   Step 2
        k, first = len(bandit.vectors), bandit.first
        i = self._random.randrange(k) if first is None else first
        # Let r* = pull*(x_i), s* = r*, A = gamma I_d + x_i x_i^T
        reward = self._pull(i)
        self._s = reward
        x = bandit.vectors[i]
        self._a = np.diag(algorithm.penalty) + np.outer(x, x)
        # Let b* = ((r*)^x_i(1), …, (r*)^x_i(d))
        self._b = [reward * value for value in self._x[i]]

    def _edp(
        self,
        encrypted: list[paillier.EncryptedNumber],
        numbers: Sequence[paillier.EncodedNumber],
    ) -> paillier.EncryptedNumber:
        """EDP_Comp(v*, w): the product of all (v(j)*)^w(j)."""
        total = encrypted[0] * numbers[0]
        for factor, number in zip(encrypted[1:], numbers[1:], strict=True):
            total = total + factor * number
        return total

    def _pull(self, i: int) -> paillier.EncryptedNumber:
        """pull*(x_i) = EDP_Comp(theta*, x_i) E_Comp(eta)."""
        noise, t = self._bandit.noise, len(self.arms)
        eta = self._random.gauss(0, self._bandit.noise_sd) if noise is None else noise[t]
        self.arms.append(i)
        product = self._edp(self._theta, self._x[i])
        return product + self._key.encrypt(encoded(self._key, eta, product.exponent))

    def round(self, t: int) -> None:
        """For 1 <= t < N."""
        vectors, omega = self._bandit.vectors, self._algorithm.omega(t)
        inverse = np.linalg.inv(self._a)
        # Let theta-hat* = (EDP_Comp(b*, A^-1(1)), …, EDP_Comp(b*, A^-1(d)))   Step 3
        estimate = [
            self._edp(self._b, [encoded(self._key, value) for value in row])
            for row in inverse.tolist()
        ]
        norms = np.sqrt(((vectors @ inverse) * vectors).sum(axis=1)).tolist()
        # For 1 <= i <= K: Let B_i* = EDP_Comp(theta-hat*, x_i) E_Comp(omega |x_i|_{A^-1})
        scores = [
            self._with_bonus(self._edp(estimate, x), omega * norm)
            for x, norm in zip(self._x, norms, strict=True)
        ]
        # Randomly choose permutation sigma; send sigma(listB*) to Comp
        sigma = list(range(len(scores)))
        self._random.shuffle(sigma)
        # Receive sigma(m) from Comp; let m = sigma^-1(sigma(m))   Step 4
        m = sigma[self._comp.arg_max([scores[i] for i in sigma])]
        # Let r* = pull*(x_m), s* = s* r*, A = A + x_m x_m^T
        reward = self._pull(m)
        self._s = self._s + reward
        self._a += np.outer(vectors[m], vectors[m])
        # Let b* = (b*(1) (r*)^x_m(1), …, b*(d) (r*)^x_m(d))
        self._b = [b + reward * value for b, value in zip(self._b, self._x[m], strict=True)]

    def _with_bonus(
        self, score: paillier.EncryptedNumber, bonus: float
    ) -> paillier.EncryptedNumber:
        number = encoded(self._key, bonus, score.exponent)
        return score + (self._key.encrypt(number) if self._bonus == "encrypted" else number)

    def switch_keys(self) -> paillier.EncryptedNumber:
        # Randomly choose rand   Step 5
        rand, exponent = self._random.uniform(0, 1e10), self._s.exponent
        # Send E_Comp(rand) s* to Comp
        masked = self._key.encrypt(encoded(self._key, rand, exponent)) + self._s
        # Receive E_DC(rand + s) from Comp   Step 6
        switched = self._comp.switch_key(masked)
        # Send E_DC(s) = E_DC(rand + s) E_DC(-rand) to DC   Step 7
        return switched + self._client.encrypt(encoded(self._client, -rand, exponent))


def run(
    algorithm: Algorithm,
    bandit: Bandit,
    keys: Keys,
    *,
    budget: int,
    bonus: Bonus = "encrypted",
    progress: Progress | None = None,
) -> tuple[list[int], float]:
    """A whole run: the arms, and the sum that DC learns. `progress` is called after each pull."""
    comp = Comp(keys)
    principal = Principal(algorithm, bandit, keys, comp, bonus)
    for t in range(1, budget):
        if progress is not None:
            progress(t, budget)
        principal.round(t)
    if progress is not None:
        progress(budget, budget)
    reward: float = keys.client_private.decrypt(principal.switch_keys())
    return principal.arms, reward
