"""SAMBA's messages, in the order of the paper's steps (Figure 5).

`place` is (t, l) in a fixed width. `sealed` holds one AES-GCM ciphertext for each arm, all of one
width, in the order of the arms or of their permutation. Setup messages carry public data, and keys
that are sealed (HPKE) to one recipient and signed by their maker.
"""

from lotor.core.effects import Message

WIRE = "samba/1/"


class SambaOrder(Message, frozen=True, tag=WIRE + "order"):
    """Step 0, customer to Controller: the terms, signed for each owner and for Comp.

    Their bytes travel, since a signature is on bytes.
    """

    terms: bytes
    signatures: dict[str, bytes]


class SambaSetup(Message, frozen=True, tag=WIRE + "setup"):
    """Step 1, Controller to Comp and to each owner."""

    terms: bytes
    signature: bytes


class SambaOffer(Message, frozen=True, tag=WIRE + "offer"):
    """Owner to Controller: a public key that keys can be sealed to, signed for both sealers."""

    public: bytes
    for_comp: bytes
    for_first_owner: bytes


class SignedOffer(Message, frozen=True, tag=WIRE + "signed-offer"):
    """One owner's public key with its signature for the party that will seal to it."""

    owner: str
    public: bytes
    signature: bytes


class Offers(Message, frozen=True, tag=WIRE + "offers"):
    """Controller to Comp, and to the first owner: whom to seal keys to."""

    offers: list[SignedOffer]


class SambaSealedKey(Message, frozen=True, tag=WIRE + "sealed-key"):
    """A key sealed to one owner and signed by its maker."""

    owner: str
    sealed: bytes
    signature: bytes


class SealedKeys(Message, frozen=True, tag=WIRE + "sealed-keys"):
    """Comp, or the first owner, to Controller: a sealed key for each owner asked about."""

    keys: list[SambaSealedKey]


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
