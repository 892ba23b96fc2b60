"""What the shared form exchanges after terms and keys, in the order of its steps.

`place` is (t, l), or the number of a batch, in a fixed width; all else has a width that is fixed
for a run. docs/security/shared-argmax.md numbers the steps.
"""

from lotor.core.effects import Message
from lotor.protocols.samba.messages import SambaSealedKey

WIRE = "samba-shared/1/"


class SharedFormMessage(Message, frozen=True):
    """Its repr does not show what it carries: labels, shares or keys."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"


class AgreedKeys(SharedFormMessage, frozen=True, tag=WIRE + "agreed-keys"):
    """Step 3, Controller to Comp: what decides ties, and the public key of the labels' hash."""

    tie_key: bytes
    hash_key: bytes


class BaseOffer(SharedFormMessage, frozen=True, tag=WIRE + "base-offer"):
    """Step 4, Comp to Controller: the base oblivious transfers begin."""

    offer: bytes


class BaseAnswer(SharedFormMessage, frozen=True, tag=WIRE + "base-answer"):
    """Step 4, Controller to Comp: its choices, which are the bits of delta, under cover."""

    answer: bytes


class Columns(SharedFormMessage, frozen=True, tag=WIRE + "columns"):
    """Step 5, Comp to Controller, ahead: its shares of scores, as choices in transfers."""

    place: bytes
    columns: bytes


class GarbledTables(SharedFormMessage, frozen=True, tag=WIRE + "tables"):
    """Step 6, Controller to Comp, ahead: a part of a batch of garbled circuits."""

    place: bytes
    tables: bytes


class CoveredScores(SharedFormMessage, frozen=True, tag=WIRE + "covered-scores"):
    """Step 7, owner to Controller: a_i = v_i xor b_i for each of its arms."""

    place: bytes
    scores: bytes


class InputLabels(SharedFormMessage, frozen=True, tag=WIRE + "input-labels"):
    """Step 8, Controller to Comp: the labels of the bits of all a_i."""

    place: bytes
    labels: bytes


class ResultBits(SharedFormMessage, frozen=True, tag=WIRE + "result-bits"):
    """Step 9, Comp to Controller: colour and tag of each arm's result, under its owner's pad."""

    place: bytes
    bits: bytes


class ResultShares(SharedFormMessage, frozen=True, tag=WIRE + "result-shares"):
    """Step 10, Controller to owner: its own colour and both tags of each arm, and Comp's bits."""

    place: bytes
    controller: bytes
    comp: bytes


class SumShare(SharedFormMessage, frozen=True, tag=WIRE + "sum-share"):
    """Step 11, owner to Controller: Controller's share of the owner's sum, pulls and tag."""

    share: bytes


class CompSum(SharedFormMessage, frozen=True, tag=WIRE + "comp-sum"):
    """Step 12, Comp to Controller: its shares, added up and sealed to the customer."""

    sealed: SambaSealedKey


class SharedTotal(SharedFormMessage, frozen=True, tag=WIRE + "total"):
    """Step 13, Controller to customer: its own shares added up, and what Comp sealed."""

    controller: bytes
    comp: SambaSealedKey
