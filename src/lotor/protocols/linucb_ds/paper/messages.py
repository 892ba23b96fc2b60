"""LinUCB-DS's messages, in the order of the paper's steps (Figure 3).

`t` is how many pulls were made, in a fixed width. Packed fields hold Paillier ciphertexts under
Comp's key, all of one width and re-randomised before they are sent. The order and the terms are in
linucb_ds/messages.py.
"""

from lotor.core.effects import Message
from lotor.protocols.linucb_ds.messages import ArmCatalogue

WIRE = "linucb-ds/2/"


class CompKey(Message, frozen=True, tag=WIRE + "comp-key"):
    """Comp to P to the owner: the key that theta is encrypted under, signed for the owner.

    P must not be able to put a key of its own in its place.
    """

    public: bytes
    signature: bytes


class Model(ArmCatalogue, frozen=True, tag=WIRE + "model"):
    """Step 1, owner to P: the arms, and theta* under Comp's key."""

    theta: list[bytes]


class LinUCBShape(Message, frozen=True, tag=WIRE + "shape"):
    """P to Comp: how many scores each round has."""

    k: int


class PackedScores(Message, frozen=True, tag=WIRE + "packed-scores"):
    """Step 3, P to Comp: all B_i*, permuted, several to a ciphertext."""

    t: bytes
    packed: bytes


class Winner(Message, frozen=True, tag=WIRE + "winner"):
    """Step 4, Comp to P: the position of the first maximum, in a fixed width."""

    t: bytes
    position: bytes


class MaskedSum(Message, frozen=True, tag=WIRE + "masked-sum"):
    """Step 5, P to Comp: E_Comp(s + rand)."""

    masked: bytes


class SwitchedSum(Message, frozen=True, tag=WIRE + "switched-sum"):
    """Step 6, Comp to P: E_DC(s + rand)."""

    switched: bytes


class LinUCBTotal(Message, frozen=True, tag=WIRE + "total"):
    """Step 7, P to the customer: E_DC(s), and the public numbers that give s its unit."""

    total: bytes
    longest: float
    k: int
    d: int
