"""The messages of live rewards, beside those of the paper's form that stay the same.

`t` is the round in a fixed width. Rewards are Paillier ciphertexts under Comp's key.
"""

from lotor.core.effects import Message
from lotor.protocols.linucb_ds.messages import ArmCatalogue

WIRE = "linucb-ds-live/1/"


class LiveCatalogue(ArmCatalogue, frozen=True, tag=WIRE + "catalogue"):
    """Step 1, owner to P: the arms. There is no theta."""


class ChosenArm(Message, frozen=True, tag=WIRE + "chosen"):
    """P to the owner: the arm to pull, in a fixed width."""

    t: bytes
    arm: bytes


class EncryptedReward(Message, frozen=True, tag=WIRE + "reward"):
    """Owner to P: E_Comp(e), the reward less the middle of its range, in fixed point."""

    t: bytes
    reward: bytes


class LiveTotal(Message, frozen=True, tag=WIRE + "total"):
    """Step 7, P to the customer: E_DC(the sum of all e)."""

    total: bytes
