"""What the paper's form exchanges after the set-up, in the order of its steps (Figure 5).

`place` is (t, l) in a fixed width. `sealed` holds one AES-GCM ciphertext for each arm, all of one
width, in the order of the arms or of their permutation.
"""

from lotor.core.effects import Message
from lotor.protocols.samba.messages import WIRE


class MaskedScores(Message, frozen=True, tag=WIRE + "masked-scores"):
    """Step 2, owner to Controller: Enc(masked v_i) for each of its arms."""

    place: bytes
    sealed: bytes


class PermutedScores(Message, frozen=True, tag=WIRE + "permuted-scores"):
    """Step 3, Controller to Comp: the ciphertexts of all arms, permuted."""

    place: bytes
    sealed: bytes


class PermutedBits(Message, frozen=True, tag=WIRE + "permuted-bits"):
    """Step 4, Comp to Controller: Enc(b) for each permuted arm."""

    place: bytes
    sealed: bytes


class PullingBits(Message, frozen=True, tag=WIRE + "pulling-bits"):
    """Step 5, Controller to owner: Enc(b_i) for each of its arms."""

    place: bytes
    sealed: bytes


class WinningPosition(Message, frozen=True, tag=WIRE + "winning-position"):
    """Step 4 of the position form, Comp to Controller: Enc(the selected position)."""

    place: bytes
    sealed: bytes


class Positions(Message, frozen=True, tag=WIRE + "positions"):
    """Step 5 of the position form, Controller to owner: its arms' positions, and step 4's bytes."""

    place: bytes
    positions: bytes
    sealed: bytes


class PartialSums(Message, frozen=True, tag=WIRE + "partial-sums"):
    """Step 6, owner to Controller: E(n_i·2^64 + s_i) for each of its arms."""

    sums: list[bytes]


class SambaTotal(Message, frozen=True, tag=WIRE + "total"):
    """Step 7, Controller to customer: the encrypted sum of them all."""

    total: bytes
