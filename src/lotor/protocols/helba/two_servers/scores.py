"""Shares of scores from shares of contexts and of the model.

With contexts c = c1 + c2 and a model m = m1 + m2, each server multiplies its own shares, and
products on transfers give shares of <c1, m2> and <c2, m1>. The pad server chooses in both, by the
bits of its shares.
"""

from collections.abc import Sequence

import numpy as np

from lotor.crypto.ot import OfferedRows, ProductSender
from lotor.crypto.residues import Modulus, Residues, multiplied


def chosen_numbers(contexts: Sequence[Residues], model: Sequence[Residues]) -> list[Residues]:
    """The pad server's shares in the order of `score_products`, (groups, numbers, primes) each."""
    return [numbers for c, m in zip(contexts, model, strict=True) for numbers in (m[np.newaxis], c)]


def sent_scores(
    sender: ProductSender,
    rows: Sequence[OfferedRows],
    contexts: Sequence[Residues],
    model: Sequence[Residues],
) -> tuple[bytes, list[Residues]]:
    """The server's words for products, and its shares of scores, (arms, primes) for each part."""
    words, shares = [], []
    for c, m, of_model, of_contexts in zip(contexts, model, rows[::2], rows[1::2], strict=True):
        modulus = of_model.modulus
        first, with_model = sender.send(of_model, c.transpose(1, 0, 2)[np.newaxis])
        repeated = np.broadcast_to(m[:, np.newaxis], (len(c), len(m), 1, modulus.count))
        second, with_contexts = sender.send(of_contexts, repeated)
        words += [first, second]
        shares.append(_score(modulus, c, m, with_model, with_contexts))
    return b"".join(words), shares


def received_scores(
    moduli: Sequence[Modulus],
    products: Sequence[Residues],
    contexts: Sequence[Residues],
    model: Sequence[Residues],
) -> list[Residues]:
    """The pad server's shares of scores, (arms, primes) for each part."""
    shares = []
    for modulus, c, m, with_model, with_contexts in zip(
        moduli, contexts, model, products[::2], products[1::2], strict=True
    ):
        shares.append(_score(modulus, c, m, with_model, with_contexts))
    return shares


def _score(
    modulus: Modulus, c: Residues, m: Residues, with_model: Residues, with_contexts: Residues
) -> Residues:
    """A server's own product, and its shares of the two mixed ones: (arms, primes)."""
    own = modulus.residues(multiplied(modulus.whole(c), modulus.whole(m), modulus))
    return modulus.add(own, modulus.add(with_model[0], with_contexts[:, 0]))
