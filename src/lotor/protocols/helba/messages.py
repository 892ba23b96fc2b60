"""HELBA's messages, with the lines of Algorithm 4 that they carry out.

`place` is the round that a message belongs to, in a fixed width, 0 before the first. Ciphertexts
have one length for a given run up to what SEAL's compression saves on random numbers, which tells
nothing. What is long travels as several `Part`s: see uploads.py.
"""

from lotor.core.effects import Message

WIRE = "helba/2/"


class Covered(Message, frozen=True):
    """Carries keys or ciphertexts, and shows neither."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"


class Part(Covered, frozen=True):
    """Number `index`, from 0, of what travels in several messages."""

    place: bytes
    index: int
    data: bytes

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.index}>"


class Taken(Message, frozen=True, tag=WIRE + "taken"):
    """The first `count` parts are on the receiver's disk: the sender may go on."""

    place: bytes
    count: int


class Offer(Message, frozen=True, tag=WIRE + "offer"):
    """User to server, passed on to the authority: to which key the secret key may be sealed.

    It is signed for the authority together with the digest of the terms.
    """

    digest: bytes
    public: bytes
    signature: bytes


class ServerKeys(Message, frozen=True, tag=WIRE + "server-keys"):
    """Authority to server: how many bytes of which keys follow as parts."""

    digest: bytes
    fingerprint: str
    public: int
    evaluation: int


class KeyPart(Part, frozen=True, tag=WIRE + "key-part"):
    """What encrypts, then what computes on ciphertexts; neither reads them."""


class SealedKey(Covered, frozen=True, tag=WIRE + "sealed-key"):
    """Authority to server, passed on to the user: how long the sealed key is, and its signature."""

    size: int
    signature: bytes


class SealedKeyPart(Part, frozen=True, tag=WIRE + "sealed-key-part"):
    """The secret key, sealed to the user."""


class Doubt(Covered, frozen=True, tag=WIRE + "doubt"):
    """Line 15, server to user: the sign of condition (8) times a coin, encrypted and with noise."""

    place: bytes
    ciphertext: bytes


class Bit(Message, frozen=True, tag=WIRE + "bit"):
    """User to server: whether the doubt is above 0."""

    place: bytes
    above: bool


class Verdict(Message, frozen=True, tag=WIRE + "verdict"):
    """Server to user: whether a new batch starts with this round."""

    place: bytes
    new: bool


class Masked(Part, frozen=True, tag=WIRE + "masked"):
    """Server to user: one ciphertext of a new estimate, under a mask."""


class Refreshed(Part, frozen=True, tag=WIRE + "refreshed"):
    """User to server: the same, encrypted again with new levels."""


class Contexts(Part, frozen=True, tag=WIRE + "contexts"):
    """Line 5, user to server: one ciphertext of a round's contexts, as differences of pairs."""


class Choice(Covered, frozen=True, tag=WIRE + "choice"):
    """Line 10, server to user: which arm has the largest index, encrypted and with noise."""

    place: bytes
    ciphertext: bytes


class Update(Part, frozen=True, tag=WIRE + "update"):
    """Line 12, user to server: one ciphertext of x x^T and r x of the arm that was pulled."""
