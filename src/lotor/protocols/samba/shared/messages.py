"""What the shared form exchanges after terms and keys, in the order of its steps.

`place` is (t, l), in a fixed width; all else has a width that is fixed for a run. The messages of
steps 4, 5, 6 and 8 are in garbled/messages.py; docs/security/shared-argmax.md numbers the steps.
"""

from lotor.core.effects import Exclusion
from lotor.protocols.garbled.messages import GarbledMessage
from lotor.protocols.samba.messages import SambaSealedKey

WIRE = "samba-shared/3/"


class SharedTieKey(GarbledMessage, frozen=True, tag=WIRE + "tie-key"):
    """Step 3, Controller to Comp: what decides ties."""

    key: bytes


class CoveredScores(GarbledMessage, frozen=True, tag=WIRE + "covered-scores"):
    """Step 7, owner to Controller: a_i = v_i xor b_i for each of its arms."""

    place: bytes
    scores: bytes


class ResultBits(GarbledMessage, frozen=True, tag=WIRE + "result-bits"):
    """Step 9, Comp to Controller: colour and tag of each arm's result, under its owner's pad."""

    place: bytes
    bits: bytes


class ResultShares(GarbledMessage, frozen=True, tag=WIRE + "result-shares"):
    """Step 10, Controller to owner: its own colour and both tags of each arm, and Comp's bits."""

    place: bytes
    controller: bytes
    comp: bytes


class FinalBits(GarbledMessage, frozen=True, tag=WIRE + "final-bits"):
    """Step 9 of the final turn, Comp to the customer through Controller: colour and tag of each
    arm's result, sealed to the customer."""

    sealed: SambaSealedKey


class FinalCodes(GarbledMessage, frozen=True, tag=WIRE + "final-codes"):
    """Step 10 of the final turn, Controller to customer: its colour and both tags of each arm."""

    place: bytes
    codes: bytes


class SealedCounts(GarbledMessage, frozen=True, tag=WIRE + "sealed-counts"):
    """Step 11, owner to the customer through Controller: how many outcomes each of its arms has."""

    sealed: SambaSealedKey


class SumShare(GarbledMessage, frozen=True, tag=WIRE + "sum-share"):
    """Step 11, owner to Controller: Controller's share of the owner's sum, pulls and tag."""

    share: bytes


class Escrow(GarbledMessage, frozen=True, tag=WIRE + "escrow"):
    """Before step 7 of a round's first iteration, owner to Controller, where owners may be lost:
    Controller's share of what the owner has counted before this round."""

    place: bytes
    share: bytes


class OwnersLeft(GarbledMessage, frozen=True, tag=WIRE + "owners-left"):
    """Controller to all others, in the place of what they wait for: round t begins anew without
    these owners, as all others have agreed.

    `escrows` says by the era and the round of which Escrow each of them counts in the total, if it
    has sent any.
    """

    t: int
    exclusion: Exclusion
    escrows: dict[str, tuple[int, int]]


class SumsWanted(GarbledMessage, frozen=True, tag=WIRE + "sums-wanted"):
    """Before step 12, Controller to Comp, where owners may be lost: it has all sums that will come,
    and nobody can leave any more."""


class CompSum(GarbledMessage, frozen=True, tag=WIRE + "comp-sum"):
    """Step 12, Comp to Controller: its shares, added up and sealed to the customer."""

    sealed: SambaSealedKey


class SharedTotal(GarbledMessage, frozen=True, tag=WIRE + "total"):
    """Step 13, Controller to customer: its own shares added up, and what Comp sealed."""

    controller: bytes
    comp: SambaSealedKey
