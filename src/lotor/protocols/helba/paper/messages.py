"""HELBA's messages, with the lines of Algorithm 4 that they carry out.

`place` is the round that a message belongs to, in a fixed width, 0 before the first. Ciphertexts
have one length for a given run up to what SEAL's compression saves on random numbers, which tells
nothing. Long values travel as several `UploadPart`s: see wire.py.
"""

from lotor.core.effects import Message

WIRE = "helba/2/"


class OpaqueMessage(Message, frozen=True):
    """Carries keys or ciphertexts, and shows neither."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"


class UploadPart(OpaqueMessage, frozen=True):
    """Part number `index`, from 0, of a value that travels in several messages."""

    place: bytes
    index: int
    data: bytes

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.index}>"


class Taken(Message, frozen=True, tag=WIRE + "taken"):
    """The first `count` parts are on the receiver's disk: the sender may go on."""

    place: bytes
    count: int


class SealingKeyOffer(Message, frozen=True, tag=WIRE + "offer"):
    """User to server, which passes it on: the authority may seal the secret key to this key.

    It is signed for the authority together with the digest of the terms.
    """

    digest: bytes
    public: bytes
    signature: bytes


class ServerKeys(Message, frozen=True, tag=WIRE + "server-keys"):
    """Authority to server: how many bytes of each key follow as parts."""

    digest: bytes
    fingerprint: str
    public: int
    evaluation: int


class KeyPart(UploadPart, frozen=True, tag=WIRE + "key-part"):
    """The key that encrypts, then those that compute on ciphertexts; none of them decrypts."""


class SealedSecretKey(OpaqueMessage, frozen=True, tag=WIRE + "sealed-key"):
    """Authority to server, which passes it on: the length and signature of the sealed key."""

    size: int
    signature: bytes


class SealedKeyPart(UploadPart, frozen=True, tag=WIRE + "sealed-key-part"):
    """The secret key, sealed to the user."""


class CoveredSign(OpaqueMessage, frozen=True, tag=WIRE + "doubt"):
    """Line 15, server to user: the sign of condition (8) times a coin, encrypted and with noise."""

    place: bytes
    ciphertext: bytes


class SignBit(Message, frozen=True, tag=WIRE + "bit"):
    """User to server: whether the covered sign is above 0."""

    place: bytes
    above: bool


class BatchDecision(Message, frozen=True, tag=WIRE + "verdict"):
    """Server to user: whether a new batch starts with this round."""

    place: bytes
    new: bool


class MaskedEntry(UploadPart, frozen=True, tag=WIRE + "masked"):
    """Server to user: one ciphertext of a new estimate, under a mask."""


class RefreshedEntry(UploadPart, frozen=True, tag=WIRE + "refreshed"):
    """User to server: the same, encrypted again with new levels."""


class Contexts(UploadPart, frozen=True, tag=WIRE + "contexts"):
    """Line 5, user to server: one ciphertext of a round's contexts, as differences of pairs."""


class EncryptedChoice(OpaqueMessage, frozen=True, tag=WIRE + "choice"):
    """Line 10, server to user: the arm of the largest index, encrypted and with noise."""

    place: bytes
    ciphertext: bytes


class Update(UploadPart, frozen=True, tag=WIRE + "update"):
    """Line 12, user to server: one ciphertext of x x^T and r x of the arm that was pulled."""
