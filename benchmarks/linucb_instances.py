"""Bandits of the paper's experiments, as Lotor runs them and as the paper's pseudo-code does."""

from dataclasses import dataclass
from time import thread_time

import paper_linucb_ds as paper

import lotor
from lotor.environments.linear_lookalike import linear_lookalike

ARMS = "movielens-factors-like"
GAMMA, DELTA, R = 0.01, 0.001, 0.01
LINUCB = lotor.LinUCB(gamma=GAMMA, delta=DELTA, R=R, S="log t")
SPECTRAL_UCB = lotor.SpectralUCB(gamma=GAMMA, delta=DELTA, R=R, C="log t")
NEIGHBOURS = 10
KEY_BITS = 2048


@dataclass(frozen=True, slots=True)
class Instance:
    """So many arms in so many dimensions, on a graph if it is spectral."""

    d: int
    k: int
    spectral: bool = False

    @property
    def name(self) -> str:
        return f"{'Spectral ' if self.spectral else ''}d={self.d} K={self.k}"

    def arms(self) -> lotor.LinearArms:
        if not self.spectral:
            return linear_lookalike(ARMS, k=self.k, d=self.d, noise_sd=R)
        movies = linear_lookalike(ARMS, k=self.k, d=NEIGHBOURS)
        return lotor.GraphArms.nearest(
            movies.vectors, movies.means, neighbours=NEIGHBOURS, noise_sd=R
        )

    def protocol(self, form: str) -> lotor.LinUCBDS:
        """On shares; or with keys as long as the paper's."""
        if form == "paper":
            return self.encrypted(KEY_BITS)
        if self.spectral:
            return lotor.SpectralUCBDS(SPECTRAL_UCB, form=form)
        return lotor.LinUCBDS(LINUCB, form=form)

    def encrypted(self, bits: int, workers: int = 1) -> lotor.LinUCBDS:
        """The paper's form."""
        if self.spectral:
            return lotor.SpectralUCBDS(SPECTRAL_UCB, key_bits=bits, workers=workers, form="paper")
        return lotor.LinUCBDS(LINUCB, key_bits=bits, workers=workers, form="paper")

    def algorithm(self, arms: lotor.LinearArms, budget: int) -> paper.Algorithm:
        if arms.eigenvalues is None:
            return paper.linucb(arms.vectors, gamma=GAMMA, delta=DELTA, r=R)
        return paper.spectral_ucb(arms.eigenvalues, budget, gamma=GAMMA, delta=DELTA, r=R)


class PaperRun:
    """Some rounds of the pseudo-code, in CPU time: it does the same in each.

    Bonuses are added without encrypting them, as in the authors' program: the stricter yardstick.
    """

    def __init__(self, instance: Instance, keys: paper.Keys, n: int) -> None:
        arms = instance.arms()
        began = thread_time()
        bandit = paper.Bandit(arms.vectors, arms.theta, noise_sd=R)
        self._principal = paper.Principal(
            instance.algorithm(arms, n), bandit, keys, paper.Comp(keys), "added"
        )
        self.set_up = thread_time() - began
        self._rounds, self._spent = 0, 0.0

    def round(self) -> None:
        began = thread_time()
        self._rounds += 1
        self._principal.round(self._rounds)
        self._spent += thread_time() - began

    @property
    def a_round(self) -> float:
        return self._spent / self._rounds
