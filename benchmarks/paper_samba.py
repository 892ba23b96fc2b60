"""SAMBA written straight from the paper's pseudo-code: a yardstick of speed, insecure, never use.

A direct transcription of Figure 6 (Ciucanu, Lafourcade, Marcadet and Soare, 2022) on the libraries
that the paper names, `cryptography` (AES-GCM, 256 bits) and `phe` (Paillier, 2048 bits): one
process, one object for each owner, no messages. It has UCB and epsilon-greedy. What Figure 9 adds,
policies of several iterations (nb_A > 1, which is Pursuit), is not transcribed.

Why it is insecure:
- masks, permutations and coins come from `random`, whose outputs foretell each other, under seeds
  that Controller draws: it knows every mask and every exploring round;
- a plaintext is `str(float)`, so that the length of a ciphertext tells zero scores and short ones;
- nothing binds a ciphertext to its run, round or direction: it can be replayed anywhere;
- float masks can merge neighbouring scores, so that the reward is not literally the plain one;
- no key is agreed on and nothing is signed: all objects are handed the same key.

With `shortcut=True` epsilon-greedy takes the shortcut of section 5.4: in an exploring round the
owners send nothing and Controller makes up one score for all arms. It saves 2K of the 4K AES-GCM
operations of that round, and tells Controller, Comp and whoever watches the network which rounds
explore: Comp then knows that the bits it hands out say nothing of scores, and that those of all
other rounds do.

Where the pseudo-code leaves a choice, the faster one is taken: an owner seeds its generator once
and takes the next value at each t, instead of seeding it anew at each t.
"""

import os
import random
from collections.abc import Callable
from dataclasses import dataclass
from math import log, sqrt

from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from phe import paillier

Progress = Callable[[int, int], None]
Score = Callable[[int, float, int], float]
"""ComputeScore: from t, s_i and n_i."""

_NONCE_BYTES = 12


def ucb(t: int, s: float, n: int) -> float:
    return s / n + sqrt(2 * log(t) / n)


def mean(t: int, s: float, n: int) -> float:  # noqa: ARG001
    return s / n


@dataclass(frozen=True, slots=True)
class Algorithm:
    """The paper's A: a score and, for epsilon-greedy, the probability of exploring."""

    score: Score
    epsilon: float | None = None
    shortcut: bool = False


UCB = Algorithm(ucb)


def epsilon_greedy(epsilon: float, *, shortcut: bool) -> Algorithm:
    return Algorithm(mean, epsilon, shortcut)


class Coin:
    """seed_epsilon: whoever has the seed tosses the same coin at each t."""

    def __init__(self, epsilon: float | None, seed: int) -> None:
        self._epsilon = epsilon
        self._random = random.Random(seed)

    def explores(self) -> bool:
        return self._epsilon is not None and self._random.random() <= self._epsilon


class Channel:
    """Enc and Dec, under the AES key that Comp and the owners share."""

    def __init__(self, key: bytes) -> None:
        self._cipher = AESGCM(key)

    def enc(self, value: float) -> bytes:
        nonce = os.urandom(_NONCE_BYTES)
        return nonce + self._cipher.encrypt(nonce, str(value).encode(), None)

    def dec(self, data: bytes) -> float:
        return float(self._cipher.decrypt(data[:_NONCE_BYTES], data[_NONCE_BYTES:], None))


