"""What the form with two servers exchanges besides garbled circuits, in the order of its steps.

`place` is the round that a message belongs to, with the number of a part where it may be cut; all
else has a width that is fixed for a run. docs/security/two-servers.md numbers the steps.
"""

from lotor.protocols.garbled.messages import GarbledMessage, PlacedGarbledMessage

WIRE = "helba-two-servers/2/"


class UserPadKey(GarbledMessage, frozen=True, tag=WIRE + "pad-key"):
    """Step 1, user to pad server: the key of this user's pads, and the digest of its terms."""

    digest: bytes
    key: bytes


class PadServerTerms(GarbledMessage, frozen=True, tag=WIRE + "same-terms"):
    """Step 1, pad server to server, once all users have told the same: the digest of the terms."""

    digest: bytes


class RenewalColumns(PlacedGarbledMessage, frozen=True, tag=WIRE + "renewal-columns"):
    """Step 4, server to pad server, ahead of a new estimate: the bits of R and s as choices."""

    columns: bytes


class PadWords(PlacedGarbledMessage, frozen=True, tag=WIRE + "pad-words"):
    """Step 4, pad server to server: the pads of V, for products with R and s."""

    words: bytes


class PaddedEstimate(PlacedGarbledMessage, frozen=True, tag=WIRE + "estimate"):
    """Step 5, server to pad server: V R and g + V s, less shares, and how many were counted."""

    words: bytes


class ModelWords(PlacedGarbledMessage, frozen=True, tag=WIRE + "model-words"):
    """Step 6, pad server to server: what makes shares of the model out of R, s and the estimate."""

    words: bytes


class ScoreColumns(PlacedGarbledMessage, frozen=True, tag=WIRE + "score-columns"):
    """Step 7, pad server to server: the bits of its shares of model and contexts as choices."""

    columns: bytes


class PaddedContexts(PlacedGarbledMessage, frozen=True, tag=WIRE + "contexts"):
    """Step 8, user to server: the contexts of its round, with their products, plus pads."""

    words: bytes


class ScoreWords(PlacedGarbledMessage, frozen=True, tag=WIRE + "score-words"):
    """Step 9, server to pad server: its shares of contexts and model, for products."""

    words: bytes


class ScoreDifferences(PlacedGarbledMessage, frozen=True, tag=WIRE + "differences"):
    """Step 9, server to pad server: how far its shares of scores are from those chosen ahead."""

    words: bytes


class PaddedUpdate(PlacedGarbledMessage, frozen=True, tag=WIRE + "update"):
    """Step 12, user to server: x x^T, r x and a count of 1, plus pads."""

    words: bytes


class PaddedTotal(PlacedGarbledMessage, frozen=True, tag=WIRE + "user-total"):
    """Step 13, user to server: the sum of its rewards and how many there were, plus pads."""

    words: bytes


class TotalShare(PlacedGarbledMessage, frozen=True, tag=WIRE + "total-share"):
    """Step 14, each server to the customer: its share of all sums, added up."""

    words: bytes
