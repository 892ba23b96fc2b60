"""What the dealt form exchanges besides, in the order of the paper's steps (Figure 3).

The set-up is in linucb_ds/messages.py and linucb_ds/theta/messages.py; what the servers exchange
with each other and with the dealer, step 3 among it, is in two_server/messages.py.
"""

from lotor.core.effects import Message
from lotor.protocols.two_server.messages import PlacedShares

WIRE = "linucb-ds-dealt/2/"


class DealtChoice(PlacedShares, frozen=True, tag=WIRE + "choice"):
    """Step 4, Comp to P: its share of the one-hot vector that says which position won."""


class DealtUnit(Message, frozen=True, tag=WIRE + "unit"):
    """Step 7, P to the customer: the public numbers that give the total its unit."""

    longest: float
    k: int
    d: int


class DealtRewards(PlacedShares, frozen=True, tag=WIRE + "rewards"):
    """Step 7, P and Comp to the customer: a share of the sum of rewards."""
