"""What follows from the terms of a run with two servers: features, products and their sizes."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from lotor.protocols.helba.shared.setting import (
    WORD_BYTES,
    HelbaSharedSetting,
    ProductCall,
    column_total,
    word_total,
)
from lotor.protocols.helba.two_servers.terms import HelbaTwoServersTerms

SERVER: Final = "server"
PAD_SERVER: Final = "pad-server"
SERVERS: Final = (SERVER, PAD_SERVER)

RENEWAL_EPOCH: Final = 1
"""Products of new estimates use the base transfers of labels, which are of epoch 0."""

# So many batches of products has a round at most, either way.
_KINDS = 4


@dataclass(frozen=True)
class HelbaTwoServersSetting(HelbaSharedSetting):
    """All that parties derive from the terms.

    A score is a scalar product of features of a context, which the user computes, with a model,
    which the servers share. With the root there are two: that of the linear part, and that of
    what is under the root.
    """

    terms: HelbaTwoServersTerms

    def features(self, x: Sequence[int], t: int, start: int) -> list[list[int]]:
        """What a context of round t brings to each scalar product, in the batch from `start`.

        Factors of the index are here, and not in the model: they come from floats, and if the two
        servers rounded them differently their shares would not fit together.
        """
        squares = [x[a] * x[b] for a, b in self.pairs]
        if not self.index.rooted:
            q = self.index.factor(t, start)
            return [[*(q * square for square in squares), *x]]
        b, e = self.index.squares(t, start)
        return [[*x], [*(b * square for square in squares), e]]

    @cached_property
    def widths(self) -> list[int]:
        """How many features each scalar product has."""
        return [len(each) for each in self.features([0] * self.terms.d, 1, 1)]

    @property
    def context_sizes(self) -> list[int]:
        """How many bytes the contexts of a round have, for each scalar product."""
        each = zip(self.score_moduli, self.widths, strict=True)
        return [WORD_BYTES * self.terms.arms * width * modulus.count for modulus, width in each]

    def model_products(self, t: int) -> list[ProductCall]:
        """What makes a model of R, s and the estimate, where a batch starts with round t.

        The server's numbers are rows of R and s over det R, or of R over its square; the pad
        server's vectors are columns of what it makes of A and e.
        """
        d, number = self.terms.d, _KINDS * t + 1
        if not self.index.rooted:
            return [ProductCall(number, self.linear_modulus, (d, d + 1), d + 1)]
        return [
            ProductCall(number, self.linear_modulus, (d, d + 1), 1),
            ProductCall(number + 1, self.modulus, (d, d), d),
            ProductCall(number + 2, self.modulus, (1, 1), 1),
        ]

    def estimate_products(self, t: int) -> ProductCall:
        return super().estimate_products(t)._replace(number=_KINDS * t)

    def renewal_products(self, t: int) -> list[ProductCall]:
        """The server chooses in these, and the pad server sends."""
        return [self.estimate_products(t), *self.model_products(t)]

    def score_products(self, t: int) -> list[ProductCall]:
        """The pad server chooses in these, and the server sends: two for each scalar product.

        The first multiplies the pad server's share of the model with the other one of contexts, the
        second its share of contexts with the other one of the model.
        """
        calls: list[ProductCall] = []
        for modulus, width in zip(self.score_moduli, self.widths, strict=True):
            number = _KINDS * t + len(calls)
            calls.append(ProductCall(number, modulus, (1, width), self.terms.arms))
            calls.append(ProductCall(number + 1, modulus, (self.terms.arms, width), 1))
        return calls

    @property
    def round_bytes(self) -> int:
        """What the products of a round take, the way that takes more, with a new estimate."""
        renewal, scores = self.renewal_products(1), self.score_products(1)
        return max(
            column_total(chosen) + word_total(sent)
            for chosen, sent in ((renewal, scores), (scores, renewal))
        )
