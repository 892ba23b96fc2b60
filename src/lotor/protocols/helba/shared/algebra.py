"""How a batch's estimate is hidden from both: R and s at the server, V R and g + V s at the user.

R is uniform among invertible matrices and s among vectors, so that A = V R and e = g + V s are
uniform whatever V and g are. With them

    adj(V) = (det A/det R) R A^-1    and    adj(V) g = (det A/det R) (R A^-1 e - s),

so that each arm's numbers are scalar products of a vector of the server's, made of R and s, with
one of the user's, made of A, e and a context. Everything is modulo the run's P.
"""

from collections.abc import Sequence
from typing import Self

import gmpy2
import numpy as np

from lotor.core.errors import CryptoError, ProtocolError
from lotor.crypto.residues import (
    Modulus,
    Numbers,
    Residues,
    ResidueSource,
    inverted,
    multiplied,
)
from lotor.protocols.helba.shared.pads import unpacked
from lotor.protocols.helba.shared.setting import HelbaSharedSetting

_MATRICES, _VECTORS = range(2)


class HidingMatrix:
    """The server's R and s of the batch that begins with a round: functions of its key."""

    def __init__(self, key: bytes, setting: HelbaSharedSetting, start: int) -> None:
        source, d = ResidueSource(key, setting.modulus), setting.terms.d
        self.start = start
        self._setting = setting
        matrix, self._determinant = source.invertible(_MATRICES, start, d)
        vector = source.numbers(_VECTORS, start, d)
        self._matrix = matrix
        self._vector = vector
        self._both = np.concatenate([matrix, vector[:, np.newaxis]], axis=1)

    def __repr__(self) -> str:
        return f"<HidingMatrix of the batch from round {self.start}>"

    def estimate_numbers(self) -> Residues:
        """What pads of V are multiplied with: a group for each column of R, and for s."""
        return self._setting.modulus.residues(self._both.T)

    def score_numbers(self) -> list[Residues]:
        """What contexts are multiplied with, for each batch of products of a round."""
        setting = self._setting
        modulus, linear = setting.modulus, setting.linear_modulus
        inverse = gmpy2.invert(self._determinant, modulus.product)
        numbers = np.concatenate([self._matrix.reshape(-1), self._vector]) * inverse
        found = [linear.residues(numbers[np.newaxis] % linear.product)]
        if setting.index.rooted:
            square = inverse * inverse
            under = np.concatenate([self._matrix.reshape(-1), np.array([1], object)]) * square
            found.append(modulus.residues(under[np.newaxis] % modulus.product))
        return found

    def covered(self, sums: Residues, share: Residues) -> Residues:
        """A and e, less the user's share of products with pads, and the covered count of updates.

        `share` is the server's share of these products, (groups, d, primes).
        """
        modulus = self._setting.modulus
        v, g, count = unpacked(modulus.whole(sums), self._setting)
        both = multiplied(v, self._both, modulus) - modulus.whole(share).T
        both[:, -1] += g
        return modulus.residues(np.append(both.reshape(-1), count))


class HiddenEstimate:
    """The user's A and e of a batch: uniform numbers, that are of no use without R and s."""

    def __init__(self, setting: HelbaSharedSetting, start: int, both: Residues) -> None:
        self.start = start
        self._setting = setting
        modulus = setting.modulus
        numbers = modulus.whole(both)
        try:
            self._inverse, self._determinant = inverted(numbers[:, :-1], modulus)
        except CryptoError:
            # Which prime divides det V would tell something of V.
            raise ProtocolError(
                f"the estimate of round {start} cannot be computed, because a determinant is 0 "
                "modulo a prime: that happens by chance once in 2^"
                f"{-setting.stop_chance:.0f} runs of this length, or the server computed something "
                "else; start a new run"
            ) from None
        self._weights = multiplied(self._inverse, numbers[:, -1], modulus)

    def __repr__(self) -> str:
        return f"<HiddenEstimate of the batch from round {self.start}>"

    @classmethod
    def opened(
        cls,
        setting: HelbaSharedSetting,
        start: int,
        covered: Residues,
        pads: tuple[Numbers, Numbers, int],
        share: Residues,
    ) -> tuple[Self, Residues]:
        """The estimate in the server's answer, and A and e themselves, to be kept.

        `pads` are those of all updates before round `start`, and `share` is the user's share of
        their products.
        """
        modulus, d = setting.modulus, setting.terms.d
        _, g, counted = pads
        numbers = modulus.whole(covered)
        if (numbers[-1] - counted) % modulus.product != start:
            raise ProtocolError(
                f"server has not summed each of {start} updates once before round {start}: an "
                "update was lost, doubled or altered; start a new run"
            )
        both = numbers[:-1].reshape(d, d + 1) - modulus.whole(share).T
        both[:, -1] -= g
        kept = modulus.residues(both)
        return cls(setting, start, kept), kept

    def vectors(self, t: int, contexts: Sequence[Sequence[int]]) -> list[Residues]:
        """What the server's numbers are multiplied with in round t, for each batch of products.

        Each is (1, numbers, arms, primes), with arms in the order of `contexts`.
        """
        index = self._setting.index
        x = np.array(contexts, object)
        straight = multiplied(x, self._inverse.T, self._setting.modulus)
        if index.rooted:
            return self._rooted(x, straight, *index.squares(t, self.start))
        inner = straight * index.factor(t, self.start) + self._weights
        return [self._linear(x, inner)]

    def _linear(self, x: Numbers, inner: Numbers) -> Residues:
        """Of <R, det A·x (x) inner> - <s, det A·x>."""
        modulus = self._setting.linear_modulus
        inner = inner * self._determinant % modulus.product
        outer = _outer(x, inner)
        return _shaped(np.concatenate([outer, -x * self._determinant], axis=1), modulus)

    def _rooted(self, x: Numbers, straight: Numbers, b: int, e: int) -> list[Residues]:
        """Of the linear part, and of det(A)^2 (b <R, x (x) A^-1 x> + e)."""
        modulus = self._setting.modulus
        square = self._determinant * self._determinant % modulus.product
        outer = _outer(x, straight * (b * square) % modulus.product)
        constant = np.full((len(x), 1), e * square % modulus.product, object)
        under = _shaped(np.concatenate([outer, constant], axis=1), modulus)
        weights = np.broadcast_to(self._weights, x.shape)
        return [self._linear(x, weights), under]


def _outer(x: Numbers, y: Numbers) -> Numbers:
    """Of each arm, all products of a number in x and one in y, in the order of R's entries."""
    products: Numbers = x[:, :, np.newaxis] * y[:, np.newaxis, :]
    return products.reshape(len(x), -1)


def _shaped(numbers: Numbers, modulus: Modulus) -> Residues:
    return modulus.residues(numbers.T[np.newaxis] % modulus.product)
