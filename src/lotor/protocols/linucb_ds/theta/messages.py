"""How theta's shares are handed out; the order and the terms are in linucb_ds/messages.py."""

from lotor.core.effects import Message
from lotor.protocols.linucb_ds.messages import WIRE, ArmCatalogue


class HolderKey(Message, frozen=True, tag=WIRE + "holder-key"):
    """A holder to P to the owner: the key that its share key is sealed to, signed for the owner.

    P must not be able to put a key of its own in its place.
    """

    holder: str
    public: bytes
    signature: bytes


class ShareKey(Message, frozen=True, tag=WIRE + "share-key"):
    """Owner to P to a holder: the key of the other share of theta, sealed to the holder.

    K and d are bound to it.
    """

    holder: str
    k: int
    d: int
    sealed: bytes
    signature: bytes


class ModelShare(ArmCatalogue, frozen=True, tag=WIRE + "model-share"):
    """Step 1, owner to P: the arms, P's shares of theta, and keys for the holders of the other."""

    theta: bytes
    total: bytes
    keys: list[ShareKey]

    def __repr__(self) -> str:
        return f"<ModelShare of {self.k} arms in {self.d} dimensions>"
