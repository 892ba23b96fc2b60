"""What the dealt form exchanges besides, in the order of the paper's steps.

The set-up is in samba/messages.py; what the servers exchange with each other and with the dealer,
and the keys of inputs, are in two_server/messages.py. A `place` counts turns: see `terms.py`.
"""

from lotor.protocols.two_server.messages import PlacedShares, SentKey

WIRE = "samba-dealt/2/"


class DealtTieKey(SentKey, frozen=True, tag=WIRE + "tie-key"):
    """Controller to Comp: the key of the draws by which arms of equal score are told apart."""


class DealtScores(PlacedShares, frozen=True, tag=WIRE + "scores"):
    """Step 2, owner to Comp: its shares of the scores of this owner's arms."""


class DealtBits(PlacedShares, frozen=True, tag=WIRE + "bits"):
    """Step 5, each server to an owner: its shares of the bits of this owner's arms."""


class DealtPartialTotal(PlacedShares, frozen=True, tag=WIRE + "partial-total"):
    """Step 6, owner to Comp: its share of this owner's rewards and pulls, with their tag."""


class DealtCounts(PlacedShares, frozen=True, tag=WIRE + "counts"):
    """Owner to Comp, each server to the customer: its shares of the counts of arms, if these are to
    be told."""


class DealtTotal(PlacedShares, frozen=True, tag=WIRE + "total"):
    """Step 7, each server to the customer: the sum of its shares of all owners."""