class Owner:
    """Figure 6 (a): DO_i."""

    def __init__(
        self, algorithm: Algorithm, key: bytes, mean_reward: float, seeds: tuple[int, int, int]
    ) -> None:
        seed_alpha, seed_epsilon, seed_rewards = seeds
        self._algorithm = algorithm
        self._channel = Channel(key)
        self._masks = random.Random(seed_alpha)
        self._coin = Coin(algorithm.epsilon, seed_epsilon)
        self._mean = mean_reward
        self._rewards = random.Random(seed_rewards)
        self.s = self._pull()
        self.n = 1

    def _pull(self) -> float:
        return 1.0 if self._rewards.random() < self._mean else 0.0

    def masked_score(self, t: int) -> bytes | None:
        """Step 2; nothing in an exploring round of the shortcut."""
        explores = self._coin.explores()
        if explores and self._algorithm.shortcut:
            return None
        alpha = self._masks.random()
        v = 0.0 if explores else self._algorithm.score(t, self.s, self.n)
        return self._channel.enc(alpha * v)

    def pulling_bit(self, data: bytes) -> bool:
        """Step 5: pull if the bit is 1."""
        if self._channel.dec(data) != 1:
            return False
        self.s += self._pull()
        self.n += 1
        return True


class Comp:
    """Figure 6 (c)."""

    def __init__(self, key: bytes) -> None:
        self._channel = Channel(key)

    def select(self, scores: list[bytes]) -> list[bytes]:
        return self.bits([self._channel.dec(score) for score in scores])

    def bits(self, values: list[float]) -> list[bytes]:
        """SelectArm, and step 4."""
        winner = values.index(max(values))
        return [self._channel.enc(int(i == winner)) for i in range(len(values))]


class Controller:
    """Figure 6 (b)."""

    def __init__(
        self, algorithm: Algorithm, owners: list[Owner], comp: Comp, seeds: tuple[int, int]
    ) -> None:
        seed_epsilon, seed_sigma = seeds
        self._algorithm = algorithm
        self._owners = owners
        self._comp = comp
        self._coin = Coin(algorithm.epsilon, seed_epsilon)
        self._random = random.Random(seed_sigma)

    def round(self, t: int) -> None:
        k = len(self._owners)
        scores = [owner.masked_score(t) for owner in self._owners]  # step 2
        sigma = list(range(k))
        self._random.shuffle(sigma)
        if self._coin.explores() and self._algorithm.shortcut:
            bits = self._comp.bits([self._random.random()] * k)
        else:
            sent = [score for score in scores if score is not None]
            bits = self._comp.select([sent[i] for i in sigma])  # steps 3 and 4
        unpermuted = [b""] * k
        for i, bit in zip(sigma, bits, strict=True):
            unpermuted[i] = bit
        for owner, bit in zip(self._owners, unpermuted, strict=True):
            owner.pulling_bit(bit)  # step 5


def run(
    algorithm: Algorithm,
    means: tuple[float, ...],
    *,
    budget: int,
    key_bits: int = 2048,
    progress: Progress | None = None,
) -> float:
    """A whole run; what the customer learns. `progress` is called 200 times, as by `lotor.run`.

    `key_bits=0` leaves out the total (steps 6 and 7) to time the core alone.
    """
    k = len(means)
    every = max(1, budget // 200)
    aes_key = AESGCM.generate_key(bit_length=256)
    seed_alpha, seed_epsilon, seed_sigma = (random.randrange(2**32) for _ in range(3))
    owners = [
        Owner(algorithm, aes_key, mean_reward, (seed_alpha, seed_epsilon, random.randrange(2**32)))
        for mean_reward in means
    ]
    controller = Controller(algorithm, owners, Comp(aes_key), (seed_epsilon, seed_sigma))
    for t in range(k + 1, budget + 1):
        controller.round(t)
        if progress is not None and t % every == 0:
            progress(t, budget)
    return customer_total(owners, key_bits) if key_bits else sum(owner.s for owner in owners)


def customer_total(owners: list[Owner], key_bits: int) -> float:
    """Figure 6 (d) with steps 6 and 7: the owners encrypt, Controller adds, DC decrypts."""
    public, private = paillier.generate_paillier_keypair(n_length=key_bits)
    total = public.encrypt(owners[0].s)
    for owner in owners[1:]:
        total = total + public.encrypt(owner.s)
    reward: float = private.decrypt(total)
    return reward
