"""Messages of two servers, their dealer, and the parties that bring inputs or read results.

`place` says to which step, attempt, circuit and round a message belongs, in a fixed width; `digest`
says to which run and terms. Shares are elements of Z/2^64, smaller words or bits, little-endian,
and as long as the terms say.
"""

from lotor.core.effects import Message

WIRE = "two-server/1/"
"""A protocol that uses these messages must raise its own wire version when this one rises."""


class SharingMessage(Message, frozen=True):
    """Its repr does not show what it carries, which may be a key or shares."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"


class Agreed(SharingMessage, frozen=True, tag=WIRE + "agreed"):
    """A party to a server: the terms that it keeps."""

    digest: bytes


class SentKey(SharingMessage, frozen=True):
    """A key for this run, from a party that keeps these terms."""

    digest: bytes
    key: bytes


class PadKey(SentKey, frozen=True, tag=WIRE + "pad-key"):
    """Dealer to a server: the key of that server's pads."""


class BlindKey(SentKey, frozen=True, tag=WIRE + "blind-key"):
    """First server to the second: the key of the mask that both put on results before they leave.

    The mask cancels out where both shares meet. Without it the dealer, who knows all other masks,
    could learn more from a result's shares than the party that reads the result.
    """


class InputKey(SentKey, frozen=True, tag=WIRE + "input-key"):
    """A party that brings inputs, to the first server, whose shares are functions of this key."""


class PlacedMessage(SharingMessage, frozen=True):
    """A message that belongs to one place of a run."""

    place: bytes


class PlacedShares(PlacedMessage, frozen=True):
    """Shares that belong to one place of a run."""

    shares: bytes


class More(PlacedMessage, frozen=True, tag=WIRE + "more"):
    """Second server to the dealer: deal the batch that begins with this message."""


class Corrections(PlacedShares, frozen=True, tag=WIRE + "corrections"):
    """Dealer to the second server: its shares of all that is dealt up to the next checkpoint."""


class Opened(PlacedShares, frozen=True, tag=WIRE + "opened"):
    """One round of a circuit: a server to the other, its shares of what both open."""
