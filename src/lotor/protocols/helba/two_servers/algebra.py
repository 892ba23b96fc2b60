"""How both servers come to shares of one model, which neither of them can read.

The server has R and s, the pad server A = V R and e = g + V s (shared/algebra.py). With
B = det A·A^-1

    adj(V) = (R/det R) B    and    adj(V) g = (R/det R) B e - (s/det R) det A,

so that products of the server's numbers with the pad server's vectors give shares of both. With the
root, det(V) adj(V) and det(V)^2 come out of R and 1 over det(R)^2 in the same way.
"""

from collections.abc import Sequence
from functools import cached_property

import gmpy2
import numpy as np

from lotor.crypto.residues import Numbers, Residues
from lotor.protocols.helba.shared.algebra import HiddenEstimate, HidingMatrix
from lotor.protocols.helba.shared.setting import WORD_BYTES
from lotor.protocols.helba.shared.wire import from_words, to_words
from lotor.protocols.helba.two_servers.setting import HelbaTwoServersSetting


class HidingModel(HidingMatrix):
    """The server's R and s of a batch."""

    _setting: HelbaTwoServersSetting

    def model_numbers(self) -> list[Residues]:
        """(groups, numbers, primes), for each of the setting's `model_products`."""
        modulus, linear = self._setting.modulus, self._setting.linear_modulus
        inverse = gmpy2.invert(self._determinant, modulus.product)
        found = [linear.residues(self._both * inverse)]
        if self._setting.index.rooted:
            square = inverse * inverse % modulus.product
            found.append(modulus.residues(self._matrix * square))
            found.append(modulus.residues([[square]]))
        return found


class HiddenModel(HiddenEstimate):
    """The pad server's A and e of a batch."""

    _setting: HelbaTwoServersSetting

    def model_vectors(self) -> list[Residues]:
        """(numbers, length, primes), for each of the setting's `model_products`."""
        modulus, linear = self._setting.modulus, self._setting.linear_modulus
        determinant, rooted = self._determinant, self._setting.index.rooted
        straight = np.append(self._weights, -1)[:, np.newaxis] * determinant
        if not rooted:
            below = np.full((1, len(self._inverse)), 0, object)
            square = np.concatenate([self._inverse * determinant, below])
            straight = np.concatenate([square, straight], axis=1)
        found = [linear.residues(straight)]
        if rooted:
            squared = determinant * determinant % modulus.product
            found.append(modulus.residues(self._inverse * squared))
            found.append(modulus.residues([[squared]]))
        return found


class HelbaModelShare:
    """One server's share of a batch's model: uniform numbers."""

    def __init__(
        self, setting: HelbaTwoServersSetting, start: int, blocks: Sequence[Residues]
    ) -> None:
        """`blocks` are shares of `model_products`, (groups, length, primes) each."""
        self.start = start
        self._setting = setting
        self._blocks = blocks

    def __repr__(self) -> str:
        return f"<HelbaModelShare of the batch from round {self.start}>"

    def to_bytes(self) -> bytes:
        return b"".join(map(to_words, self._blocks))

    @classmethod
    def from_bytes(
        cls, setting: HelbaTwoServersSetting, start: int, data: bytes
    ) -> "HelbaModelShare":
        blocks = []
        for call in setting.model_products(start):
            shape = call.shape[0], call.length, call.modulus.count
            size = WORD_BYTES * int(np.prod(shape))
            here, data = data[:size], data[size:]
            blocks.append(from_words(here, call.modulus, "this party").reshape(shape))
        return cls(setting, start, blocks)

    @cached_property
    def weights(self) -> list[Residues]:
        """A share of what features are multiplied with, for each scalar product."""
        moduli, calls = self._setting.score_moduli, self._setting.model_products(self.start)
        blocks = [call.modulus.whole(each) for call, each in zip(calls, self._blocks, strict=True)]
        if not self._setting.index.rooted:
            (both,) = blocks
            return [moduli[0].residues(np.append(self._folded(both[:, :-1]), both[:, -1]))]
        straight, square, constant = blocks
        under = np.append(self._folded(square), constant[0])
        return [moduli[0].residues(straight[:, 0]), moduli[1].residues(under)]

    def _folded(self, matrix: Numbers) -> Numbers:
        """What multiplies x_a x_b: models are symmetric, so that one of two entries is doubled."""
        pairs = self._setting.pairs
        return np.array([matrix[a, b] * (1 if a == b else 2) for a, b in pairs], object)
