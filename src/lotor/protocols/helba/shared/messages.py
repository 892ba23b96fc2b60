"""What the shared form exchanges besides garbled circuits, in the order of its steps.

`place` is the round that a message belongs to, with the number of a part where it may be cut; all
else has a width that is fixed for a run. docs/security/private-contexts.md numbers the steps.
"""

from lotor.protocols.garbled.messages import GarbledMessage, PlacedGarbledMessage

WIRE = "helba-shared/1/"


class UsersKeyOffer(GarbledMessage, frozen=True, tag=WIRE + "offer"):
    """Step 1, user to server, which passes it on: the users' keys may be sealed to this key.

    It is signed for the authority together with the digest of the terms.
    """

    digest: bytes
    public: bytes
    signature: bytes


class SealedUsersKeys(GarbledMessage, frozen=True, tag=WIRE + "sealed-keys"):
    """Step 2, authority to server, which passes it on: the users' keys, sealed to the user."""

    digest: bytes
    sealed: bytes
    signature: bytes


class ProductColumns(PlacedGarbledMessage, frozen=True, tag=WIRE + "product-columns"):
    """Step 5, server to user, ahead: the bits of its numbers, as choices in transfers."""

    columns: bytes


class CoveredUpdate(PlacedGarbledMessage, frozen=True, tag=WIRE + "update"):
    """Step 6, user to server: x x^T, r x and a count of 1, plus pads."""

    words: bytes


class EstimateWords(PlacedGarbledMessage, frozen=True, tag=WIRE + "estimate-words"):
    """Step 7, user to server, where a batch starts: the pads of sums, for products with R and s."""

    words: bytes


class CoveredEstimate(PlacedGarbledMessage, frozen=True, tag=WIRE + "estimate"):
    """Step 8, server to user: V R and g + V s, less shares, and how many updates were counted."""

    words: bytes


class ContextWords(PlacedGarbledMessage, frozen=True, tag=WIRE + "context-words"):
    """Step 9, user to server: a round's contexts, for products with R and s over det R."""

    words: bytes


class CoveredShares(PlacedGarbledMessage, frozen=True, tag=WIRE + "shares"):
    """Step 9, user to server: how far its shares of scores are from those that it chose ahead."""

    words: bytes
